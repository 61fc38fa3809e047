/// Writes texts of clients and of the system into log lines: on one line, of limited length, and without
/// characters that would make a terminal show something else.
enum LogText {
  enum Escaping {
    /// For a message.
    case plain
    /// For a value between quotation marks.
    case quoted
    /// For a string of JSON (RFC 8259 §7).
    case json
  }

  /// Appends a text with its escapes, cut to `LogLine.textBytesLimit`.
  static func append(_ text: String, as escaping: Escaping, to bytes: inout [UInt8]) {
    let mark = "…".utf8
    let end = bytes.count + LogLine.textBytesLimit - mark.count
    for scalar in text.unicodeScalars {
      let start = bytes.count
      append(scalar, as: escaping, to: &bytes)
      if bytes.count > end {
        bytes.removeLast(bytes.count - start)
        bytes += mark
        return
      }
    }
  }

  /// Appends the value of a field: as it is if it is one word, otherwise in quotation marks.
  static func appendValue(_ text: String, to bytes: inout [UInt8]) {
    let isWord =
      !text.isEmpty
      && text.unicodeScalars.allSatisfy { scalar in
        switch scalar {
        case "\"", "=", "\\": false
        default: !isHidden(scalar) && !scalar.properties.isWhitespace
        }
      }
    if isWord { return append(text, as: .plain, to: &bytes) }
    bytes.append(UInt8(ascii: "\""))
    append(text, as: .quoted, to: &bytes)
    bytes.append(UInt8(ascii: "\""))
  }

  private static func append(
    _ scalar: Unicode.Scalar, as escaping: Escaping, to bytes: inout [UInt8]
  ) {
    switch scalar {
    case "\\": bytes += "\\\\".utf8
    case "\"" where escaping != .plain: bytes += "\\\"".utf8
    case "\n": bytes += "\\n".utf8
    case "\r": bytes += "\\r".utf8
    case "\t": bytes += "\\t".utf8
    case _ where !isHidden(scalar): bytes += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
    case _ where escaping != .json: bytes += "\\u{\(String(scalar.value, radix: 16))}".utf8
    default:
      for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter {
        let digits = String(unit, radix: 16)
        bytes += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8
      }
    }
  }

  /// Whether a character ends a line, moves a terminal's cursor, changes the direction of text, or is not
  /// seen.
  private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F }
    return switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}
