import Testing
import Wire

@Suite struct `The text of an entry` {
  private func body(_ inner: String, limit: Int = 8192) throws -> String {
    try ClientMessage.body(
      ofSend: #"{"type":"send","room":"r","id":"a","text":"\#(inner)"}"#, textLimitBytes: limit)
  }

  private func refusal(_ inner: String, limit: Int = 8192) -> WireError? {
    ClientMessage.refusal(
      of: #"{"type":"send","room":"r","id":"a","text":"\#(inner)"}"#, textLimitBytes: limit)
  }

  private func text(_ inner: String) throws -> String? {
    let body = try body(inner)
    return Entry(
      room: "r", seq: 1, id: "a", from: "u", at: 0, kind: .text, body: Array(body.utf8)
    ).text
  }

  @Test func `the limit counts bytes of UTF-8, not characters or escapes`() throws {
    #expect(refusal("éé", limit: 4) == nil)
    let error = try #require(refusal("ééa", limit: 4))
    #expect(error.code == .tooLarge)
    #expect(error.field == "text")
    #expect((error.re, error.room, error.id) == ("send", "r", "a"))
    #expect(refusal(#"\u00e9\u00e9"#, limit: 4) == nil)
    #expect(refusal(#"\u00e9\u00e9\n"#, limit: 4)?.code == .tooLarge)
    #expect(refusal(#"\ud83d\ude00"#, limit: 4) == nil)
    #expect(refusal(#"\ud83d\ude00"#, limit: 3)?.code == .tooLarge)
    #expect(refusal(String(repeating: "x", count: 100_000), limit: 0) == nil)
  }

  @Test(arguments: [
    "", " ", "\u{A0}", "\u{3000}", "\u{2028}\u{2003} ", #"\n\t \u00a0"#, #"\u3000"#,
  ])
  func `blank text is refused`(_ inner: String) {
    #expect(refusal(inner)?.field == "text")
    #expect(refusal(inner)?.code == .badField)
  }

  @Test(arguments: ["\u{200B}", "\u{FE0F}", ".", "\u{A0}x", "\u{E9}"])
  func `text with anything beside white space is not blank`(_ inner: String) {
    #expect(refusal(inner) == nil)
  }

  @Test func `control characters are refused, written as they are or escaped`() {
    let refused = [UInt32](0...0x1F).filter { $0 != 9 && $0 != 10 } + [UInt32](0x7F...0x9F)
    for value in refused {
      let hex = String(value, radix: 16)
      let escape = "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
      #expect(refusal("x" + escape)?.field == "text", "\(escape)")
      #expect(refusal(escape + "x")?.code == .badField, "\(escape)")
      if value >= 0x20, let scalar = Unicode.Scalar(value) {
        #expect(refusal("x\(Character(scalar))y")?.field == "text", "\(escape) as it is")
      }
    }
    #expect(refusal(#"x\b"#)?.field == "text")
    #expect(refusal(#"x\r\ny"#)?.field == "text")
  }

  @Test func `newline and tab are text`() throws {
    #expect(try text(#"a\n\tb"#) == "a\n\tb")
    #expect(try text(#"a\u000A\u0009b"#) == "a\n\tb")
  }

  @Test func `text without escapes is kept byte for byte`() throws {
    let inner = "ÄÖ  \u{1F469}\u{200D}\u{1F680} \u{FEFF}'</script>"
    #expect(try body(inner) == #""text":"\#(inner)""#)
  }

  @Test func `escapes keep their meaning`() throws {
    #expect(try text(#"\"\\\/\u0041\u00e9\ud83d\ude00\t"#) == "\"\\/Aé\u{1F600}\t")
    #expect(try text(#"\\u0041"#) == #"\u0041"#)
    #expect(try body(#"\/"#) == #""text":"/""#)
  }

  @Test(arguments: [
    #"{"a" : 1,  "b":[ ] }"#, "1.50e+03", #""\u00e9\/\u0000""#, "null", "false", "-0", "[\n1\t]",
  ])
  func `data is kept byte for byte`(_ data: String) throws {
    let json = #"{"type":"send","room":"r","id":"a","kind":"data", "data" : \#(data) , "x":1}"#
    #expect(try ClientMessage.body(ofSend: json) == #""data":\#(data)"#)
    let entry = Entry(
      room: "r", seq: 1, id: "a", from: "u", at: 5, kind: .data,
      body: Array(#""data":\#(data)"#.utf8))
    #expect(entry.data.map(Array.init) == Array(data.utf8))
    var message: [UInt8] = []
    entry.append(to: &message)
    #expect(try Entry(decoding: message.span) == entry)
  }
}
