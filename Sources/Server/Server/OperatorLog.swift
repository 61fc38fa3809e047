import Glibc
public import Logging
import Platform
public import RelayConfiguration
import Synchronization

/// Writes log lines to standard error: `12:34:56 warning: text`. The level can be changed at
/// runtime for all loggers at once.
public struct OperatorLog: LogHandler {
  private static let level = Mutex(Logger.Level.info)

  /// The level of every `OperatorLog`.
  public static func setLevel(_ newLevel: Configuration.LogLevel) {
    level.withLock { $0 = Logger.Level(rawValue: newLevel.rawValue) ?? .info }
  }

  /// Returns a logger that writes here.
  public static func logger() -> Logger {
    Logger(label: "relay", factory: { _ in OperatorLog() })
  }

  public var metadata: Logger.Metadata = [:]

  public var logLevel: Logger.Level {
    get { Self.level.withLock { $0 } }
    set { Self.level.withLock { $0 = newValue } }
  }

  public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  public func log(event: LogEvent) {
    var time = time(nil)
    var parts = unsafe tm()
    unsafe localtime_r(&time, &parts)
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let clock = unsafe "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
    var line = "\(clock) \(event.level): \(event.message)"
    for (key, value) in (event.metadata ?? [:]).merging(metadata, uniquingKeysWith: { a, _ in a })
      .sorted(by: { $0.key < $1.key })
    {
      line += " \(key)=\(value)"
    }
    StandardError.write(line + "\n")
  }
}
