import Mixing

/// Text that is JSON, or very nearly.
struct RandomJSON {
  private var random: SplitMix64
  private var out: [UInt8] = []

  init(_ random: SplitMix64) { self.random = random }

  private mutating func pick<Element>(_ choices: [Element]) -> Element {
    choices[Int.random(in: 0..<choices.count, using: &random)]
  }

  private mutating func chance(_ percent: Int) -> Bool {
    Int.random(in: 0..<100, using: &random) < percent
  }

  /// An object, every other time with a few bytes changed.
  mutating func next() -> [UInt8] {
    out = []
    object(level: 1)
    if chance(50) { damage() }
    return out
  }

  /// An object of the members of relay.v1, with values that are valid more often than not.
  mutating func message() -> [UInt8] {
    out = []
    let types = [
      "send", "join", "leave", "history", "typing", "read", "received", "ping", "auth", "rooms",
    ]
    out += Array(#"{"type":"\#(pick(types))""#.utf8)
    let members: [(String, [String])] = [
      ("room", [#""r""#, #""dm:a:b""#, #""\u0072""#, #""R""#]),
      ("id", [#""a""#, #""\"""#, #""é""#]), ("kind", [#""text""#, #""data""#, "null"]),
      ("text", [#""x""#, #""\u00e9\n""#, #"" ""#, #""0123456789012345678901""#]),
      ("data", ["1", #"{"a" : []}"#, "null"]), ("seq", ["0", "7", "9007199254740992", "1.0"]),
      ("after", ["3", "null"]), ("before", ["null", "4"]), ("limit", ["1", "500", "501"]),
      ("on", ["true", "false", "null"]), ("forget", ["true"]), ("t", ["[ 1 ]"]),
      ("token", [#""t""#]), ("epoch", [#""E""#]),
    ]
    for (name, values) in members where chance(70) {
      out += Array(",\"\(name)\":".utf8)
      if chance(90) { out += Array(pick(values).utf8) } else { value(level: 2) }
    }
    out.append(UInt8(ascii: "}"))
    if chance(10) { damage() }
    return out
  }

  private mutating func damage() {
    for _ in 0...Int.random(in: 0...2, using: &random) where !out.isEmpty {
      let place = Int.random(in: 0..<out.count, using: &random)
      let byte: UInt8 =
        chance(80)
        ? pick(Array(#"{}[]:,"\u0dDcC8e.-+19tn "#.utf8)) : UInt8.random(in: 0...255, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: out.remove(at: place)
      case 1: out.insert(byte, at: place)
      case 2: out[place] = byte
      default: out.removeLast(Int.random(in: 0...min(3, out.count), using: &random))
      }
    }
  }

  private mutating func space() {
    if chance(10) { out.append(pick([0x20, 0x09, 0x0A, 0x0D])) }
  }

  private mutating func object(level: Int) {
    out.append(UInt8(ascii: "{"))
    for index in 0..<Int.random(in: 0...3, using: &random) {
      if index > 0 { out.append(UInt8(ascii: ",")) }
      space()
      string()
      space()
      out.append(UInt8(ascii: ":"))
      space()
      value(level: level + 1)
      space()
    }
    out.append(UInt8(ascii: "}"))
  }

  private mutating func array(level: Int) {
    out.append(UInt8(ascii: "["))
    for index in 0..<Int.random(in: 0...3, using: &random) {
      if index > 0 { out.append(UInt8(ascii: ",")) }
      space()
      value(level: level + 1)
      space()
    }
    out.append(UInt8(ascii: "]"))
  }

  private mutating func value(level: Int) {
    if chance(2) {
      let levels = Int.random(in: 60...66, using: &random)
      out += Array(repeating: UInt8(ascii: "["), count: levels)
      out += Array(repeating: UInt8(ascii: "]"), count: levels)
      return
    }
    switch Int.random(in: 0..<(level > 6 ? 4 : 7), using: &random) {
    case 0: out += Array(pick(["true", "false", "null"]).utf8)
    case 1: out += Array(pick(["0", "-1", "1.5", "1e9", "-0.0E-1", "9007199254740993"]).utf8)
    case 2, 3: string()
    case 4, 5: object(level: level)
    default: array(level: level)
    }
  }

  private mutating func string() {
    out.append(UInt8(ascii: "\""))
    for _ in 0..<Int.random(in: 0...4, using: &random) {
      let parts = [
        "a", "type", "room", " ", "é", "\u{1F600}", #"\n"#, #"\""#, #"\\"#, #"\/"#, #"\u00e9"#,
        #"\ud83d\ude00"#, #"\ud83d"#, #"\ude00"#,
      ]
      // Halves of pairs are rare, so that most texts are valid.
      let part = pick(parts)
      if part.hasPrefix(#"\ud83d"#) || part == #"\ude00"#, !chance(20) { continue }
      out += Array(part.utf8)
    }
    out.append(UInt8(ascii: "\""))
  }
}
