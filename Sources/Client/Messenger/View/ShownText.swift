import Client
import Terminal

/// Text of other users, made safe to display and measured in columns.
///
/// Right-to-left text is written in logical order, cell by cell: terminals handle it differently,
/// and additional embeddings or isolates would only add to the confusion. Those in the text are
/// removed, so that their effects stay within the text's own cells.
enum ShownText {
  /// Returns a name or another single-line text.
  static func line(_ text: String) -> String {
    isPlain(text) ? text : withoutPiles(TerminalText.line(text))
  }

  /// Returns a text that may have several lines, separated by `\n`.
  static func lines(_ text: String) -> String {
    isPlain(text) ? text : withoutPiles(TerminalText.lines(text))
  }

  /// Returns as much of a single-line text as fits, with `…` if it is cut.
  static func fit(_ text: String, columns: Int) -> String {
    TextWidth.prefix(of: text, columns: columns, ellipsis: true)
  }

  /// Returns the initials of a name: of the first word and of the last.
  static func initials(of name: String) -> String {
    let words = line(name).split { !$0.isLetter && !$0.isNumber }
    guard let first = words.first?.first else { return "?" }
    guard words.count > 1, let second = words.last?.first else { return first.uppercased() }
    let both = first.uppercased() + second.uppercased()
    // There are two columns, which one wide letter fills.
    return TextWidth.columns(of: both) > 2 ? first.uppercased() : both
  }

  /// Returns the case-insensitive occurrences of a search text.
  static func occurrences(of query: String, in text: String) -> [Range<String.Index>] {
    let wanted = query.map { $0.lowercased() }
    guard !wanted.isEmpty else { return [] }
    var found: [Range<String.Index>] = []
    var start = text.startIndex
    while start < text.endIndex {
      var index = start
      var matched = 0
      while matched < wanted.count, index < text.endIndex,
        text[index].lowercased() == wanted[matched]
      {
        index = text.index(after: index)
        matched += 1
      }
      if matched == wanted.count {
        found.append(start..<index)
        start = index
      } else {
        start = text.index(after: start)
      }
    }
    return found
  }

  /// Whether it is ASCII without control characters, the common case, which needs no cleaning.
  private static func isPlain(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
  }

  /// Limits combining marks to eight per letter: more of them reach into other lines and cost time.
  private static func withoutPiles(_ text: String) -> String {
    let limit = 8
    var pile = 0
    var isPiled = false
    for scalar in text.unicodeScalars {
      pile = isMark(scalar) ? pile + 1 : 0
      if pile > limit {
        isPiled = true
        break
      }
    }
    guard isPiled else { return text }
    pile = 0
    return String(
      String.UnicodeScalarView(
        text.unicodeScalars.filter { scalar in
          pile = isMark(scalar) ? pile + 1 : 0
          return pile <= limit
        }))
  }

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    guard scalar.value >= 0x300 else { return false }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .spacingMark, .format: return true
    default: return false
    }
  }
}
