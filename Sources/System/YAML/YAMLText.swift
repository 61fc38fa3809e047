/// Writes text as YAML.
public enum YAMLText {
  /// Returns the text unquoted if every reader takes it for a string, and in quotes otherwise.
  public static func written(_ text: String) -> String {
    let isPlain =
      text.utf8.first.map { isLetter($0) || $0 == 46 || $0 == 47 } == true
      && text.utf8.allSatisfy {
        isLetter($0) || (48...57).contains($0) || [45, 46, 47, 95].contains($0)
      }
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
    let isNumber = text.lowercased() == ".inf" || text.lowercased() == ".nan"
    let isDecimal = text.hasPrefix(".") && text.dropFirst().utf8.first.map(isDigit) == true
    return isPlain && !words.contains(text.lowercased()) && !isNumber && !isDecimal
      ? text : quoted(text)
  }

  /// Returns the text in double quotes, with control characters escaped.
  public static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case "\t": quoted += "\\t"
      case _ where !isShown(scalar):
        let digits = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }

  /// Whether a character may be written to a terminal unescaped: not C0, DEL and C1, the line
  /// separators and characters that change the direction of text.
  static func isShown(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{61C}", "\u{200E}", "\u{200F}",
      "\u{2028}"..."\u{202E}", "\u{2066}"..."\u{2069}", "\u{FEFF}":
      false
    default: true
    }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (65...90).contains(byte) || (97...122).contains(byte)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (48...57).contains(byte)
  }
}
