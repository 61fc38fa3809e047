import TestSupport
import Testing

@testable import Terminal

/// What a terminal sends may break off anywhere: mosh, a broken tmux, a cut connection.
@Suite struct `An input parser whose input breaks off` {
  /// The beginnings of everything that a terminal sends.
  static let beginnings: [String] = [
    "\u{1B}", "\u{1B}\u{1B}", "\u{1B}[", "\u{1B}[[", "\u{1B}[1;", "\u{1B}[M", "\u{1B}[M !",
    "\u{1B}[<0;1",
    "\u{1B}O", "\u{1B}O5", "\u{1B}]", "\u{1B}]11;rgb:", "\u{1B}]11;\u{1B}", "\u{1B}P",
    "\u{1B}P>|kitty",
    "\u{1B}_", "\u{1B}_Gi=31;", "\u{1B}X", "\u{1B}^", "\u{1B}[200~", "\u{1B}[200~pasted \u{1B}[20",
    "👍",
    "two\rlines", "a\r",
  ]

  @Test(arguments: beginnings)
  func `waits no longer than a second, after which keys are keys`(beginning: String) throws {
    var parser = InputParser()
    _ = parser.parse(Array(beginning.utf8))
    let wait = try #require(parser.waitMilliseconds)
    #expect(wait <= 1000)
    _ = parser.timeout()
    #expect(!parser.isWaiting)
    #expect(parser.parse([0x03]) == [.key(Key(.character("c"), .control))])
  }

  @Test(arguments: beginnings)
  func `is not kept waiting by keys, and Ctrl+C works`(beginning: String) {
    var parser = InputParser()
    _ = parser.parse(Array(beginning.utf8))
    var events: [InputEvent] = []
    var isKept = false
    for _ in 0..<40 {
      events += parser.parse([0x78])
      isKept = isKept || (parser.isWaiting && !parser.hasProgressed)
    }
    events += parser.parse([0x03])
    if parser.isWaiting { events += parser.timeout() }
    #expect(events.last == .key(Key(.character("c"), .control)))
    #expect(!isKept || ["]", "P", "_", "X", "^", "["].contains(beginning.dropFirst().first))
  }

  @Test func `by bytes that are not UTF-8 ends as well`() {
    var parser = InputParser()
    #expect(parser.parse([0xF0, 0x9F, 0x91]) == [])
    #expect(parser.waitMilliseconds == InputParser.escapeWaitMilliseconds)
    #expect(parser.timeout() == [])
    #expect(!parser.isWaiting)
  }

  @Test func `in a paste has what came until then, and the keys after it`() {
    var parser = InputParser()
    #expect(parser.parse(Array("\u{1B}[200~one\rtwo".utf8)) == [])
    #expect(parser.hasProgressed)
    for key in ["x", "\r", "\u{3}", "\u{1B}OP"] {
      #expect(parser.parse(Array(key.utf8)) == [])
      #expect(!parser.hasProgressed)
    }
    #expect(
      parser.timeout() == [
        .paste("one\ntwox\nOP"), .key(Key(.character("c"), .control)), .key(Key(.function(1))),
      ])
    // The end that comes too late is no text.
    #expect(parser.parse(Array("\u{1B}[201~".utf8)) == [])
    #expect(!parser.isWaiting)
  }

  @Test func `in a paste goes on with large parts of it, and forgets what looked like a key`() {
    var parser = InputParser()
    let part = String(repeating: "part ", count: 10)
    _ = parser.parse(Array("\u{1B}[200~".utf8))
    for _ in 0..<3 {
      #expect(parser.parse(Array(part.utf8)) == [])
      #expect(parser.hasProgressed)
    }
    _ = parser.parse([0x03])
    let pasted = String(repeating: part, count: 3)
    #expect(parser.parse(Array("\u{1B}[201~".utf8)) == [.paste(pasted)])
    #expect(!parser.isWaiting)
  }

  @Test(arguments: ["]", "P", "X", "^", "_"])
  func `after an introducer of a string was Alt with that character`(character: String) {
    var parser = InputParser()
    #expect(parser.parse(Array("\u{1B}\(character)".utf8)) == [])
    #expect(parser.waitMilliseconds == InputParser.escapeWaitMilliseconds)
    #expect(parser.timeout() == [.key(Key(.character(Character(character)), .alt))])
  }
}

