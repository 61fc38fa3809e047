import Terminal
import Terminal
import Testing

@Suite struct `Text from others on a terminal` {
  @Test func `text without anything special stays as it is`() {
    let text = "Grüße, 世界 👩‍👩‍👧 \u{200F}שלום"
    #expect(TerminalText.line(text) == text)
  }

  @Test func `escape sequences lose their control characters`() {
    #expect(TerminalText.line("a\u{1B}[2Jb\u{1B}]0;title\u{07}c") == "a[2Jb]0;titlec")
    #expect(TerminalText.line("a\u{9B}2Jb") == "a2Jb")
  }

  @Test func `every control character is gone`() {
    for value in (UInt32(0)..<0x20).filter({ ![9, 10, 13].contains($0) }) + Array(0x7F..<0xA0) {
      guard value != 0x85, let scalar = Unicode.Scalar(value) else { continue }
      #expect(TerminalText.line("a\(scalar)b") == "ab")
    }
  }

  @Test(arguments: [0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x2069])
  func `direction overrides and isolates are gone`(value: UInt32) throws {
    let scalar = try #require(Unicode.Scalar(value))
    #expect(TerminalText.line("a\(scalar)b") == "ab")
  }

  @Test func `a line break is shown, and does not break the line`() {
    #expect(TerminalText.line("a\nb") == "a⏎b")
    #expect(TerminalText.line("a\r\nb\rc") == "a⏎b⏎c")
    #expect(TerminalText.line("a\u{2028}b\u{85}c") == "a⏎b⏎c")
    #expect(TerminalText.line("a\tb") == "a b")
  }

  @Test func `JSON keeps its value`() {
    #expect(
      TerminalText.json("{\"a\":\"x\u{9B}\u{202E}\u{7F}\"}") == #"{"a":"x\u009b\u202e\u007f"}"#)
    #expect(TerminalText.json("{\n\"a\":\t1}") == "{ \"a\": 1}")
  }
}
