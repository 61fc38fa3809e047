import Logging

/// One line of the operator's log: one event, whatever its texts contain.
struct LogLine {
  enum Value: Equatable {
    case text(String)
    case number(Int64)
  }

  /// How lines are written.
  enum Format: Equatable {
    /// `2026-11-27T20:21:21.123+01:00 info A user signed in. user=ada`
    case text
    /// Without time and level, which the journal has: `<6>A user signed in. user=ada`
    case journal
    /// One JSON object.
    case json
    /// One JSON object, after a priority.
    case jsonInJournal
  }

  /// The most bytes of a message or a value; what is longer is cut.
  static let textBytesLimit = 1024
  /// The most fields of a line.
  static let fieldsLimit = 20

  var time: LogTime
  var level: Logger.Level
  var message: String
  /// In the order of the line.
  var fields: [(name: String, value: Value)]

  /// Returns the line, with its line break.
  func bytes(_ format: Format) -> [UInt8] {
    var bytes: [UInt8] = []
    switch format {
    case .text: bytes += "\(time) \(level) ".utf8
    case .journal, .jsonInJournal: bytes += "<\(level.journalPriority)>".utf8
    case .json: break
    }
    switch format {
    case .text, .journal: appendText(to: &bytes)
    case .json, .jsonInJournal: appendJSON(to: &bytes)
    }
    bytes.append(UInt8(ascii: "\n"))
    return bytes
  }

  private func appendText(to bytes: inout [UInt8]) {
    LogText.append(message, as: .plain, to: &bytes)
    for (name, value) in fields.prefix(Self.fieldsLimit) {
      bytes += " \(name)=".utf8
      switch value {
      case .number(let number): bytes += "\(number)".utf8
      case .text(let text): LogText.appendValue(text, to: &bytes)
      }
    }
  }

  private func appendJSON(to bytes: inout [UInt8]) {
    bytes += "{\"time\":\"\(time)\",\"level\":\"\(level)\",\"message\":\"".utf8
    LogText.append(message, as: .json, to: &bytes)
    bytes.append(UInt8(ascii: "\""))
    for (name, value) in fields.prefix(Self.fieldsLimit) {
      // A second member of that name would hide the first one.
      let isTaken = ["time", "level", "message"].contains(name)
      bytes += ",\"\(name)\(isTaken ? "_" : "")\":".utf8
      switch value {
      case .number(let number): bytes += "\(number)".utf8
      case .text(let text):
        bytes.append(UInt8(ascii: "\""))
        LogText.append(text, as: .json, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
      }
    }
    bytes.append(UInt8(ascii: "}"))
  }
}

extension Logger.Level {
  /// The priority of syslog(3), by which the journal filters.
  fileprivate var journalPriority: Int {
    switch self {
    case .trace, .debug: 7
    case .info: 6
    case .notice: 5
    case .warning: 4
    case .error: 3
    case .critical: 2
    }
  }
}
