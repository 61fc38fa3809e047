import Platform
import SQLiteLog
import Synchronization

/// When a thread last made progress. The thread records it, and any other thread may ask.
final class Heartbeat: Sendable {
  private let last = Atomic<UInt64>(Instant.now().nanoseconds)

  func beat(at now: Instant) { last.store(now.nanoseconds, ordering: .relaxed) }

  /// Nanoseconds since then.
  var age: UInt64 {
    Instant.now().nanoseconds(since: Instant(nanoseconds: last.load(ordering: .relaxed)))
  }
}

/// A thread of a server that has made no progress for a while.
struct StalledThread: Equatable, Sendable {
  /// As top and gdb show it.
  var name: String
  var nanoseconds: UInt64
}

extension Server {
  /// Returns the threads that have not made progress for this long, of those that clients wait for:
  /// the loops, and the one that writes the store. That of PostgreSQL is not one of them: it waits for
  /// a server that another machine may be restarting, with a timeout for each call. Thread-safe.
  func stalledThreads(afterMilliseconds limit: Int) -> [StalledThread] {
    var threads = heartbeats.enumerated().map {
      StalledThread(name: "loop-\($0.offset)", nanoseconds: $0.element.age)
    }
    if let log = log as? SQLiteLog {
      threads.append(StalledThread(name: "log-write", nanoseconds: log.writingNanoseconds))
    }
    return threads.filter { $0.nanoseconds > UInt64(limit) * 1_000_000 }
  }
}
