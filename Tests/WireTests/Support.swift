import Wire

extension ClientMessage {
  /// Reads a message from the text of a test.
  init(_ json: String, textLimitBytes: Int = 8192) throws(WireError) {
    try self.init(bytes: Array(json.utf8), textLimitBytes: textLimitBytes)
  }

  init(bytes: [UInt8], textLimitBytes: Int = 8192) throws(WireError) {
    try self.init(decoding: bytes.span, textLimitBytes: textLimitBytes)
  }

  /// The error that answers this text; `nil` if it is a message.
  static func refusal(of json: String, textLimitBytes: Int = 8192) -> WireError? {
    refusal(ofBytes: Array(json.utf8), textLimitBytes: textLimitBytes)
  }

  static func refusal(ofBytes json: [UInt8], textLimitBytes: Int = 8192) -> WireError? {
    do throws(WireError) {
      _ = try ClientMessage(bytes: json, textLimitBytes: textLimitBytes)
      return nil
    } catch {
      return error
    }
  }

  /// The body of a `send`.
  static func body(ofSend json: String, textLimitBytes: Int = 8192) throws -> String {
    guard case .send(let send) = try ClientMessage(json, textLimitBytes: textLimitBytes) else {
      throw NotASend()
    }
    return String(decoding: send.body, as: UTF8.self)
  }

  private struct NotASend: Error {}
}

/// A small generator whose seed replays a test.
struct Seeded: RandomNumberGenerator {
  private var state: UInt64
  init(_ seed: some BinaryInteger) { state = UInt64(truncatingIfNeeded: seed) }
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
