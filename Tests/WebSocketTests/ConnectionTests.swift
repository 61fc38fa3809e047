import Mixing
import Testing
import WebSocket

@Suite struct `Connection, RFC 6455 §5 to §7` {
  let hello = Array("Hello".utf8)

  @Test func `a message that arrives in one piece stays in the caller's buffer`() throws {
    var buffer = frame(.text, "Hello", key: 0x3D21_FA37) + frame(.binary, [7], key: 1)
    var connection = Connection(role: .server, limits: .none)
    var offset = 0
    var output: [UInt8] = []
    var input = buffer.mutableSpan
    let first = try connection.next(in: &input, at: &offset, output: &output, maskKey: { 0 })
    #expect(first == .message(.text, .input(6..<11)))
    #expect(offset == 11)
    let second = try connection.next(in: &input, at: &offset, output: &output, maskKey: { 0 })
    #expect(second == .message(.binary, .input(17..<18)))
    let third = try connection.next(in: &input, at: &offset, output: &output, maskKey: { 0 })
    #expect(third == nil)
    #expect(offset == 18)
    #expect(Array(buffer[6..<11]) == hello)
    #expect(connection.assembled.capacity == 0)
    #expect(output.isEmpty)
  }

  @Test func `a message in pieces is assembled, and its memory is released`() throws {
    var stream = frame(.text, "Hel", fin: false) + frame(.continuation, "lo")
    var connection = Connection(role: .client, limits: .none)
    var offset = 0
    var output: [UInt8] = []
    var input = stream.mutableSpan
    let event = try connection.next(in: &input, at: &offset, output: &output, maskKey: { 0 })
    #expect(event == .message(.text, .assembled))
    #expect(connection.assembled == hello)
    let none = try connection.next(in: &input, at: &offset, output: &output, maskKey: { 0 })
    #expect(none == nil)
    #expect(connection.assembled.capacity == 0)
  }

  @Test func `between messages is where nothing is half received`() {
    let stream =
      frame(.text, "Hel", fin: false) + frame(.ping, "1") + frame(.continuation, "lo")
      + frame(.binary, [7]) + frame(.close, [])
    var connection = Connection(role: .client, limits: .none)
    var ends: [Int] = []
    for (index, byte) in stream.enumerated() {
      if connection.isBetweenMessages { ends.append(index) }
      _ = connection.receive([byte])
    }
    #expect(ends == [0, stream.count - 5, stream.count - 2])
    #expect(!connection.isBetweenMessages, "closed")
  }

  @Test func `a connection is small`() {
    #expect(MemoryLayout<Connection>.stride <= 72)
  }

