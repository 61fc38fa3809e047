import Testing

@testable import Directories

@Suite struct `Names of a directory` {
  @Test(arguments: [
    ("Ada-Lovelace", "ada-lovelace"), ("x[bot]", "x.bot"), ("Dependabot[bot]", "dependabot.bot"),
    ("a_b.c", "a_b.c"), ("", nil), ("zoë", nil), ("a b", nil), ("[bot]", ".bot"), ("a[b]", nil),
    (String(repeating: "a", count: 64), String(repeating: "a", count: 64)),
    (String(repeating: "a", count: 65), nil), ("İ", nil), ("a\n", nil),
    (".", nil), ("..", nil),
  ])
  func `are lower-cased, and invalid ones are left out`(login: String, user: String?) {
    #expect(Listing.user(login) == user)
  }

  @Test func `are shown in one line, without control characters`() {
    #expect(Listing.shown(" Ada\n\u{202E}Love\u{1B}[2Jlace ") == "Ada Love[2Jlace")
    #expect(Listing.shown("\u{200E}\n") == nil)
    #expect(Listing.shown(String(repeating: "é", count: 300))?.utf8.count == 200)
  }

  @Test func `have pictures that a browser may fetch, or none`() {
    #expect(Listing.picture("https://a.example/p.png") != nil)
    #expect(Listing.picture("javascript:alert(1)") == nil)
    #expect(Listing.picture("https://a.example/\(String(repeating: "a", count: 2048))") == nil)
  }
}
