import Terminal
import Testing

@Suite struct `Text as a search compares it` {
  @Test(
    arguments: [
      ("É", "e"), ("é", "e"), ("e\u{301}", "e"), ("ß", "ss"), ("Ø", "o"), ("Æ", "ae"), ("ł", "l"),
      ("Ế", "e"), ("Й", "и"), ("Σ", "σ"), ("ς", "σ"), ("Ａ", "a"), ("ﬁ", "fi"), ("日", "日"),
      ("7", "7"), ("\u{301}", ""), ("🎉", "🎉"), ("\r\n", "\r\n"),
    ] as [(Character, String)])
  func `letters lose case and marks`(character: Character, folded: String) {
    #expect(TextFolding.folded(character) == folded.unicodeScalars.map(\.value))
  }

  @Test func `the longest decomposition is whole`() {
    #expect(TextFolding.folded("\u{FDFA}").count == 18)
  }
}
