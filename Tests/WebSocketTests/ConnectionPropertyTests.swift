import Mixing
import Testing
import WebSocket

/// Any chunking of the input gives the same events, answers and violations.
@Suite struct `Connection, on random streams` {
  static let limits = Limits(frameBytes: 700, messageBytes: 1500, fragments: 6)

  /// A stream of valid frames, and its events.
  struct Stream {
    var bytes: [UInt8] = []
    var expected: [Received] = []
    let role: Role
    var random: SplitMix64

    init(seed: UInt64, to role: Role) {
      self.role = role
      random = SplitMix64(seed: seed)
      for _ in 0..<Int.random(in: 1...12, using: &random) { addMessage() }
      if Bool.random(using: &random) { addClose() }
    }

    mutating func add(_ opcode: Opcode, _ payload: [UInt8], fin: Bool = true) {
      let key = role == .server ? UInt32.random(in: 0 ... .max, using: &random) : nil
      bytes += frame(opcode, payload, fin: fin, key: key)
    }

    mutating func addMessage() {
      let payload: [UInt8]
      let isText = Bool.random(using: &random)
      let length = [0, 1, 5, 125, 126, 400].randomElement(using: &random) ?? 0
      if isText {
        var text = ""
        for _ in 0..<length / 3 {
          text.unicodeScalars.append(Unicode.Scalar.random(using: &random))
        }
        payload = Array(text.utf8)
      } else {
        payload = random.bytes(length)
      }
      // Cuts fall within scalars as well.
      let fragments = Int.random(in: 1...5, using: &random)
      let cuts = (1..<fragments).map { _ in Int.random(in: 0...payload.count, using: &random) }
      let ends = cuts.sorted() + [payload.count]
      var start = 0
      for (index, end) in ends.enumerated() {
        if Int.random(in: 0..<4, using: &random) == 0 { addControl() }
        let opcode: Opcode = index > 0 ? .continuation : isText ? .text : .binary
        add(opcode, Array(payload[start..<end]), fin: index == ends.count - 1)
        start = end
      }
      expected.append(
        isText ? .text(String(decoding: payload, as: UTF8.self)) : .binary(payload))
    }

    mutating func addControl() {
      let payload = random.bytes([0, 1, 8, 125].randomElement(using: &random) ?? 0)
      if Bool.random(using: &random) {
        add(.ping, payload)
        expected.append(.ping(payload))
      } else {
        add(.pong, payload)
        expected.append(.pong(payload))
      }
    }

    mutating func addClose() {
      let reason = Bool.random(using: &random) ? "done ✓" : ""
      add(.close, [0x0F, 0xA1] + Array(reason.utf8))
      expected.append(.close(CloseCode(rawValue: 4001), reason))
      bytes += random.bytes(20)
    }
  }

  @Test(arguments: [Role.server, .client])
  func `valid frames are read correctly, however they are cut`(role: Role) {
    for seed in 0..<300 as Range<UInt64> {
      var stream = Stream(seed: seed, to: role)
      let whole = receive(stream.bytes, as: role, limits: Self.limits)
      #expect(whole.received == stream.expected, "seed \(seed)")
      #expect(whole.violation == nil, "seed \(seed)")

      // Each ping and the close are answered, in order, with their payloads.
      let answers = receive(whole.output, as: role == .server ? .client : .server)
      let expectedAnswers = stream.expected.compactMap { event -> Received? in
        switch event {
        case .ping(let payload): .pong(payload)
        case .close(let code, _): .close(code, "")
        default: nil
        }
      }
      #expect(answers.received == expectedAnswers, "seed \(seed)")

      for _ in 0..<4 {
        let pieces = stream.random.cuts(stream.bytes.count)
        let cut = receive(stream.bytes, pieces: pieces, as: role, limits: Self.limits)
        #expect(cut == whole, "seed \(seed), pieces \(pieces)")
      }
    }
  }

  @Test(arguments: [Role.server, .client])
  func `broken frames break the same rule at the same place, however they are cut`(role: Role) {
    var violations: Set<String> = []
    for seed in 1000..<2500 as Range<UInt64> {
      var stream = Stream(seed: seed, to: role)
      for _ in 0..<Int.random(in: 1...3, using: &stream.random) {
        let index = Int.random(in: 0..<stream.bytes.count, using: &stream.random)
        stream.bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &stream.random)
      }
      let whole = receive(stream.bytes, as: role, limits: Self.limits)
      if let violation = whole.violation { violations.insert(violation.closeCode.description) }
      for _ in 0..<2 {
        let pieces = stream.random.cuts(stream.bytes.count)
        let cut = receive(stream.bytes, pieces: pieces, as: role, limits: Self.limits)
        #expect(cut == whole, "seed \(seed), pieces \(pieces)")
      }
    }
    // The streams are broken in many ways, or this test shows nothing.
    #expect(violations.isSuperset(of: ["1002", "1007", "1009"]), "\(violations)")
  }
}

extension CloseCode {
  fileprivate var description: String { "\(rawValue)" }
}
