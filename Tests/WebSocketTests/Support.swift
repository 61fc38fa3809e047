import Mixing
import WebSocket

extension SplitMix64 {
  mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) }
  }

  /// Cuts a stream of that length into pieces, some of them empty, some of one byte.
  mutating func cuts(_ count: Int) -> [Range<Int>] {
    var pieces: [Range<Int>] = []
    var start = 0
    while start < count {
      let length = [0, 1, 1, 2, 3, 7, 40, 300].randomElement(using: &self) ?? 1
      let end = min(count, start + length)
      pieces.append(start..<end)
      start = end
    }
    return pieces
  }
}

extension Unicode.Scalar {
  /// Mostly ASCII, and each of the longer encodings as often as the others.
  static func random(using random: inout SplitMix64) -> Unicode.Scalar {
    let range: ClosedRange<UInt32> =
      switch Int.random(in: 0..<8, using: &random) {
      case 0: 0x80...0x7FF
      case 1: 0x800...0xFFFF
      case 2: 0x1_0000...0x10_FFFF
      default: 0...0x7F
      }
    return Unicode.Scalar(UInt32.random(in: range, using: &random)) ?? "?"
  }
}

extension Limits {
  static let none = Limits(frameBytes: 0, messageBytes: 0, fragments: 0)
}

/// A frame in which every part may be invalid.
func frame(
  _ opcode: Opcode, _ payload: [UInt8] = [], fin: Bool = true, rsv1: Bool = false,
  key: UInt32? = nil
) -> [UInt8] {
  var bytes: [UInt8] = []
  FrameHeader(fin: fin, rsv1: rsv1, opcode: opcode, maskKey: key, payloadLength: payload.count)
    .append(to: &bytes)
  let wireKey = (0..<4).map { UInt8(truncatingIfNeeded: (key ?? 0) >> ($0 * 8)) }
  return bytes + payload.enumerated().map { $1 ^ wireKey[$0 % 4] }
}

func frame(
  _ opcode: Opcode, _ text: String, fin: Bool = true, key: UInt32? = nil
) -> [UInt8] {
  frame(opcode, Array(text.utf8), fin: fin, key: key)
}

/// An event with its payload copied out.
enum Received: Equatable {
  case text(String)
  case binary([UInt8])
  case ping([UInt8])
  case pong([UInt8])
  case close(CloseCode, String)
}

/// Everything observable about a connection that was fed a stream.
struct Outcome: Equatable {
  var received: [Received] = []
  var violation: ProtocolViolation?
  var output: [UInt8] = []
  var state = Connection.State.open
}

extension Connection {
  /// Feeds a stream to the end or to the first violation, one piece after the other, each in a
  /// buffer of its own that is overwritten afterwards.
  mutating func receive(_ stream: [UInt8], pieces: [Range<Int>]? = nil) -> Outcome {
    var outcome = Outcome()
    var keys = SplitMix64(seed: 99)
    do throws(ProtocolViolation) {
      for piece in pieces ?? [0..<stream.count] {
        var buffer = Array(stream[piece])
        var offset = 0
        while true {
          var input = buffer.mutableSpan
          let event = try next(
            in: &input, at: &offset, output: &outcome.output,
            maskKey: { UInt32(truncatingIfNeeded: keys.next()) })
          guard let event else { break }
          outcome.received.append(received(event, buffer))
        }
        precondition(offset == buffer.count, "all input is consumed")
      }
    } catch {
      outcome.violation = error
    }
    outcome.state = state
    return outcome
  }

  private func received(_ event: Event, _ buffer: [UInt8]) -> Received {
    switch event {
    case .message(let opcode, let payload):
      let bytes =
        switch payload {
        case .input(let range): Array(buffer[range])
        case .assembled: assembled
        }
      guard opcode == .text else { return .binary(bytes) }
      return .text(String(validating: bytes, as: UTF8.self) ?? "not UTF-8")
    case .ping(let payload): return .ping(payload)
    case .pong(let payload): return .pong(payload)
    case .close(let code, let reason): return .close(code, reason)
    }
  }
}

func receive(
  _ stream: [UInt8], pieces: [Range<Int>]? = nil, as role: Role = .client, limits: Limits = .none
) -> Outcome {
  var connection = Connection(role: role, limits: limits)
  return connection.receive(stream, pieces: pieces)
}
