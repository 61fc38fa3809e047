import Testing

@testable import Messenger

@Suite struct `Links in a text` {
  @Test(arguments: [
    ("see https://example.org/a?b=c#d.", ["https://example.org/a?b=c#d"]),
    ("http://a.b, HTTPS://C.D!", ["http://a.b", "HTTPS://C.D"]),
    (
      "(https://en.wikipedia.org/wiki/Set_(mathematics))",
      ["https://en.wikipedia.org/wiki/Set_(mathematics)"]
    ),
    ("<https://a.b/>", ["https://a.b/"]), ("\"https://a.b\"", ["https://a.b"]),
    ("https://a.b/x).", ["https://a.b/x"]), ("https://a.b/[x]", ["https://a.b/[x]"]),
    ("見てhttps://例え.jp/道。", ["https://例え.jp/道"]),
    ("https://a.b\u{202E}c", ["https://a.b"]), ("https://a.b\nnext", ["https://a.b"]),
    ("http://[::1]:8080/x", ["http://[::1]:8080/x"]), ("https://a.b/c:d", ["https://a.b/c:d"]),
    ("https://a.b/?u=http://c.d", ["https://a.b/?u=http://c.d"]), ("https://a.b…", ["https://a.b"]),
  ])
  func `are found without the characters around them`(text: String, links: [String]) {
    #expect(Links.find(in: text).map { String(text[$0]) } == links)
  }

  @Test(arguments: [
    "", "no link", "http:/a", "http://", "https://.", "xhttp://a.b", "ftp://a.b", "://a",
    "http:// a",
    "javascript:alert(1)", "https:///etc/passwd",
  ])
  func `are not found where there are none`(text: String) {
    #expect(Links.find(in: text).isEmpty)
  }

  @Test func `cost time in proportion to the length, even if there are many`() {
    let text = String(repeating: "http://a.b/((((", count: 4000)
    #expect(Links.find(in: text).count == 1)
  }
}
