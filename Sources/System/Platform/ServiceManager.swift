internal import CLinux

/// The service manager that has started this process, in systemd's protocols: it is told the state
/// (sd_notify(3)), may expect signs of life (sd_watchdog_enabled(3)), and may pass sockets
/// (sd_listen_fds(3)).
public struct ServiceManager: Sendable {
  /// The descriptors of the sockets that it has passed; the first is 3.
  public let sockets: Range<Int32>
  /// The time without `WATCHDOG=1` after which it ends this process; `nil` = it waits for none.
  public let watchdogMilliseconds: Int?
  /// The path of its socket; `nil` = there is no service manager, or it does not listen.
  private let path: String?

  /// Reads what it says in the environment.
  /// - Parameter process: the number of this process. What is meant for another one, such as the parent,
  ///   does not count.
  public init(environment: [String: String], process: Int32) {
    func number(_ name: String) -> Int? { environment[name].flatMap { Int($0) } }
    let count = number("LISTEN_PID") == Int(process) ? number("LISTEN_FDS") ?? 0 : 0
    sockets = 3..<3 + Int32(clamping: max(0, min(count, Self.socketLimit)))
    let isWatched = number("WATCHDOG_PID").map { $0 == Int(process) } ?? true
    let microseconds = isWatched ? number("WATCHDOG_USEC") ?? 0 : 0
    watchdogMilliseconds = microseconds > 0 ? max(1, microseconds / 1000) : nil
    path = environment["NOTIFY_SOCKET"].flatMap { path in
      path.hasPrefix("/") || path.hasPrefix("@") ? path : nil
    }
  }

  /// More than any service manager passes.
  private static let socketLimit = 4096

  /// Tells it assignments such as `READY=1`, and waits at most 5 s for it to take them. A service manager
  /// that cannot be told is none: nothing else depends on it.
  public func tell(_ assignments: String...) {
    guard let path else { return }
    _ = unsafe clinux_send_unix_datagram(path, assignments.joined(separator: "\n"))
  }
}