  @Test func `a declared length reserves no memory`() {
    var connection = Connection(role: .client, limits: .none)
    let header: [UInt8] = [0x82, 127, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
    let outcome = connection.receive(header + [1, 2, 3])
    #expect(outcome == Outcome())
    #expect(connection.assembled == [1, 2, 3])
    #expect(connection.assembled.capacity < 1024)
  }

  @Test func `control frames are allowed between the fragments of a message`() {
    let outcome = receive(
      frame(.text, "Hel", fin: false) + frame(.ping, "1") + frame(.continuation, "l", fin: false)
        + frame(.pong, "2") + frame(.continuation, "o"))
    #expect(outcome.received == [.ping([0x31]), .pong([0x32]), .text("Hello")])
    #expect(outcome.violation == nil)
  }

  @Test func `empty messages and empty fragments`() {
    let outcome = receive(
      frame(.text) + frame(.binary, fin: false) + frame(.continuation, fin: false)
        + frame(.continuation) + frame(.binary, fin: false) + frame(.continuation, [5]))
    #expect(outcome.received == [.text(""), .binary([]), .binary([5])])
  }

  @Test func `a ping is answered with its payload, by a client masked`() {
    let asClient = receive(frame(.ping, "Hello"), as: .client)
    var server = Connection(role: .server, limits: .none)
    #expect(server.receive(asClient.output).received == [.pong(hello)])
    let asServer = receive(frame(.ping, "Hello", key: 5), as: .server)
    #expect(asServer.output == [0x8A, 5] + hello)
  }

  // MARK: Violations

  static let broken: [(name: String, stream: [UInt8], violation: ProtocolViolation)] = [
    ("nothing to continue", frame(.continuation), .unexpectedContinuation),
    (
      "continuation after the end", frame(.text) + frame(.continuation), .unexpectedContinuation
    ),
    ("text in text", frame(.text, fin: false) + frame(.text), .unfinishedMessage),
    ("binary in text", frame(.text, fin: false) + frame(.binary), .unfinishedMessage),
    ("RSV1", [0xC1, 0], .reservedBits),
    ("bad byte", frame(.text, [0x61, 0xFF]), .textNotUTF8),
    ("cut at the end", frame(.text, [0xE2, 0x82]), .textNotUTF8),
    (
      "cut at the last fragment",
      frame(.text, [0xE2], fin: false) + frame(.continuation, [0x82]), .textNotUTF8
    ),
    (
      "bad byte in a fragment",
      frame(.text, [0xED], fin: false) + frame(.continuation, [0xA0], fin: false), .textNotUTF8
    ),
    // Of ten declared bytes one has arrived, which is enough.
    ("bad byte in a partial frame", [0x81, 10, 0xC0], .textNotUTF8),
    ("half a close code", frame(.close, [3]), .closeCodeTruncated),
    ("close code 1005", frame(.close, [3, 237]), .closeCodeInvalid(1005)),
    ("close code 0", frame(.close, [0, 0]), .closeCodeInvalid(0)),
    ("reason", frame(.close, [3, 232, 0xFF]), .closeReasonNotUTF8),
    ("cut reason", frame(.close, [3, 232, 0xC3]), .closeReasonNotUTF8),
  ]

  @Test(arguments: broken)
  func `a broken rule is named, however the bytes are cut`(
    name: String, stream: [UInt8], violation: ProtocolViolation
  ) {
    #expect(receive(stream).violation == violation)
    let bytewise = receive(stream, pieces: stream.indices.map { $0..<$0 + 1 })
    #expect(bytewise.violation == violation)
  }

  @Test func `text may be cut within a scalar, by fragments and by pieces`() {
    let euro: [UInt8] = [0xE2, 0x82, 0xAC]
    let stream =
      frame(.text, [euro[0]], fin: false) + frame(.continuation, [euro[1]], fin: false)
      + frame(.ping) + frame(.continuation, [euro[2]])
    let bytewise = receive(stream, pieces: stream.indices.map { $0..<$0 + 1 })
    #expect(bytewise.received == [.ping([]), .text("€")])
  }

  @Test func `after a violation input is ignored, and closing does not wait for the peer`() {
    var connection = Connection(role: .server, limits: .none)
    let first = connection.receive(frame(.text, "no mask"))
    #expect(first.violation == .maskMissing)
    #expect(first.state == .open)
    #expect(connection.receive(frame(.text, "masked", key: 1)) == Outcome())
    var output: [UInt8] = []
    connection.close(.protocolError, reason: "why", to: &output, maskKey: 0)
    #expect(receive(output, as: .client).received == [.close(.protocolError, "why")])
    #expect(connection.state == .closed)
    let later = connection.receive(frame(.text, "masked", key: 1))
    #expect(later.received == [])
    #expect(later.violation == nil)
  }

  @Test func `a violation while closing ends the connection`() {
    var connection = Connection(role: .client, limits: .none)
    var output: [UInt8] = []
    connection.close(.normal, to: &output, maskKey: 0)
    #expect(connection.receive([0xFF]).violation == .reservedBits)
    #expect(connection.state == .closed)
  }

  // MARK: Limits

  @Test func `a frame as long as the limit passes, one byte more does not`() {
    let limits = Limits(frameBytes: 4, messageBytes: 0, fragments: 0)
    #expect(receive(frame(.text, "abcd"), limits: limits).received == [.text("abcd")])
    #expect(
      receive(frame(.text, "abcde"), limits: limits).violation == .frameTooBig(limitBytes: 4))
  }

