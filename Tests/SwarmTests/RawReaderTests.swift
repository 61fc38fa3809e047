import Testing
import WebSocket

@testable import Swarm

@Suite struct `Raw reader` {
  static func frame(_ opcode: Opcode, _ payload: String, fin: Bool = true) -> [UInt8] {
    var bytes: [UInt8] = []
    FrameHeader(fin: fin, opcode: opcode, payloadLength: payload.utf8.count).append(to: &bytes)
    return bytes + payload.utf8
  }

  static let message =
    #"{"type":"message","room":"r","seq":7,"text":"~00000000000000ffxxxx"}"#
  static let ack = #"{"type":"ack","room":"r","seq":7}"#
  static let error = #"{"type":"error","code":"rate_limited"}"#
  static let other = #"{"type":"message_of_the_day"}"#

  private func read(_ bytes: [UInt8], _ dialect: RawDialect, cuts: [Int] = []) -> RawReader {
    var reader = RawReader(dialect, sampleEvery: 1)
    var cut = FrameCut()
    var buffer = [UInt8](repeating: 0, count: FrameCut.limitBytes) + bytes
    let edges = [0] + cuts + [bytes.count]
    for (from, to) in zip(edges, edges.dropFirst()) {
      var part = Array(buffer[..<FrameCut.limitBytes]) + bytes[from..<to]
      let kept = cut.restore(into: &part, before: FrameCut.limitBytes)
      reader.read(part.span.extracting(FrameCut.limitBytes - kept..<part.count), &cut)
    }
    buffer = []
    return reader
  }

  @Test func `messages are classified by their first bytes, wherever the input is cut`() {
    let long = #"{"type":"message","text":"~"# + String(repeating: "y", count: 70_000)
    let frames =
      [
        Self.frame(.text, Self.message), Self.frame(.text, Self.ack), Self.frame(.text, long),
        Self.frame(.ping, "are you there"), Self.frame(.text, Self.other),
        Self.frame(.text, Self.error), Self.frame(.text, "{}"), Self.frame(.binary, ""),
      ].flatMap { $0 } + Self.frame(.text, Self.message)
    let near = Array(0..<200) + Array(frames.count - 300..<frames.count)
    for place in near {
      let reader = read(frames, .relay, cuts: [place])
      #expect(reader.tally.deliveries == 3, "cut at \(place)")
      #expect(reader.tally.acks == 1)
      #expect(reader.tally.errors == 1)
      #expect(reader.tally.frames == 8)
      #expect(reader.end == nil)
    }
    // As written by encoders that put spaces after colons.
    let spaced = [Self.message, Self.ack, Self.error].flatMap { text in
      Self.frame(
        .text,
        text.split(separator: ":", omittingEmptySubsequences: false).joined(separator: ": "))
    }
    #expect(read(spaced, .relay).tally.deliveries == 1)
    #expect(read(spaced, .relay).tally.acks == 1)
    #expect(read(spaced, .relay).tally.errors == 1)
    // Byte by byte.
    let small = Self.frame(.text, Self.message) + Self.frame(.text, Self.ack)
    let reader = read(small, .relay, cuts: Array(1..<small.count))
    #expect(reader.tally.deliveries == 1)
    #expect(reader.tally.acks == 1)
  }

