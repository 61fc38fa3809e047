import Platform
import Relay

/// The thread that applies retention to a log in memory, which has none of its own.
final class MemoryRetention: Sendable {
  private let queue = WorkQueue<Void>()
  private let thread: WorkerThread

  init(_ log: MemoryLog) throws(SystemError) {
    thread = try WorkerThread(name: "retention") { [queue] in
      while queue.takeAll(timeoutMilliseconds: RetentionPass.intervalMilliseconds) != nil {
        log.retain(monotonic: Int64(Instant.now().nanoseconds / 1_000_000))
      }
    }
  }

  func stop() {
    queue.close()
    thread.join()
  }
}
