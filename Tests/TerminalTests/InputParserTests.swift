import Mixing
import Testing

@testable import Terminal

@Suite struct `The input parser` {
  /// The events of these bytes if they arrive together, which must be the same byte by byte.
  static func events(_ text: String) -> [InputEvent] { events(Array(text.utf8)) }

  static func events(_ bytes: [UInt8]) -> [InputEvent] {
    var whole = InputParser()
    let events = whole.parse(bytes) + whole.timeout()
    var cut = InputParser()
    let pieces = bytes.flatMap { cut.parse([$0]) } + cut.timeout()
    #expect(events == pieces)
    for split in bytes.indices.dropFirst() {
      var halves = InputParser()
      let two = halves.parse(bytes[..<split]) + halves.parse(bytes[split...]) + halves.timeout()
      #expect(events == two)
    }
    return events
  }

  static func keys(_ text: String) -> [Key] {
    events(text).compactMap { if case .key(let key) = $0 { key } else { nil } }
  }

  @Test(arguments: [
    ("a", Key(.character("a"))), ("A", Key(.character("A"))), ("é", Key(.character("é"))),
    ("世", Key(.character("世"))), ("\r", Key(.enter)), ("\t", Key(.tab)),
    ("\u{7F}", Key(.backspace)),
    ("\u{8}", Key(.backspace)), ("\u{B}", Key(.character("k"), .control)),
    ("\n", Key(.character("j"), .control)), ("\u{0}", Key(.character(" "), .control)),
    ("\u{1F}", Key(.character("_"), .control)), ("\u{1B}", Key(.escape)),
    ("\u{1B}a", Key(.character("a"), .alt)), ("\u{1B}é", Key(.character("é"), .alt)),
    ("\u{1B}\r", Key(.enter, .alt)), ("\u{1B}\u{7F}", Key(.backspace, .alt)),
    ("\u{1B}\u{2}", Key(.character("b"), [.alt, .control])),
    ("\u{1B}[", Key(.character("["), .alt)), ("\u{1B}O", Key(.character("O"), .alt)),
  ])
  func `characters, and those with Ctrl and Alt`(text: String, key: Key) {
    #expect(Self.keys(text) == [key])
  }

  @Test(arguments: [
    ("\u{1B}[A", Key(.up)), ("\u{1B}OB", Key(.down)), ("\u{1B}[1;5C", Key(.right, .control)),
    ("\u{1B}[1;3D", Key(.left, .alt)), ("\u{1B}[1;4A", Key(.up, [.alt, .shift])),
    ("\u{1B}[1;9A", nil), ("\u{1B}[1;33A", Key(.up, .alt)), ("\u{1B}\u{1B}[A", Key(.up, .alt)),
    ("\u{1B}[H", Key(.home)), ("\u{1B}OF", Key(.end)), ("\u{1B}[1~", Key(.home)),
    ("\u{1B}[8~", Key(.end)), ("\u{1B}[2~", Key(.insert)), ("\u{1B}[3;2~", Key(.delete, .shift)),
    ("\u{1B}[5~", Key(.pageUp)), ("\u{1B}[6;5~", Key(.pageDown, .control)),
    ("\u{1B}OP", Key(.function(1))), ("\u{1B}[1;2S", Key(.function(4), .shift)),
    ("\u{1B}[15~", Key(.function(5))), ("\u{1B}[17~", Key(.function(6))),
    ("\u{1B}[21~", Key(.function(10))), ("\u{1B}[24~", Key(.function(12))),
    ("\u{1B}[[A", Key(.function(1))), ("\u{1B}[[E", Key(.function(5))),
    ("\u{1B}[Z", Key(.tab, .shift)),
    ("\u{1B}OM", Key(.enter)), ("\u{1B}Ok", Key(.character("+"))),
    ("\u{1B}O5A", Key(.up, .control)),
  ])
  func `keys of xterm, rxvt and the console`(text: String, key: Key?) {
    #expect(Self.keys(text) == [key].compactMap { $0 })
  }