  @Test func `the time of a send is read from its text`() {
    let reader = read(Self.frame(.text, Self.message), .relay)
    #expect(reader.samples == [255])
    let without = read(Self.frame(.text, #"{"type":"message","text":"~00zz"}"#), .relay)
    #expect(without.samples.isEmpty)
    #expect(without.tally.deliveries == 1)
  }

  @Test func `of a plain dialect every message counts, and a fragmented one once`() {
    let bytes =
      Self.frame(.text, "a") + Self.frame(.text, "be", fin: false)
      + Self.frame(.continuation, "gin", fin: false) + Self.frame(.pong, "")
      + Self.frame(.continuation, "s") + Self.frame(.binary, "")
    #expect(read(bytes, .plain).tally.deliveries == 3)
  }

  @Test func `marks are counted however many are in a frame, and wherever it is cut`() {
    var dialect = RawDialect(name: "lines")
    dialect.counting = .marks
    dialect.ackPrefix = #"{"id":"#
    let text = "~00000000000000ff"
    let bytes =
      Self.frame(.text, "\(text)\n\(text)\n\(text)") + Self.frame(.text, #"{"id":44444}"#)
      + Self.frame(.binary, "~00000", fin: false) + Self.frame(.continuation, "000000000ff")
    for place in bytes.indices {
      let reader = read(bytes, dialect, cuts: [place])
      #expect(reader.tally.deliveries == 4, "cut at \(place)")
      #expect(reader.tally.acks == 1)
    }
  }

  @Test func `pings are kept for their answers, and closes and broken frames are reported`() {
    let ping = read(Self.frame(.ping, "abc"), .plain)
    #expect(ping.pings == [3, 97, 98, 99])
    let close = read(Self.frame(.close, "\u{3}C"), .plain)
    #expect(close.end == "the server closed the connection with code 835")
    var masked: [UInt8] = []
    FrameHeader(opcode: .text, maskKey: 1, payloadLength: 1).append(to: &masked)
    #expect(read(masked + [0], .plain).end == "a frame from the server is masked")
  }
}

@Suite struct `Raw frame` {
  @Test(arguments: [0, 1, 99, 250])
  func `each send is a valid frame with its own number and time`(count: Int) throws {
    let publish = #"{"n":"{number}","t":"{text}","b":{"room":"{room}"}}"#
    var frame = RawFrame(
      publish: RawText.filled(publish, ["room": "r7"]), textBytes: 40, isBinary: false,
      key: 0x1234_5678)
    var output: [UInt8] = []
    for number in 0...count { frame.append(at: 0xABC0 + UInt64(number), to: &output) }
    var connection = Connection(
      role: .server, limits: Limits(frameBytes: 1000, messageBytes: 1000, fragments: 1))
    var texts: [String] = []
    var offset = 0
    var answer: [UInt8] = []
    var span = output.mutableSpan
    while case .message(.text, .input(let range))? = try connection.next(
      in: &span, at: &offset, output: &answer, maskKey: { 0 })
    {
      var bytes: [UInt8] = []
      for index in range { bytes.append(span[index]) }
      texts.append(String(decoding: bytes, as: UTF8.self))
    }
    let number = String(count + 1)
    let stamp = String(0xABC0 + count, radix: 16)
    let zeros = { (all: Int, text: String) in
      String(repeating: "0", count: all - text.utf8.count) + text
    }
    #expect(texts.count == count + 1)
    #expect(
      texts.last == #"{"n":""# + zeros(12, number) + #"","t":"~"# + zeros(16, stamp)
        + String(repeating: "x", count: 23) + #"","b":{"room":"r7"}}"#)
  }

  @Test func `the number carries over from 9 and 99`() throws {
    var frame = RawFrame(publish: "{number}", textBytes: 17, isBinary: true, key: 0)
    var output: [UInt8] = []
    for _ in 1...1100 { frame.append(at: 0, to: &output) }
    let size = output.count / 1100
    for number in 1...1100 {
      let digits = String(decoding: output[(number * size - 12)..<(number * size)], as: UTF8.self)
      #expect(Int(digits) == number)
    }
  }

  @Test func `the lanes come in turn, always with five digits`() {
    let count = 12
    var frame = RawFrame(publish: "{lane}", textBytes: 17, lanes: count, isBinary: true, key: 0)
    var output: [UInt8] = []
    for _ in 0..<30 { frame.append(at: 0, to: &output) }
    let size = output.count / 30
    let lanes = (1...30).map {
      String(decoding: output[($0 * size - 5)..<($0 * size)], as: UTF8.self)
    }
    #expect(lanes == (1...30).map { RawText.lane($0 % count) })
    #expect(lanes[8...12] == ["00009", "00010", "00011", "00000", "00001"])
  }

  @Test func `braces that name nothing are braces`() {
    #expect(
      RawText.pieces("{{room}}{x}") == [
        .literal("{"), .placeholder("room"), .literal("}{x}"),
      ])
    #expect(RawText.filled("/room/{room}?u={user}", ["room": "3"]) == "/room/3?u={user}")
  }
}
