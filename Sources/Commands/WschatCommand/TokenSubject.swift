import Wire

/// The user that a token names. The relay decides, but the archive of that user can be displayed
/// before it has.
struct TokenSubject {
  var user: String

  /// `nil` if the token is not a JWT or names no user.
  init?(token: String) {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let claims = Self.decode(parts[1]) else { return nil }
    // A valid name needs no escapes, so it can be found without parsing the JSON.
    guard let key = Self.end(of: "\"sub\"", in: claims) else { return nil }
    let value = claims[key...].drop { $0 == 0x20 || $0 == UInt8(ascii: ":") }
    guard value.first == UInt8(ascii: "\"") else { return nil }
    let name = value.dropFirst().prefix { $0 != UInt8(ascii: "\"") }
    let user = String(decoding: name, as: UTF8.self)
    guard UserName.isValid(user) else { return nil }
    self.user = user
  }

  private static func end(of text: StaticString, in bytes: [UInt8]) -> Int? {
    let text = Array("\(text)".utf8)
    guard bytes.count >= text.count else { return nil }
    return (0...bytes.count - text.count)
      .first { bytes[$0..<($0 + text.count)].elementsEqual(text) }
      .map { $0 + text.count }
  }

  /// base64url (RFC 4648 §5), as in RFC 7515.
  private static func decode(_ text: Substring) -> [UInt8]? {
    var bytes: [UInt8] = []
    var (bits, count) = (0, 0)
    for byte in text.utf8 {
      let value: UInt8
      switch byte {
      case 0x41...0x5A: value = byte - 0x41
      case 0x61...0x7A: value = byte - 0x61 + 26
      case 0x30...0x39: value = byte - 0x30 + 52
      case 0x2D: value = 62
      case 0x5F: value = 63
      default: return nil
      }
      bits = (bits << 6 | Int(value)) & 0xFFFF
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> count))
      }
    }
    return bytes
  }
}