  @Test(arguments: [
    ("\u{1B}[27u", Key(.escape)), ("\u{1B}[13;2u", Key(.enter, .shift)),
    ("\u{1B}[13;3u", Key(.enter, .alt)), ("\u{1B}[127;5u", Key(.backspace, .control)),
    ("\u{1B}[9;2u", Key(.tab, .shift)), ("\u{1B}[107;5u", Key(.character("k"), .control)),
    ("\u{1B}[75;5u", Key(.character("k"), .control)),
    ("\u{1B}[107:75;6u", Key(.character("k"), [.control, .shift])),
    ("\u{1B}[1083::107;5u", Key(.character("k"), .control)),
    ("\u{1B}[97;4u", Key(.character("A"), .alt)), ("\u{1B}[49:33;4u", Key(.character("!"), .alt)),
    ("\u{1B}[97;1:3u", nil), ("\u{1B}[97;1:2u", Key(.character("a"))), ("\u{1B}[107;9u", nil),
    ("\u{1B}[97;2;65u", Key(.character("A"))), ("\u{1B}[57414u", Key(.enter)),
    ("\u{1B}[57404u", Key(.character("5"))), ("\u{1B}[57423u", Key(.home)), ("\u{1B}[57441u", nil),
    ("\u{1B}[97;65u", Key(.character("a"))), ("\u{1B}[1;1:3A", nil), ("\u{1B}[1114112u", nil),
    ("\u{1B}[27;2;13~", Key(.enter, .shift)), ("\u{1B}[27;5;107~", Key(.character("k"), .control)),
    ("\u{1B}[27;6;75~", Key(.character("k"), [.control, .shift])),
  ])
  func `keys of the kitty protocol and of modifyOtherKeys`(text: String, key: Key?) {
    #expect(Self.keys(text) == [key].compactMap { $0 })
  }

