/// Makes text of other users safe for a terminal.
///
/// Control characters could move the cursor, change the title or send input as if the user had
/// typed it; direction overrides could make a line read as something else ("Trojan Source",
/// CVE-2021-42574).
public enum TerminalText {
  /// Returns one line: a line break becomes `
  /// `, a tab a space; dangerous characters are removed.
  public static func line(_ text: String) -> String { clean(text, lineBreak: "⏎", tab: " ") }

  /// Returns several lines: every kind of line break becomes `\n`, a tab four spaces; dangerous
  /// characters are removed.
  public static func lines(_ text: String) -> String { clean(text, lineBreak: "\n", tab: "    ") }

  private static func clean(
    _ text: String, lineBreak: Unicode.Scalar, tab: String
  ) -> String {
    if text.unicodeScalars.allSatisfy({ $0 == lineBreak || action(for: $0) == .keep }) {
      return text
    }
    var clean = String.UnicodeScalarView()
    var previous: Unicode.Scalar = " "
    for scalar in text.unicodeScalars {
      switch action(for: scalar) {
      case .keep: clean.append(scalar)
      case .space: clean.append(contentsOf: tab.unicodeScalars)
      // CR LF is one line break.
      case .lineBreak: if !(scalar == "\n" && previous == "\r") { clean.append(lineBreak) }
      case .drop: break
      }
      previous = scalar
    }
    return String(clean)
  }

  /// Escapes dangerous characters in JSON (`\u001b`): the same value, safe to display.
  public static func json(_ json: String) -> String {
    if json.unicodeScalars.allSatisfy({ action(for: $0) == .keep }) { return json }
    var clean = String.UnicodeScalarView()
    for scalar in json.unicodeScalars {
      switch action(for: scalar) {
      case .keep: clean.append(scalar)
      // Outside of strings these are white space, and inside they do not occur (RFC 8259 §7).
      case .space,
        .lineBreak where scalar.value < 0x20:
        clean.append(" ")
      default:
        let digits = String(scalar.value, radix: 16)
        let zeros = String(repeating: "0", count: max(0, 4 - digits.count))
        clean.append(contentsOf: "\\u\(zeros)\(digits)".unicodeScalars)
      }
    }
    return String(clean)
  }

  private enum Action { case keep, space, lineBreak, drop }

  private static func action(for scalar: Unicode.Scalar) -> Action {
    switch scalar.value {
    case 0x09: .space
    // Line feed and carriage return, NEL, and the separators of lines and paragraphs.
    case 0x0A, 0x0D, 0x85, 0x2028, 0x2029: .lineBreak
    case 0..<0x20, 0x7F..<0xA0: .drop
    // Embeddings and overrides, then isolates (UAX #9).
    case 0x202A...0x202E, 0x2066...0x2069: .drop
    default: .keep
    }
  }
}
