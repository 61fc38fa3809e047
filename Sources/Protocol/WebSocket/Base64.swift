/// Base64 (RFC 4648 §4), padded, without line breaks: the part that the opening handshake needs.
package enum Base64 {
  private static let digits: [UInt8] =
    Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// Returns the base64 text of `bytes`.
  package static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
      for digit in 0..<4 {
        let value = Int(bits >> UInt32(18 - 6 * digit) & 0x3F)
        text.append(digit <= group.count ? digits[value] : UInt8(ascii: "="))
      }
    }
    return String(decoding: text.span)
  }

  /// Returns the bytes of `text`, or `nil` if it is not exactly the output of ``encode(_:)``:
  /// padding is missing, bits after the last byte are set, or it has other characters (RFC 4648
  /// §3).
  package static func decode(_ text: String) -> [UInt8]? {
    let text = Array(text.utf8)
    guard text.count % 4 == 0 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3)
    for start in stride(from: 0, to: text.count, by: 4) {
      var group = text[start..<start + 4]
      if start + 4 == text.count {
        while group.count > 2, group.last == UInt8(ascii: "=") { group.removeLast() }
      }
      var bits: UInt32 = 0
      for character in group {
        guard let value = value(of: character) else { return nil }
        bits = bits << 6 | value
      }
      bits <<= UInt32(6 * (4 - group.count))
      guard bits & ((1 << UInt32(8 * (4 - group.count))) - 1) == 0 else { return nil }
      for index in 0..<group.count - 1 {
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
