/// Base64 (RFC 4648 §4), padded, without line breaks: the part that the opening handshake needs.
package enum Base64 {
  private static let digits: [UInt8] =
    Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// Returns the base64 text of `bytes`.
  package static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let count = min(3, bytes.count - start)
      var bits: UInt32 = 0
      for index in 0..<3 { bits = bits << 8 | (index < count ? UInt32(bytes[start + index]) : 0) }
      for digit in 0..<4 {
        let value = Int(bits >> UInt32(18 - 6 * digit) & 0x3F)
        text.append(digit <= count ? digits[value] : UInt8(ascii: "="))
      }
    }
    return String(decoding: text.span)
  }

  /// Returns the base64url text of `bytes` (RFC 4648 §5), without padding.
  package static func encodeForURL(_ bytes: [UInt8]) -> String {
    let text = encode(bytes).utf8.compactMap { digit -> UInt8? in
      switch digit {
      case UInt8(ascii: "+"): UInt8(ascii: "-")
      case UInt8(ascii: "/"): UInt8(ascii: "_")
      case UInt8(ascii: "="): nil
      default: digit
      }
    }
    return String(decoding: text.span)
  }

  /// Returns the bytes of `text`, or `nil` if it is not exactly the output of ``encode(_:)``:
  /// padding is missing, bits after the last byte are set, or it has other characters (RFC 4648
  /// §3).
  package static func decode(_ text: String) -> [UInt8]? {
    let text = text.utf8.span
    guard text.count % 4 == 0 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3)
    for start in stride(from: 0, to: text.count, by: 4) {
      var count = 4
      if start + 4 == text.count {
        while count > 2, text[start + count - 1] == UInt8(ascii: "=") { count -= 1 }
      }
      var bits: UInt32 = 0
      for index in 0..<count {
        guard let value = value(of: text[start + index]) else { return nil }
        bits = bits << 6 | value
      }
      bits <<= UInt32(6 * (4 - count))
      guard bits & ((1 << UInt32(8 * (4 - count))) - 1) == 0 else { return nil }
      for index in 0..<count - 1 {
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(16 - 8 * index)))
      }
    }
    return bytes
  }

  private static func value(of character: UInt8) -> UInt32? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a") + 26)
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0") + 52)
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