  @Test func `a message's limit counts all fragments, at the header that goes beyond it`() {
    let limits = Limits(frameBytes: 0, messageBytes: 5, fragments: 0)
    let fits = frame(.text, "abc", fin: false) + frame(.continuation, "de")
    #expect(receive(fits + fits, limits: limits).received == [.text("abcde"), .text("abcde")])
    let header = frame(.continuation, "def").prefix(2)
    #expect(
      receive(frame(.text, "abc", fin: false) + header, limits: limits).violation
        == .messageTooBig(limitBytes: 5))
    // A ping does not count.
    let pinged = frame(.text, "abc", fin: false) + frame(.ping, "long enough")
    #expect(receive(pinged, limits: limits).violation == nil)
  }

  @Test func `the largest declared length does not overflow a message's sum`() {
    let limits = Limits(frameBytes: 0, messageBytes: .max, fragments: 0)
    let rest: [UInt8] = [0x80, 127, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
    #expect(
      receive(frame(.binary, "abc", fin: false) + rest, limits: limits).violation
        == .messageTooBig(limitBytes: limits.messageBytes))
  }

  @Test func `fragments are counted, the empty ones too`() {
    let limits = Limits(frameBytes: 0, messageBytes: 0, fragments: 3)
    let three =
      frame(.text, fin: false) + frame(.continuation, fin: false) + frame(.continuation, "x")
    #expect(receive(three + three, limits: limits).received == [.text("x"), .text("x")])
    let four = frame(.text, fin: false) + frame(.continuation, fin: false)
    #expect(
      receive(four + frame(.continuation, fin: false) + frame(.continuation), limits: limits)
        .violation == .tooManyFragments(limit: 3))
  }

  // MARK: Closing

  @Test func `a close is echoed with its code, and data after it is ignored`() {
    let stream = frame(.close, [3, 232] + Array("bye".utf8), key: 9) + [0xFF, 0xFF]
    let outcome = receive(stream, as: .server)
    #expect(outcome.received == [.close(.normal, "bye")])
    #expect(outcome.output == [0x88, 2, 3, 232])
    #expect(outcome.state == .closed)
    #expect(outcome.violation == nil)
  }

  @Test func `a close without a code is echoed without one`() {
    let outcome = receive(frame(.close))
    #expect(outcome.received == [.close(.noStatus, "")])
    #expect(receive(outcome.output, as: .server).received == [.close(.noStatus, "")])
  }

  @Test func `a close in the middle of a message ends it`() {
    let outcome = receive(frame(.text, "Hel", fin: false) + frame(.close, [15, 160]))
    #expect(outcome.received == [.close(CloseCode(rawValue: 4000), "")])
  }

  @Test func `our close is sent once, data stops, and the peer's ends it`() {
    var connection = Connection(role: .server, limits: .none)
    var output: [UInt8] = []
    connection.close(.serviceRestart, reason: "soon", to: &output, maskKey: 0)
    #expect(connection.state == .closing)
    let once = output
    connection.close(.normal, to: &output, maskKey: 0)
    connection.appendMessage(.text, hello.span, to: &output, maskKey: 0)
    connection.appendPing(to: &output, maskKey: 0)
    #expect(output == once)

    // Frames that the peer sent before it knew still arrive, and pings are still answered.
    let outcome = connection.receive(
      frame(.text, "late", key: 1) + frame(.ping, key: 2) + frame(.close, [3, 244], key: 3))
    #expect(outcome.received == [.text("late"), .ping([]), .close(.serviceRestart, "")])
    #expect(outcome.output == [0x8A, 0])
    #expect(outcome.state == .closed)
  }

  @Test func `a reason is cut at 123 bytes and never within a scalar`() {
    for lead in 0..<5 {
      let reason = String(repeating: "x", count: lead) + String(repeating: "👋", count: 40)
      var connection = Connection(role: .client, limits: .none)
      var output: [UInt8] = []
      connection.close(.normal, reason: reason, to: &output, maskKey: 0xA1B2_C3D4)
      let received = receive(output, as: .server).received
      let kept =
        String(repeating: "x", count: lead)
        + String(repeating: "👋", count: (123 - lead) / 4)
      #expect(received == [.close(.normal, kept)])
    }
    var connection = Connection(role: .server, limits: .none)
    var output: [UInt8] = []
    connection.close(.normal, reason: String(repeating: "y", count: 123), to: &output, maskKey: 0)
    #expect(output.count == 2 + 125)
  }

  // MARK: Sending

  @Test(arguments: [0, 1, 7, 8, 9, 125, 126, 1000, 65535, 65536])
  func `one end receives the messages of the other`(length: Int) {
    var random = SplitMix64(seed: UInt64(length))
    let payload = random.bytes(length)
    var fromClient: [UInt8] = [0xAA]
    let client = Connection(role: .client, limits: .none)
    client.appendMessage(.binary, payload.span, to: &fromClient, maskKey: 0xDEAD_BEEF)
    client.appendPing([1, 2], to: &fromClient, maskKey: 0x0102_0304)
    fromClient.removeFirst()
    #expect(receive(fromClient, as: .server).received == [.binary(payload), .ping([1, 2])])

    var fromServer: [UInt8] = []
    let server = Connection(role: .server, limits: .none)
    server.appendMessage(.binary, payload.span, to: &fromServer, maskKey: 0xDEAD_BEEF)
    var shared: [UInt8] = []
    Connection.appendMessage(.binary, payload.span, to: &shared)
    #expect(fromServer == shared)
    #expect(receive(fromServer, as: .client).received == [.binary(payload)])
  }
}