/// A terminal without bracketed pastes: the Linux console, GNU screen 4.
@Suite struct `A paste without brackets` {
  private func keys(_ text: String) -> [InputEvent] { text.map { .key(Key(.character($0))) } }
  private let enter = InputEvent.key(Key(.enter))

  @Test(arguments: ["\r", "\n", "\r\n"])
  func `of several lines is one event`(lineBreak: String) {
    var parser = InputParser()
    let text = "password: hunter2\(lineBreak)second line\(lineBreak)\(lineBreak)third"
    #expect(
      parser.parse(Array(text.utf8)) == [.paste("password: hunter2\nsecond line\n\nthird")])
  }

  @Test func `sends nothing with the Enter at its end, nor in the middle of its parts`() {
    var parser = InputParser()
    #expect(parser.parse(Array("one\r".utf8)) == keys("one"))
    #expect(parser.isWaiting)
    #expect(parser.parse(Array("two\r".utf8)) == [.paste("\ntwo\n")])
    #expect(parser.isWaiting)
    #expect(parser.parse(Array("three\r".utf8)) == [.paste("three\n")])
    #expect(parser.timeout() == [])
    #expect(parser.parse([0x0D]) == [enter])
  }

  @Test func `is sent by an Enter of its own, however soon`() {
    var parser = InputParser()
    #expect(parser.parse(Array("one\rtwo".utf8)) == [.paste("one\ntwo")])
    #expect(parser.parse([0x0D]) == [enter])
    #expect(!parser.isWaiting)
  }

  @Test func `is none if it is one line, which Enter sends after a moment`() {
    var parser = InputParser()
    #expect(parser.parse(Array("hello\r".utf8)) == keys("hello"))
    #expect(parser.waitMilliseconds == InputParser.escapeWaitMilliseconds)
    #expect(parser.timeout() == [enter])
    #expect(!parser.isWaiting)
  }

  @Test func `is not what is typed key by key, and no key waits`() {
    var parser = InputParser()
    for key in ["a", "\r", "b", "\t", "\r"] {
      #expect(parser.parse(Array(key.utf8)).count == 1)
      #expect(!parser.isWaiting)
    }
  }

  @Test func `ends with another key`() {
    var parser = InputParser()
    #expect(
      parser.parse(Array("a\rb\u{3}c\r\u{1B}[Ad".utf8))
        == [.paste("a\nb"), .key(Key(.character("c"), .control))] + keys("c") + [enter]
        + [.key(Key(.up))] + keys("d"))
    #expect(!parser.isWaiting)
  }
}

/// Work that grows with the square of the input is an attack in a byte at a time.
@Suite struct `The work for input that comes byte by byte` {
  @Test(arguments: [
    ("\u{1B}[200~", "pasted "), ("\u{1B}[200~", "\u{1B}[201"), ("\u{1B}]11;", "rgb:"),
    ("\u{1B}_G", "i=31;"), ("\u{1B}P", "q"), ("\u{1B}[", "1;"), ("", "text "), ("", "line\r"),
    ("👍", "\u{200D}👍"), ("👍", "\u{FE0F}"), ("e", "\u{301}"), ("", "\u{1B}[A"),
  ])
  func `is linear`(start: String, piece: String) {
    let isLinear = Growth.isLinear(from: 2048) { bytes in
      let input = (start + String(repeating: piece, count: bytes / piece.utf8.count)).utf8
      var parser = InputParser()
      return Growth.processorTime {
        for byte in input { _ = parser.parse(CollectionOfOne(byte)) }
      }
    }
    #expect(isLinear)
  }
}
