import Mixing
import Testing
import WebSocket

extension DeflateAgreement {
  static func with(
    serverKeepsContext: Bool = false, clientKeepsContext: Bool = false, serverBits: Int = 15,
    clientBits: Int = 15
  ) -> DeflateAgreement {
    var response = DeflateParameters()
    response.serverNoContextTakeover = !serverKeepsContext
    response.clientNoContextTakeover = !clientKeepsContext
    response.serverMaxWindowBits = serverBits
    response.clientMaxWindowBits = clientBits
    return DeflateAgreement(response)
  }
}

@Suite struct `Connection with compression, RFC 7692 §6` {
  let hello = Array("Hello".utf8)
  let deflatedHello: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]

  private func connection(
    _ role: Role = .client, limits: Limits = .none, _ agreement: DeflateAgreement? = .with(),
    _ streams: DeflateStreams = DeflateStreams()
  ) -> Connection {
    Connection(role: role, limits: limits, deflate: agreement, sharing: streams)
  }

  private func bytewise(_ stream: [UInt8]) -> [Range<Int>] { stream.indices.map { $0..<$0 + 1 } }

  // MARK: Receiving

  @Test(arguments: [
    [0xC1, 0x07, 0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00],
    [0x41, 0x03, 0xF2, 0x48, 0xCD, 0x80, 0x04, 0xC9, 0xC9, 0x07, 0x00],
    [0xC1, 0x0B, 0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00],
    [0xC1, 0x08, 0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00],
    [0xC1, 13, 0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00],
  ])
  func `the frames of §7․2․3 are Hello, however they are cut`(stream: [UInt8]) {
    var whole = connection()
    #expect(whole.receive(stream + stream).received == [.text("Hello"), .text("Hello")])
    var cut = connection()
    #expect(cut.receive(stream, pieces: bytewise(stream)).received == [.text("Hello")])
  }

  @Test func `a window is shared if that was agreed, in either direction`() {
    let stream = frame(.text, deflatedHello, rsv1: true)
    let second: [UInt8] = [0xF2, 0x00, 0x11, 0x00, 0x00]
    var client = connection(.client, .with(serverKeepsContext: true))
    let toClient = stream + frame(.text, second, rsv1: true)
    #expect(client.receive(toClient).received == [.text("Hello"), .text("Hello")])
    var server = connection(.server, .with(clientKeepsContext: true))
    let toServer =
      frame(.text, deflatedHello, rsv1: true, key: 7) + frame(.text, "plain", key: 8)
      + frame(.text, second, rsv1: true, key: 9)
    #expect(
      server.receive(toServer).received == [.text("Hello"), .text("plain"), .text("Hello")])

    // Where it was agreed for the other direction only, it is an error.
    var other = connection(.client, .with(clientKeepsContext: true))
    #expect(other.receive(toClient).violation == .compressedDataInvalid)
  }

  @Test func `connections that share streams do not affect each other`() {
    let streams = DeflateStreams()
    var first = connection(.client, .with(), streams)
    var second = connection(.client, .with(), streams)
    let half = frame(.text, Array(deflatedHello.prefix(4)), fin: false, rsv1: true)
    #expect(first.receive(half) == Outcome())
    let broken = frame(.text, [0xFF, 0xFF], rsv1: true)
    #expect(second.receive(broken).violation == .compressedDataInvalid)
    let rest = frame(.continuation, Array(deflatedHello.dropFirst(4)))
    #expect(first.receive(rest).received == [.text("Hello")])
  }

  @Test func `messages may be compressed or not, with control frames between fragments`() {
    let compressed = deflated(Array("compressed €".utf8))
    var stream = frame(.binary, hello)
    for (index, byte) in compressed.enumerated() {
      stream += frame(index == 0 ? .text : .continuation, [byte], fin: false, rsv1: index == 0)
      stream += frame(.ping, [UInt8(index)])
    }
    stream += frame(.continuation) + frame(.text, "plain") + frame(.binary, [0], rsv1: true)
    var whole = connection()
    let outcome = whole.receive(stream)
    let pings = compressed.indices.map { Received.ping([UInt8($0)]) }
    #expect(
      outcome.received
        == [.binary(hello)] + pings + [.text("compressed €"), .text("plain"), .binary([])])
    var cut = connection()
    #expect(cut.receive(stream, pieces: bytewise(stream)) == outcome)
  }

  @Test func `a message's memory is released, and isBetweenMessages is right again`() throws {
    var stream = frame(.text, deflatedHello, rsv1: true)
    var connection = connection()
    var offset = 0
    var output: [UInt8] = []
    var input = stream.mutableSpan
    let event = try connection.next(in: &input, at: &offset, output: &output, maskKey: { 0 })
    #expect(event == .message(.text, .assembled))
    #expect(connection.assembled == hello)
    #expect(connection.isBetweenMessages)
    let none = try connection.next(in: &input, at: &offset, output: &output, maskKey: { 0 })
    #expect(none == nil)
    #expect(connection.assembled.capacity == 0)
  }

  // MARK: Violations

  @Test(
    arguments: [
      ("on a continuation", [0x01, 0, 0xC0, 0], .reservedBits),
      ("on a later fragment", [0x41, 1, 0xF2, 0xC0, 0], .reservedBits),
      ("on a ping", [0xC9, 0], .reservedBits), ("on a pong", [0xCA, 0], .reservedBits),
      ("on a close", [0xC8, 0], .reservedBits), ("RSV2", [0xA1, 0], .reservedBits),
      ("RSV3", [0x91, 0], .reservedBits), ("RSV1 and 2", [0xE1, 0], .reservedBits),
      ("a reserved opcode", [0xC3, 0], .reservedOpcode(3)),
      ("no deflate stream", [0xC1, 2, 0xFF, 0xFF], .compressedDataInvalid),
      ("a stream that ends early", [0xC1, 2, 0xF2, 0x48], .compressedDataInvalid),
    ] as [(String, [UInt8], ProtocolViolation)])
  func `a broken rule is named, however the bytes are cut`(
    name: String, stream: [UInt8], violation: ProtocolViolation
  ) {
    var whole = connection()
    #expect(whole.receive(stream).violation == violation)
    var cut = connection()
    #expect(cut.receive(stream, pieces: bytewise(stream)).violation == violation)
  }

  @Test func `RSV1 is refused if no compression was agreed`() {
    let stream = frame(.text, deflatedHello, rsv1: true)
    #expect(receive(stream).violation == .reservedBits)
    var declined = connection(.client, nil)
    #expect(declined.receive(stream).violation == .reservedBits)
  }

  @Test(arguments: [[0x61, 0xFF], [0xE2, 0x82], [0xC0, 0x80]] as [[UInt8]])
  func `inflated text must be UTF-8, binary can be anything`(payload: [UInt8]) {
    let compressed = deflated(payload)
    var text = connection()
    #expect(text.receive(frame(.text, compressed, rsv1: true)).violation == .textNotUTF8)
    var binary = connection()
    let received = binary.receive(frame(.binary, compressed, rsv1: true)).received
    #expect(received == [.binary(payload)])
  }

  // MARK: Limits

  @Test func `a message's limit applies to the inflated data and to the arriving data`() {
    let limits = Limits(frameBytes: 100, messageBytes: 100, fragments: 0)
    let payload = [UInt8](repeating: 0x61, count: 100)
    let fits = frame(.binary, deflated(payload), rsv1: true)
    var good = connection(.client, limits: limits)
    #expect(good.receive(fits + fits).received == [.binary(payload), .binary(payload)])
    var inflating = connection(.client, limits: limits)
    let long = frame(.binary, deflated(payload + [0x61]), rsv1: true)
    #expect(inflating.receive(long).violation == .messageTooBig(limitBytes: 100))
    #expect(inflating.assembled.capacity == 0)

    // Nor may it be longer compressed, even if it inflates to less.
    let empty = [UInt8](repeating: 0, count: 60)
    var arriving = connection(.client, limits: limits)
    let pieces = frame(.binary, empty, fin: false, rsv1: true) + frame(.continuation, empty)
    #expect(arriving.receive(pieces).violation == .messageTooBig(limitBytes: 100))
    var framed = connection(.client, limits: limits)
    #expect(
      framed.receive(frame(.binary, empty + empty, rsv1: true)).violation
        == .frameTooBig(limitBytes: 100))
  }

  // MARK: Sending

  @Test(arguments: [Role.client, .server])
  func `one end inflates the messages that the other compresses`(role: Role) throws {
    var random = SplitMix64(seed: 44)
    let streams = DeflateStreams()
    let deflater = try #require(streams.deflater())
    let sender = connection(role, .with(), streams)
    var receiver = connection(role == .client ? .server : .client, .with(), streams)
    for length in [0, 1, 20, 125, 126, 300, 65_535, 70_000, 1_000_000] {
      for (payload, shrinks) in [
        (random.bytes(length), false), ([UInt8](repeating: 0x7A, count: length), length > 10),
      ] {
        var stream: [UInt8] = [0xAA]
        sender.appendMessage(
          .binary, payload.span, compressing: deflater, to: &stream, maskKey: 0xDEAD_BEEF)
        stream.removeFirst()
        #expect((stream[0] & 0x40 != 0) == shrinks, "\(length)")
        #expect(receiver.receive(stream).received == [.binary(payload)])
      }
    }
  }

  @Test func `the frame for all is the frame for one`() throws {
    let deflater = Deflater()
    let text = Array(String(repeating: "to be or not to be, ", count: 30).utf8)
    var one: [UInt8] = []
    connection(.server).appendMessage(
      .text, text.span, compressing: deflater, to: &one, maskKey: 0)
    var all: [UInt8] = []
    #expect(Connection.appendMessage(.text, text.span, compressing: deflater, to: &all))
    #expect(one == all)
    #expect(all.count < text.count / 4)
    // A message that compression does not shrink is sent as it is.
    var plain: [UInt8] = []
    #expect(!Connection.appendMessage(.text, hello.span, compressing: deflater, to: &plain))
    #expect(plain == frame(.text, hello))
  }

  @Test func `nothing is compressed that the peer could not inflate`() {
    let deflater = Deflater()
    let text = [UInt8](repeating: 0x61, count: 1024)
    func isCompressed(_ connection: Connection, _ payload: [UInt8], _ deflater: Deflater) -> Bool {
      var stream: [UInt8] = []
      connection.appendMessage(
        .text, payload.span, compressing: deflater, to: &stream, maskKey: 0)
      return stream[0] & 0x40 != 0
    }
    #expect(!isCompressed(connection(.server, nil), text, deflater))
    #expect(!connection(.server, nil).canInflate(from: deflater))
    let narrow = connection(.server, .with(serverBits: 10))
    #expect(!narrow.canInflate(from: deflater))
    #expect(narrow.canInflate(from: Deflater(windowBits: 10)))
    #expect(isCompressed(narrow, text + text, Deflater(windowBits: 10)))
    #expect(!isCompressed(narrow, text + [0x61], deflater))
    #expect(isCompressed(narrow, text, deflater), "it refers to nothing further away than that")
    // The other end's window is of no interest.
    #expect(connection(.server, .with(clientBits: 9)).canInflate(from: deflater))

    let sharing = Deflater(keepsContext: true)
    #expect(!isCompressed(connection(.server), text, sharing))
    #expect(isCompressed(connection(.server, .with(serverKeepsContext: true)), text, sharing))
  }

  @Test func `with context the second message costs next to nothing`() {
    var random = SplitMix64(seed: 2)
    let payload = random.bytes(2000)
    let agreement = DeflateAgreement.with(clientKeepsContext: true)
    let client = connection(.client, agreement)
    var server = connection(.server, agreement)
    let deflater = Deflater(keepsContext: true)
    var lengths: [Int] = []
    // Random bytes are sent uncompressed, and are not referred to; text is.
    let text = Array("\(payload)".utf8)
    for message in [text, payload, text, text] {
      var stream: [UInt8] = []
      client.appendMessage(
        .binary, message.span, compressing: deflater, to: &stream, maskKey: 0x0102_0304)
      lengths.append(stream.count)
      #expect(server.receive(stream).received == [.binary(message)])
    }
    #expect(lengths[1] == payload.count + 8)
    #expect(lengths[3] < lengths[0] / 20)
  }

  @Test(arguments: [Role.server, .client], [false, true])
  func `random messages, in random fragments and pieces, are read correctly`(
    role: Role, keepsContext: Bool
  ) {
    let streams = DeflateStreams()
    let limits = Limits(frameBytes: 3000, messageBytes: 3000, fragments: 6)
    let agreement = DeflateAgreement.with(
      serverKeepsContext: keepsContext, clientKeepsContext: keepsContext)
    for seed in 0..<25 as Range<UInt64> {
      var random = SplitMix64(seed: seed)
      let deflater = Deflater(keepsContext: keepsContext)
      func key() -> UInt32? { role == .server ? .random(in: 0 ... .max, using: &random) : nil }
      var stream: [UInt8] = []
      var expected: [Received] = []
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        let payload = Array(
          random.bytes(30).map { "\($0 % 40) €" }.joined()
            .utf8.prefix([0, 3, 40, 200].randomElement(using: &random) ?? 0))
        let rsv1 = Bool.random(using: &random)
        let data = rsv1 ? deflated(payload, by: deflater) : payload
        let cuts = (0..<Int.random(in: 0...4, using: &random))
          .map { _ in Int.random(in: 0...data.count, using: &random) }
        var start = 0
        for (index, end) in (cuts.sorted() + [data.count]).enumerated() {
          stream += frame(
            index == 0 ? .binary : .continuation, Array(data[start..<end]),
            fin: index == cuts.count, rsv1: rsv1 && index == 0, key: key())
          if index < cuts.count {
            stream += frame(.pong, [7], key: key())
            expected.append(.pong([7]))
          }
          start = end
        }
        expected.append(.binary(payload))
      }
      for pieces in [nil, random.cuts(stream.count), random.cuts(stream.count)] {
        var receiver = connection(role, limits: limits, agreement, streams)
        let outcome = receiver.receive(stream, pieces: pieces)
        #expect(outcome.received == expected, "seed \(seed)")
        #expect(outcome.violation == nil, "seed \(seed)")
      }
    }
  }
}
