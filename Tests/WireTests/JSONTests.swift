import Mixing
import Testing
import Wire

@Suite struct `JSON, RFC 8259` {
  private func isJSON(_ json: String) -> Bool {
    let error = ClientMessage.refusal(of: json)
    return error?.code != .badJSON
  }

  private func nested(_ levels: Int, _ open: String, _ inner: String, _ close: String) -> String {
    String(repeating: open, count: levels) + inner + String(repeating: close, count: levels)
  }

  @Test func `64 levels are accepted, the 65th is not`() {
    #expect(isJSON(#"{"type":"ping","t":\#(nested(63, "[", "", "]"))}"#))
    #expect(!isJSON(#"{"type":"ping","t":\#(nested(64, "[", "", "]"))}"#))
    #expect(isJSON(#"{"type":"ping","t":\#(nested(63, #"{"a":"#, "1", "}"))}"#))
    #expect(!isJSON(#"{"type":"ping","t":\#(nested(64, #"{"a":"#, "1", "}"))}"#))
    #expect(!isJSON(#"{"type":"ping","t":\#(nested(100_000, "[", "", ""))"#))
  }

  @Test(arguments: [
    "", " ", "[]", "1", "null", #""x""#, "{", "}", #"{"type":"rooms"} x"#, #"{"type":"rooms"}{}"#,
    #"{"type":"rooms",}"#, #"{,"type":"rooms"}"#, #"{"type" "rooms"}"#, #"{"type":}"#,
    #"{type:"rooms"}"#, #"{'type':'rooms'}"#, #"{"type":"rooms" "x":1}"#, #"{"x":[1,]}"#,
    #"{"x":[,1]}"#, #"{"x":[1 2]}"#, #"{"x":01}"#, #"{"x":-}"#, #"{"x":+1}"#, #"{"x":1.}"#,
    #"{"x":.5}"#, #"{"x":1e}"#, #"{"x":1e+}"#, #"{"x":0x1}"#, #"{"x":NaN}"#, #"{"x":Infinity}"#,
    #"{"x":True}"#, #"{"x":tru}"#, #"{"x":truex}"#, #"{"x":nul"#, #"{"x":"\a"}"#, #"{"x":"\u12"}"#,
    #"{"x":"\u12G4"}"#, #"{"x":"\"#, #"{"x":"y"#, "{\"x\":\"\n\"}", "{\"x\":\"\t\"}",
    "{\"x\":\"\0\"}", "\u{FEFF}{}", "{\u{A0}}", #"{"x":"\ud800\u"}"#,
    #"{"x":"\ud800\u12G4"}"#, #"{"x":"\ud800\"}"#, #"{"x":"\ud80"}"#, "// x\n{}", #"{"x":1}/**/"#,
  ])
  func `text that is not one object is bad_json, with the position`(_ json: String) throws {
    let error = try #require(ClientMessage.refusal(of: json))
    #expect(error.code == .badJSON)
    #expect(error.message.contains("at byte"))
  }

  @Test(arguments: [
    #"{"x":0,"y":-0.0e-0,"z":1E5}"#, "\r\n\t { } \n", #"{"":""}"#, #"{"x":"\ud83d\ude00"}"#,
    "{\"x\":\"\u{7F}\"}", #"{"x":"\u0000\u001f"}"#, #"{"x":[[],{},[{}]]}"#,
    #"{"x":"\ud800"}"#, #"{"x":"\udc00"}"#, #"{"x":"\ud800\ud800"}"#, #"{"x":"\ud800x"}"#,
    #"{"x":"\ud800\n"}"#, #"{"x":"\udc00\ud800"}"#, #"{"\ud800":1}"#, #"{"x":"\ud83d\u0041"}"#,
  ])
  func `everything that the grammar allows is accepted`(_ json: String) {
    #expect(isJSON(json))
  }

  @Test func `random text is accepted exactly if a plain parser of the grammar accepts it`() {
    var accepted = 0
    for seed in 0..<20_000 {
      var generator = RandomJSON(SplitMix64(seed: UInt64(seed)))
      let json = generator.next()
      let expected = ReferenceJSON.isObject(json)
      if expected { accepted += 1 }
      let isJSON = ClientMessage.refusal(ofBytes: json)?.code != .badJSON
      #expect(isJSON == expected, "seed \(seed): \(String(decoding: json, as: UTF8.self))")
    }
    // Both kinds must occur, or the test proves nothing.
    #expect((4000...16_000).contains(accepted))
  }

