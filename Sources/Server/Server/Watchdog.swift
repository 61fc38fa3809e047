public import Platform
import Logging

/// Tells the service manager that a server's threads make progress, and is silent while one of them
/// does not: the service manager then restarts the relay. Confined to one thread.
///
/// A thread is late after a quarter of the time after which the service manager acts. By then the log
/// and the relay's status name it.
public struct Watchdog: ~Copyable {
  private let manager: ServiceManager
  private let server: Server
  /// The time after which the service manager acts.
  private let limitMilliseconds: Int
  /// The status when no thread is late.
  private let status: String
  /// The threads that were reported as late.
  private var late: Set<String> = []

  /// How often `check` has to be called, and how long a thread may take. Loops report progress four
  /// times per second.
  public var intervalMilliseconds: Int { max(limitMilliseconds / 4, 1000) }

  /// - Returns: `nil` if the service manager waits for nothing.
  public init?(_ manager: ServiceManager, of server: Server, status: String) {
    guard let limit = manager.watchdogMilliseconds else { return nil }
    self.manager = manager
    self.server = server
    limitMilliseconds = limit
    self.status = status
  }

  /// Looks at the threads, and tells the service manager, or the log.
  public mutating func check() {
    let stalled = server.stalledThreads(afterMilliseconds: intervalMilliseconds)
    for thread in stalled where late.insert(thread.name).inserted {
      let seconds = thread.nanoseconds / 1_000_000_000
      // The status first: what the thread waits for may be the log.
      manager.tell("STATUS=\(thread.name) has made no progress for \(seconds) s")
      server.logger.critical(
        "A thread makes no progress. Unless it goes on, the service manager restarts the relay soon.",
        metadata: [
          "thread": "\(thread.name)", "seconds": .stringConvertible(seconds),
          "limit_s": .stringConvertible(limitMilliseconds / 1000),
        ])
    }
    guard stalled.isEmpty else { return }
    manager.tell("WATCHDOG=1")
    if late.isEmpty { return }
    server.logger.notice(
      "Threads make progress again.",
      metadata: ["thread": "\(late.sorted().joined(separator: ", "))"])
    manager.tell("STATUS=\(status)")
    late = []
  }
}
