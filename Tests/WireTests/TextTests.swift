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
    #expect((error.type, error.room, error.id) == ("send", "r", "a"))
    #expect(refusal(#"\u00e9\u00e9"#, limit: 4) == nil)
    #expect(refusal(#"\u00e9\u00e9\n"#, limit: 4)?.code == .tooLarge)
    #expect(refusal(#"\ud83d\ude00"#, limit: 4) == nil)
    #expect(refusal(#"\ud83d\ude00"#, limit: 3)?.code == .tooLarge)
    #expect(refusal(String(repeating: "x", count: 100_000), limit: 0) == nil)
  }

  @Test(arguments: [
    "", " ", "\u{A0}", "\u{3000}", "\u{2028}\u{2003} ", #"\n\t \u00a0"#, #"\u3000"#,
    // Zero width, bidirectional marks, variation selectors, tags, fillers.
    "\u{200B}", "\u{2060}", "\u{FEFF}", "\u{AD}", "\u{200D}", "\u{200E}\u{202E}\u{2066}",
    "\u{61C}", "\u{FE0F}", "\u{E0101}", "\u{E0061}\u{E007F}", "\u{115F}\u{1160}", "\u{3164}",
    "\u{FFA0}", "\u{180E}", "\u{34F}", " \u{200B} ", #"\u200b\n"#,
  ])
  func `blank text is refused`(_ inner: String) {
    #expect(refusal(inner)?.field == "text")
    #expect(refusal(inner)?.code == .badField)
  }

  @Test(arguments: [
    ".", "\u{A0}x", "\u{E9}", "\u{200B}x", "\u{2764}\u{FE0F}", "\u{1F469}\u{200D}\u{1F680}",
    "\u{1F3F4}\u{E0067}\u{E0062}\u{E007F}", "\u{1F1E9}\u{1F1EA}", "\u{65}\u{301}",
    "\u{5D0}\u{200F}",
    "\u{FFFD}", "1\u{FE0F}\u{20E3}",
  ])
  func `text with anything visible is not blank`(_ inner: String) {
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
    (#"a\ud83d"#, "a\u{FFFD}"), (#"\uDE00b"#, "\u{FFFD}b"), (#"\ud83d\n"#, "\u{FFFD}\n"),
    (#"\ud83d\ud83d\ude00"#, "\u{FFFD}\u{1F600}"), (#"\ude00\ud83d"#, "\u{FFFD}\u{FFFD}"),
    (#"\ud83d\u0041"#, "\u{FFFD}A"), (#"\ud83d"#, "\u{FFFD}"),
  ])
  func `half of a surrogate pair is stored as U+FFFD`(_ inner: String, _ stored: String) throws {
    #expect(try Array(body(inner).utf8) == Array(#""text":"#.utf8) + quoted(stored))
    #expect(try text(inner) == stored)
  }

  private func quoted(_ text: String) -> [UInt8] {
    var json: [UInt8] = []
    json.append(jsonString: text)
    return json
  }

  @Test func `half of a surrogate pair takes three bytes of the limit, as U+FFFD does`() {
    #expect(refusal(#"\ud83d"#, limit: 3) == nil)
    #expect(refusal(#"\ud83d"#, limit: 2)?.code == .tooLarge)
  }

  @Test func `data with half of a surrogate pair is refused, since it is kept byte for byte`() {
    func error(_ data: String) -> WireError? {
      ClientMessage.refusal(
        of: #"{"type":"send","room":"r","id":"a","kind":"data","data":\#(data)}"#)
    }
    for data in [#""\ud83d""#, #"{"\uDE00":1}"#, #"["\ud83d\ud83d\ude00"]"#] {
      #expect(error(data)?.code == .badField, "\(data)")
      #expect(error(data)?.field == "data", "\(data)")
      #expect(error(data)?.id == "a", "\(data)")
    }
    for data in [#""\ud83d\ude00""#, #""\ufffd""#, #""\\ud83d""#, "\"\u{1F600}\""] {
      #expect(error(data) == nil, "\(data)")
    }
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
