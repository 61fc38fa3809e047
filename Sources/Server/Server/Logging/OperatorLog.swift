import Glibc
public import Logging
import Platform
import Relay
public import RelayConfiguration
import Synchronization

/// Writes the operator's log to standard error, one line for each event; see `LogLine`. Level and format
/// can be changed at runtime for all loggers at once.
public struct OperatorLog: LogHandler {
  private static let level = Mutex(Logger.Level.info)
  /// Its lock also keeps lines apart: a pipe takes long ones in parts.
  private static let format = Mutex(Configuration.LogFormat.text)

  /// Sets the level and the format of every `OperatorLog`.
  public static func configure(_ configuration: Configuration) {
    level.withLock { $0 = Logger.Level(rawValue: configuration.logLevel.rawValue) ?? .info }
    format.withLock { $0 = configuration.logFormat }
  }

  /// Returns a logger that writes here.
  public static func logger() -> Logger {
    Logger(label: "relay", factory: { _ in OperatorLog() })
  }

  /// Writes what programs or people wait for, whatever the level is: as it is, without time and level, unless
  /// each line has to have a form.
  /// - Parameter address: a line of its own.
  public static func announce(_ message: String, _ address: String? = nil) {
    let parts = [message] + [address].compactMap { $0 }
    let isPlain = format.withLock { format in
      let isPlain = format == .text && !isJournal
      if isPlain { StandardError.write(parts.joined(separator: "\n") + "\n") }
      return isPlain
    }
    if !isPlain { write(.notice, parts.joined(separator: " "), []) }
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
    let fields = (event.metadata ?? [:]).merging(metadata, uniquingKeysWith: { a, _ in a })
    Self.write(
      event.level, event.message.description,
      fields.sorted { $0.key < $1.key }.map { ($0.key, LogLine.Value($0.value)) })
  }

  private static func write(
    _ level: Logger.Level, _ message: String, _ fields: [(name: String, value: LogLine.Value)]
  ) {
    let line = LogLine(
      time: LogTime(milliseconds: WallClock.milliseconds), level: level, message: message,
      fields: fields)
    format.withLock { format in StandardError.write(line.bytes(lineFormat(format))) }
  }

  private static func lineFormat(_ format: Configuration.LogFormat) -> LogLine.Format {
    switch format {
    case .text: isJournal ? .journal : .text
    case .json: isJournal ? .jsonInJournal : .json
    }
  }

  /// Whether standard error is the stream that the journal has given to the service; its children inherit the
  /// variable, but may have redirected the stream (systemd.exec(5), `$JOURNAL_STREAM`).
  private static let isJournal: Bool = {
    var status = stat()
    guard let stream = unsafe getenv("JOURNAL_STREAM"),
      unsafe fstat(STDERR_FILENO, &status) == 0
    else { return false }
    return unsafe String(cString: stream) == "\(status.st_dev):\(status.st_ino)"
  }()
}

extension LogLine.Value {
  fileprivate init(_ value: Logger.Metadata.Value) {
    switch value {
    case .stringConvertible(let number as any BinaryInteger):
      self = .number(Int64(clamping: number))
    default: self = .text("\(value)")
    }
  }
}

extension Logger.Metadata {
  /// The fields of an event of a loop.
  init(_ fields: [LogField]) {
    self.init(
      fields.map { field in
        switch field.value {
        case .text(let text): (field.name, .string(text))
        case .number(let number): (field.name, .stringConvertible(number))
        }
      }, uniquingKeysWith: { _, last in last })
  }
}
