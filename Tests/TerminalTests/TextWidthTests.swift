import Testing

@testable import Terminal

@Suite struct `Widths of text` {
  @Test(arguments: [
    ("a", 1), ("~", 1), ("é", 1), ("e\u{301}", 1), ("ß", 1), ("Ж", 1), ("ש", 1), ("…", 1), ("─", 1),
    ("世", 2), ("あ", 2), ("ｱ", 1), ("Ａ", 2), ("\u{3000}", 2), ("\u{20000}", 2), ("\u{3FFFC}", 2),
    ("한", 2), ("\u{1112}\u{1161}\u{11AB}", 2), ("\u{1112}", 2),
    ("กำ", 2), ("ก", 1), ("क्षि", 2), ("\u{FFFD}", 1), ("\u{E000}", 1),
  ])
  func `letters`(text: String, columns: Int) throws {
    #expect(TextWidth.columns(of: try #require(text.first)) == columns)
    #expect(text.count == 1)
  }

  @Test(arguments: [
    ("👍", 2), ("👍🏽", 2), ("👨‍👩‍👧‍👦", 2), ("🏳️‍🌈", 2), ("🇦🇹", 2), ("🏴󠁧󠁢󠁥󠁮󠁧󠁿", 2), ("1️⃣", 2), ("❤️", 2), ("❤", 1),
    ("❤\u{FE0E}", 1), ("⌚", 2), ("⌚\u{FE0E}", 2), ("☺️", 2), ("👁️‍🗨️", 2), ("🫨", 2),
    // Of Unicode 16, which libutf8proc does not know.
    ("\u{1FAE9}", 2), ("\u{1F1E6}", 1), ("1\u{20E3}", 1), ("a\u{FE0F}", 1),
  ])
  func `emoji, as one or as a text, flags and keycaps`(text: String, columns: Int) throws {
    #expect(TextWidth.columns(of: try #require(text.first)) == columns)
    #expect(text.count == 1)
  }

  @Test(arguments: [
    "\u{0}", "\u{1B}", "\u{7F}", "\u{85}", "\u{9B}", "\n", "\r\n", "\t", "\u{AD}", "\u{200B}",
    "\u{200E}", "\u{202E}", "\u{2028}", "\u{2066}", "\u{FEFF}", "\u{301}", "\u{20E3}", "\u{FE0F}",
    "\u{200D}", "\u{3164}", "\u{115F}", "\u{E0001}", "\u{897}",
  ])
  func `control characters have no width`(text: String) {
    #expect(TextWidth.columns(of: text) == 0)
  }

  @Test func `every scalar has a width of 0, 1 or 2, and control characters have 0`() {
    for value in UInt32(0)...0x10FFFF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let width = TextWidth.columns(of: Character(scalar))
      if !(0...2).contains(width) { Issue.record("U+\(String(value, radix: 16)): \(width)") }
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator, .nonspacingMark, .enclosingMark:
        if width != 0 { Issue.record("U+\(String(value, radix: 16)): \(width)") }
      default: break
      }
    }
  }

  @Test func `a text is as wide as the sum of its clusters`() {
    #expect(TextWidth.columns(of: "") == 0)
    #expect(TextWidth.columns(of: "hello") == 5)
    #expect(TextWidth.columns(of: "a\u{1B}b") == 2)
    #expect(TextWidth.columns(of: "Jürgen 世界 👨‍👩‍👧‍👦!".dropFirst()) == 14)
  }

  @Test(arguments: [
    ("hello", 5, "hello", "hello"), ("hello", 4, "hell", "hel…"), ("hello", 1, "h", "…"),
    ("hello", 0, "", ""), ("hello", -1, "", ""), ("世界人", 4, "世界", "世…"), ("世界人", 5, "世界", "世界…"),
    ("世界", 4, "世界", "世界"), ("a世", 2, "a", "a…"), ("e\u{301}e\u{301}", 1, "e\u{301}", "…"),
    ("", 3, "", ""),
  ])
  func `a text is cut to columns`(text: String, limit: Int, cut: String, withEllipsis: String) {
    #expect(TextWidth.prefix(of: text, columns: limit) == cut)
    #expect(TextWidth.prefix(of: text, columns: limit, ellipsis: true) == withEllipsis)
  }

  @Test func `terminals agree on letters, not on emoji`() {
    for text in ["a", "é", "e\u{301}", "世", "한", "─"] {
      #expect(text.allSatisfy { TextWidth.isCertain($0) }, "\(text)")
    }
    for text in ["👍", "👨‍👩‍👧‍👦", "🇦🇹", "❤️", "❤", "क्षि", "\u{1FAE9}", "\u{1CD00}"] {
      #expect(text.allSatisfy { !TextWidth.isCertain($0) }, "\(text)")
    }
  }
}