  @Test func `random messages with random fields never trap, and are written back as read`()
    throws
  {
    for seed in 0..<10_000 {
      var generator = RandomJSON(SplitMix64(seed: UInt64(seed ^ 0x5EED)))
      let json = generator.message()
      guard let message = try? ClientMessage(bytes: json, textLimitBytes: 20) else { continue }
      #expect(try ClientMessage(bytes: message.json) == message, "seed \(seed)")
    }
  }

  @Test func `random bytes never trap, be they UTF-8 or not`() {
    for seed in 0..<10_000 {
      var random = SplitMix64(seed: UInt64(seed ^ 0xB17E5))
      var bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      if seed % 2 == 0 {
        bytes =
          Array(#"{"type":"send","room":"r","id":"a","text":""#.utf8) + bytes + Array(#""}"#.utf8)
      }
      _ = ClientMessage.refusal(ofBytes: bytes)
      _ = try? ServerMessage(decoding: bytes.span)
    }
  }
}

/// RFC 8259 as plainly as possible, to compare the real reader with.
struct ReferenceJSON {
  private var rest: ArraySlice<UInt8>
  private struct Invalid: Error {}

  static func isObject(_ json: [UInt8]) -> Bool {
    var reader = ReferenceJSON(rest: json[...])
    do {
      reader.space()
      guard reader.rest.first == UInt8(ascii: "{") else { return false }
      try reader.value(level: 1)
      reader.space()
      return reader.rest.isEmpty
    } catch {
      return false
    }
  }

  private mutating func space() { rest = rest.drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) } }

  private mutating func next() throws -> UInt8 {
    guard let byte = rest.popFirst() else { throw Invalid() }
    return byte
  }

  private mutating func expect(_ text: String) throws {
    for byte in text.utf8 where try next() != byte { throw Invalid() }
  }

  private mutating func digits() throws {
    let count = rest.prefix { (0x30...0x39).contains($0) }.count
    guard count > 0 else { throw Invalid() }
    rest = rest.dropFirst(count)
  }

  private mutating func value(level: Int) throws {
    switch rest.first.map({ Character(Unicode.Scalar($0)) }) {
    case "{":
      guard level <= 64 else { throw Invalid() }
      try list("}") { (reader) throws in
        try reader.string()
        reader.space()
        try reader.expect(":")
        reader.space()
        try reader.value(level: level + 1)
      }
    case "[":
      guard level <= 64 else { throw Invalid() }
      try list("]") { (reader) throws in try reader.value(level: level + 1) }
    case "\"": try string()
    case "t": try expect("true")
    case "f": try expect("false")
    case "n": try expect("null")
    default: try number()
    }
  }

  private mutating func list(
    _ end: Character, _ item: (inout ReferenceJSON) throws -> Void
  ) throws {
    _ = try next()
    space()
    if rest.first == end.asciiValue {
      _ = try next()
      return
    }
    while true {
      space()
      try item(&self)
      space()
      let byte = try next()
      if byte == end.asciiValue { return }
      guard byte == UInt8(ascii: ",") else { throw Invalid() }
    }
  }

  private mutating func number() throws {
    if rest.first == UInt8(ascii: "-") { _ = try next() }
    if rest.first == UInt8(ascii: "0") { _ = try next() } else { try digits() }
    if rest.first == UInt8(ascii: ".") {
      _ = try next()
      try digits()
    }
    if let e = rest.first, e == UInt8(ascii: "e") || e == UInt8(ascii: "E") {
      _ = try next()
      if let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
        _ = try next()
      }
      try digits()
    }
  }

  private mutating func string() throws {
    try expect("\"")
    while true {
      let byte = try next()
      if byte == UInt8(ascii: "\"") { return }
      guard byte >= 0x20 else { throw Invalid() }
      guard byte == UInt8(ascii: "\\") else { continue }
      let letter = try next()
      if letter != UInt8(ascii: "u") {
        guard Array("\"\\/bfnrt".utf8).contains(letter) else { throw Invalid() }
        continue
      }
      _ = try hex()
    }
  }

  private mutating func hex() throws -> Int {
    var value = 0
    for _ in 0..<4 {
      guard let digit = Character(Unicode.Scalar(try next())).hexDigitValue else { throw Invalid() }
      value = value * 16 + digit
    }
    return value
  }
}
