import Client
import Terminal

/// Text of others as it may be shown: harmless, and measured in columns.
///
/// Text from right to left is laid out as it is, cell by cell: terminals differ in what they make of
/// it, and embeddings or isolates of ours would only add to that. Those of others are left out, so
/// that what is odd stays within its own cells.
enum ShownText {
  /// A name or another text of one line.
  static func line(_ text: String) -> String {
    isPlain(text) ? text : withoutPiles(TerminalText.line(text))
  }

  /// A text that may have several lines, each ended by `\n`.
  static func lines(_ text: String) -> String {
    isPlain(text) ? text : withoutPiles(TerminalText.lines(text))
  }

  /// As much of a text of one line as fits, with `…` where something is missing.
  static func fit(_ text: String, columns: Int) -> String {
    TextWidth.prefix(of: text, columns: columns, ellipsis: true)
  }

  /// The letters that stand for somebody: of the first word and of the last.
  static func initials(of name: String) -> String {
    let words = line(name).split { !$0.isLetter && !$0.isNumber }
    guard let first = words.first?.first else { return "?" }
    guard words.count > 1, let second = words.last?.first else { return first.uppercased() }
    let both = first.uppercased() + second.uppercased()
    // There are two columns: one wide letter fills them.
    return TextWidth.columns(of: both) > 2 ? first.uppercased() : both
  }

  /// Where a word that is searched for stands, capitals or not.
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

  /// ASCII without control characters, which is most of it, and needs no care.
  private static func isPlain(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
  }

  /// At most eight marks on one letter: piles of them reach into other lines, and cost time.
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
