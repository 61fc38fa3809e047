import Folding
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

  @Test(arguments: [
    ("José", "jose"), ("jose\u{301}", "jose"), ("Straße", "strasse"), ("\u{FF21}da", "ada"),
    ("", ""),
    ("\u{301}", ""), ("Ada  Łukasz", "ada  lukasz"), ("ПРИВЕТ", "привет"), ("Ǆ", "dz"),
  ])
  func `a text is folded letter by letter, as UTF-8`(text: String, folded: String) {
    #expect(String(decoding: TextFolding.utf8(text), as: UTF8.self) == folded)
  }

  @Test func `the longest decomposition is whole`() {
    #expect(TextFolding.folded("\u{FDFA}").count == 18)
  }
}
