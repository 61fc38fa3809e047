import WebSocket

/// Input: a byte for the window, the context and the limit; then what the peer says is compressed,
/// which is also what we compress.
enum DeflateTarget {
  static func check(_ input: inout FuzzInput) throws(FuzzFinding) {
    let choice = input.choice()
    let keepsContext = choice & 1 != 0
    let windowBits = 9 + Int(choice >> 1 & 7) % 7
    let limit = [0, 10, 1000, 65_536][Int(choice >> 4 & 3)]
    let bytes = Array(input.rest)

    let inflater = Inflater(windowBits: windowBits, keepsContext: keepsContext)
    let first = inflated(bytes, by: inflater, limit)
    if case .success(let message) = first {
      try expect(limit == 0 || message.count <= limit, "\(message.count) bytes are inflated")
      try expect(
        message.count <= 1032 * bytes.count, "\(bytes.count) bytes become \(message.count)")
    }
    // Without context a message has no effect on the next one, whatever its outcome.
    if !keepsContext {
      let second = inflated(bytes, by: inflater, limit)
      try expect(second == first, "the same message is read differently after itself")
    }

    let peer = Inflater(windowBits: windowBits, keepsContext: keepsContext)
    let deflater = Deflater(windowBits: windowBits, keepsContext: keepsContext)
    for message in [bytes, Array(bytes.reversed()), [], bytes] {
      var compressed: [UInt8] = [7]
      guard deflater.deflate(message.span, to: &compressed, limitBytes: .max / 2) else {
        throw FuzzFinding(description: "\(message.count) bytes are not compressed")
      }
      try expect(compressed.first == 7, "earlier output was changed")
      try expect(
        compressed.count <= message.count + message.count / 100 + 32,
        "\(message.count) bytes are compressed to \(compressed.count)")
      compressed.removeFirst()
      try expect(
        inflated(compressed, by: peer, 0) == .success(message), "the decompressed message differs")
    }
  }

  private static func inflated(
    _ bytes: [UInt8], by inflater: Inflater, _ limit: Int
  ) -> Result<[UInt8], ProtocolViolation> {
    var output: [UInt8] = []
    do throws(ProtocolViolation) {
      try inflater.inflate(bytes.span, to: &output, limitBytes: limit)
      return .success(output)
    } catch {
      return .failure(error)
    }
  }
}
