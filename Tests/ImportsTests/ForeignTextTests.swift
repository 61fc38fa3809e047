import Testing

@testable import Imports

@Suite struct `A text of another chat` {
  @Test func `that is short stays whole, without control characters`() {
    #expect(ForeignText.parts(of: "a\u{1b}[2J\r\nb\tc\u{85}") == ["a[2J\nb\tc"])
  }

  @Test(arguments: ["", " \n", "\u{0}\u{7f}", "\u{200b}"])
  func `that shows nothing has no parts`(text: String) {
    #expect(ForeignText.parts(of: text) == [])
  }

  @Test func `that is long is divided after a line, within the limit of an entry`() {
    let line = String(repeating: "é", count: 3000) + "\n"
    let parts = ForeignText.parts(of: line + line + line)
    #expect(parts == [line, line, line])
  }

  @Test func `without gaps it is divided between characters`() {
    let text = "a" + String(repeating: "é", count: 10_000)
    let parts = ForeignText.parts(of: text)
    #expect(parts.joined() == text)
    #expect(parts.allSatisfy { $0.utf8.count <= 8192 && $0.utf8.count > 3600 })
  }

  @Test func `as a title is one line`() {
    #expect(ForeignText.label("a\nb\u{202e}c", limit: 100) == "a b c")
    #expect(ForeignText.label(String(repeating: "x", count: 200), limit: 100)?.count == 100)
    #expect(ForeignText.label("  ", limit: 100) == nil)
  }

  @Test(arguments: [
    ("hi <@U1>", "hi @ada"), ("<@U2>", "@u2"), ("<#C1|dev> <#C9>", "#dev #C9"),
    ("<#C1>", "#general"), ("<https://a.example|here>", "here (https://a.example)"),
    ("<https://a.example>", "https://a.example"), ("<mailto:a@b.c|a@b.c>", "mailto:a@b.c"),
    ("<!here> <!channel>", "@here @channel"), ("<!subteam^S1|@team>", "@team"),
    ("<!date^1^{date}|today>", "today"),
    ("1 &lt; 2 &amp;&amp; 3 &gt; 2 &x; &", "1 < 2 && 3 > 2 &x; &"),
    ("a < b", "a < b"), ("<", "<"), ("<>", ""),
  ])
  func `of Slack is read without its marks`(marked: String, plain: String) {
    var names = PeopleNames()
    _ = names.user("U1", named: "ada")
    #expect(SlackText(channels: ["C1": "general"]).plain(marked, &names) == plain)
  }
}
