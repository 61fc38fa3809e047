/// SHA-1 (RFC 3174), only for `Sec-WebSocket-Accept`: the handshake uses it to show that the server
/// supports WebSocket, not for security (RFC 6455 §10.8).
package enum SHA1 {
  /// Returns the digest of `message`: 20 bytes.
  package static func digest(of message: [UInt8]) -> [UInt8] {
    // RFC 3174 §4: a one bit, zeros, and the length in bits fill the last block.
    var padded = message
    padded.reserveCapacity(message.count + 72)
    padded.append(0x80)
    while padded.count % 64 != 56 { padded.append(0) }
    append(UInt64(message.count) * 8, to: &padded)

    var hash: (UInt32, UInt32, UInt32, UInt32, UInt32) =
      (0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0)
    for start in stride(from: 0, to: padded.count, by: 64) {
      let words = schedule(padded.span.extracting(start..<start + 64))
      var (a, b, c, d, e) = hash
      for round in 0..<80 {
        let (mixed, constant): (UInt32, UInt32) =
          switch round {
          case ..<20: (b & c | ~b & d, 0x5A82_7999)
          case ..<40: (b ^ c ^ d, 0x6ED9_EBA1)
          case ..<60: (b & c | b & d | c & d, 0x8F1B_BCDC)
          default: (b ^ c ^ d, 0xCA62_C1D6)
          }
        let next = rotate(a, 5) &+ mixed &+ e &+ words[round] &+ constant
        (a, b, c, d, e) = (next, a, rotate(b, 30), c, d)
      }
      hash = (hash.0 &+ a, hash.1 &+ b, hash.2 &+ c, hash.3 &+ d, hash.4 &+ e)
    }

    var digest: [UInt8] = []
    for word in [hash.0, hash.1, hash.2, hash.3, hash.4] { append(word, to: &digest) }
    return digest
  }

  /// Returns the 80 words to which a block of 64 bytes is expanded (RFC 3174 §6.1).
  private static func schedule(_ block: Span<UInt8>) -> [UInt32] {
    var words: [UInt32] = Array(repeating: 0, count: 80)
    for index in 0..<64 { words[index / 4] = words[index / 4] << 8 | UInt32(block[index]) }
    for round in 16..<80 {
      let mixed = words[round - 3] ^ words[round - 8] ^ words[round - 14] ^ words[round - 16]
      words[round] = rotate(mixed, 1)
    }
    return words
  }

  private static func rotate(_ word: UInt32, _ bits: UInt32) -> UInt32 {
    word << bits | word >> (32 - bits)
  }

  private static func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
    for shift in stride(from: value.bitWidth - 8, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: value >> shift))
    }
  }
}