  @Test func `text that arrives together is one key for each cluster`() {
    var parser = InputParser()
    #expect(
      parser.parse(Array("e\u{301}x1️⃣".utf8)) + parser.timeout() == [
        .key(Key(.character("e\u{301}"))), .key(Key(.character("x"))), .key(Key(.character("1️⃣"))),
      ])
    for emoji in ["👍🏽", "👨‍👩‍👧‍👦", "🇦🇹", "❤️", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"] {
      #expect(Self.keys(emoji) == [Key(.character(Character(emoji)))])
    }
  }

  @Test func `a combining mark that arrives later is a key of its own, and no letter waits for it`()
  {
    var parser = InputParser()
    #expect(parser.parse(Array("e".utf8)) == [.key(Key(.character("e")))])
    #expect(!parser.isWaiting)
    #expect(parser.parse(Array("\u{301}".utf8)) == [.key(Key(.character("\u{301}")))])
  }

  @Test func `an ESC waits to be identified`() {
    var parser = InputParser()
    #expect(parser.parse([0x1B]) == [])
    #expect(parser.waitMilliseconds == InputParser.escapeWaitMilliseconds)
    #expect(parser.timeout() == [.key(Key(.escape))])
    #expect(!parser.isWaiting)
    #expect(parser.parse([0x1B, 0x1B]) == [])
    #expect(parser.timeout() == [.key(Key(.escape)), .key(Key(.escape))])
  }

  @Test func `a sequence that arrives late is awaited longer, and is not text`() {
    var parser = InputParser()
    #expect(parser.parse(Array("\u{1B}[1;".utf8)) == [])
    #expect(parser.waitMilliseconds == InputParser.sequenceWaitMilliseconds)
    #expect(parser.parse(Array("5A".utf8)) == [.key(Key(.up, .control))])
    #expect(parser.parse(Array("\u{1B}]11;rgb:".utf8)) == [])
    #expect(parser.timeout() == [])
    #expect(parser.parse(Array("a".utf8)) == [.key(Key(.character("a")))])
  }

  @Test func `bytes that are not UTF-8 are no keys`() {
    let a = InputEvent.key(Key(.character("a")))
    for bytes: [UInt8] in [
      [0xFF], [0x80], [0xC3], [0xC0, 0x80], [0xE4, 0xB8], [0xED, 0xA0, 0x80],
      [0xF5, 0x80, 0x80, 0x80],
      [0xF8, 0x88], [0xC2, 0x9B], [0x1B, 0xFF], [0x1B, 0xC3],
    ] {
      #expect(Self.events(bytes + [0x61]) == [a])
    }
  }

  @Test func `a paste is one event, harmless, with line feeds for line breaks`() {
    #expect(
      Self.events("x\u{1B}[200~one\r\ntwo\rthree\nfour\t\u{1B}[31m\u{7}\u{9B}é\u{1B}[201~y") == [
        .key(Key(.character("x"))), .paste("one\ntwo\nthree\nfour\t[31mé"),
        .key(Key(.character("y"))),
      ])
    #expect(Self.events("\u{1B}[200~\u{1B}[201~") == [.paste("")])
    #expect(Self.events("\u{1B}[200~a\u{1B}\u{1B}[201~") == [.paste("a")])
    #expect(Self.events("\u{1B}[201~a") == [.key(Key(.character("a")))])
  }

  @Test func `a paste is bounded, but not within a character`() {
    for limit in 0...7 {
      var parser = InputParser(pasteLimitBytes: limit)
      let events = parser.parse(Array("\u{1B}[200~aé世bcd\u{1B}[201~".utf8))
      let kept = ["", "a", "a", "aé", "aé", "aé", "aé世", "aé世b"][limit]
      #expect(events == [.paste(kept)])
      #expect(parser.parse(Array("\u{1B}[200~z\u{1B}[201~".utf8)) == [.paste(limit > 0 ? "z" : "")])
    }
  }

  @Test func `the mouse, in SGR's form`() {
    let at = Position(column: 9, row: 4)
    for (text, mouse): (String, Mouse?) in [
      ("\u{1B}[<0;10;5M", Mouse(.press, .left, at: at)),
      ("\u{1B}[<0;10;5m", Mouse(.release, .left, at: at)),
      ("\u{1B}[<18;10;5M", Mouse(.press, .right, at: at)),
      ("\u{1B}[<32;10;5M", Mouse(.drag, .left, at: at)),
      ("\u{1B}[<64;10;5M", Mouse(.wheelUp, .none, at: at)),
      ("\u{1B}[<69;10;5M", Mouse(.wheelDown, .none, at: at)),
      ("\u{1B}[<66;10;5M", nil), ("\u{1B}[<35;10;5M", nil), ("\u{1B}[<0;0;5M", nil),
      ("\u{1B}[<0;10M", nil), ("\u{1B}[<0;10;5;1M", nil),
    ] {
      #expect(Self.events(text) == [mouse].compactMap { $0 }.map { .mouse($0) })
    }
  }

  @Test func `the focus, and answers`() {
    for (text, event): (String, InputEvent?) in [
      ("\u{1B}[I", .focus(true)), ("\u{1B}[O", .focus(false)),
      ("\u{1B}[?2026;2$y", .reply(.mode(2026, isKnown: true))),
      ("\u{1B}[?2026;0$y", .reply(.mode(2026, isKnown: false))),
      ("\u{1B}[?2026;4$y", .reply(.mode(2026, isKnown: false))),
      ("\u{1B}[?5u", .reply(.keyboard(flags: 5))),
      ("\u{1B}[?62;22c", .reply(.attributes(hasSixel: false))),
      ("\u{1B}[?62;4;22c", .reply(.attributes(hasSixel: true))),
      ("\u{1B}[?4c", .reply(.attributes(hasSixel: false))),
      (
        "\u{1B}]11;rgb:ffff/0000/8080\u{1B}\\",
        .reply(.background(red: 1, green: 0, blue: 32896.0 / 65535))
      ),
      ("\u{1B}]11;rgb:f/0/f\u{7}", .reply(.background(red: 1, green: 0, blue: 1))),
      ("\u{1B}]11;rgba:ff/00/ff/80\u{7}", .reply(.background(red: 1, green: 0, blue: 1))),
      ("\u{1B}]11;#ff00ff\u{7}", .reply(.background(red: 1, green: 0, blue: 1))),
      ("\u{1B}]11;rgb:ff/00\u{7}", nil), ("\u{1B}]11;rgb:+f/00/00\u{7}", nil),
      ("\u{1B}]10;rgb:ff/00/ff\u{7}", nil), ("\u{1B}]4;1;rgb:ff/00/ff\u{1B}\\", nil),
      ("\u{1B}[>1;10;0c", nil), ("\u{1B}[24;80R", nil), ("\u{1B}P>|kitty(0.3)\u{1B}\\", nil),
    ] {
      let found = Self.events(text).filter { if case .key = $0 { false } else { true } }
      #expect(found == [event].compactMap { $0 }, "\(text.dropFirst())")
    }
  }

  @Test func `nothing of an escape sequence is ever text`() {
    let long = String(repeating: "1;", count: 5000)
    for text in [
      "\u{1B}[?1;2;3$w", "\u{1B}[\(long)q", "\u{1B}]0;title\u{7}", "\u{1B}]52;c;\(long)\u{1B}\\",
      "\u{1B}_Gi=1;OK\u{1B}\\", "\u{1B}^x\u{1B}\\", "\u{1B}Xx\u{1B}\\", "\u{1B}[M !!",
      "\u{1B}[38:2::1:2:3m",
      "\u{1B}[99~", "\u{1B}[1;5", "\u{1B}[u", "\u{1B}O~", "\u{1B}[[Z", "\u{1B}]x\u{18}",
      "\u{1B}[99999999999999999999~",
      "\u{1B}[99999999999999999999u",
    ] {
      var parser = InputParser()
      var events = parser.parse(Array(text.utf8))
      if parser.isWaiting { events += parser.timeout() }
      #expect(events == [], "\(text.dropFirst().prefix(20))")
      #expect(
        parser.parse([0x61]) == [.key(Key(.character("a")))], "\(text.dropFirst().prefix(20))")
    }
  }

  @Test func `a sequence that is cut off does not consume the character or sequence after it`() {
    let quit = Key(.character("c"), .control)
    #expect(Self.keys("\u{1B}[1;\u{3}") == [quit])
    #expect(Self.keys("\u{1B}[1;\u{1B}[A") == [Key(.up)])
    #expect(Self.keys("\u{1B}]11;rgb\u{1B}[A") == [Key(.up)])
    #expect(Self.keys("\u{1B}[1;é") == [Key(.character("é"))])
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func `any input gives the same events, however it is cut`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let alphabet: [[UInt8]] = [
      [0x1B], Array("\u{1B}[".utf8), Array("\u{1B}[200~".utf8), Array("\u{1B}[201~".utf8),
      Array("é".utf8), Array("世".utf8), Array("👍🏽".utf8), Array("1;5".utf8),
      Array("A~uMmOI[]<?$".utf8),
      Array("\u{1B}]11;".utf8), Array("\u{1B}\\".utf8), [0x07], [0x0D], [0xFF], [0xC3], [0x61],
    ]
    let bytes = (0..<30).flatMap { _ -> [UInt8] in
      let piece = alphabet.randomElement(using: &random) ?? []
      return Bool.random(using: &random) ? piece : [.random(in: 0...255, using: &random)]
    }
    // A key that comes alone while the end of a paste is awaited may have been pressed.
    let ended = bytes + Array("\u{1B}\\\u{1B}[201~".utf8)
    var whole = InputParser()
    let events = whole.parse(ended)
    var cut = InputParser()
    var pieces: [InputEvent] = []
    for byte in ended { pieces += cut.parse([byte]) }
    #expect(Self.joined(events + whole.timeout()) == Self.joined(pieces + cut.timeout()))
  }

  /// Joins typed text, since a cluster whose scalars arrive separately is typed in pieces, and lines
  /// that arrive together are a paste.
  static func joined(_ events: [InputEvent]) -> [String] {
    var joined: [String] = []
    var text = ""
    for event in events {
      if case .key(let key) = event, case .character(let character) = key.code, key.modifiers == []
      {
        text.append(character)
      } else if case .paste(let pasted) = event {
        text += pasted
      } else if event == .key(Key(.enter)) || event == .key(Key(.character("j"), .control)) {
        text += "\n"
      } else if event == .key(Key(.tab)) {
        text += "\t"
      } else {
        joined += [text, "\(event)"]
        text = ""
      }
    }
    // A line break is Enter, Ctrl+J or both.
    return (joined + [text]).map { $0.replacing("\r\n", with: "\n").replacing("\n\n", with: "\n") }
  }
}
