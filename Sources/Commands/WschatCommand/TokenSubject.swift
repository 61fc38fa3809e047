import Wire

/// The user that a token names. The relay decides, but the archive of that user can be displayed
/// before it has.
struct TokenSubject {
  var user: String
  /// The display name, which the directory may replace.
  var name: String?

  /// `nil` if the token is not a JWT or names no user.
  init?(token: String) {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let claims = Self.decode(parts[1]) else { return nil }
    guard let json = JSONNode(claims), let user = json["sub"]?.string, UserName.isValid(user)
    else { return nil }
    self.user = user
    name = json["name"]?.string.flatMap(Self.shown)
  }

  /// A longer one is not a name.
  static let nameLimitBytes = 1024

  /// Replaces control characters, which a name has not; `nil` for an empty or too long one.
  private static func shown(_ name: String) -> String? {
    guard !name.isEmpty, name.utf8.count <= nameLimitBytes else { return nil }
    var text = String.UnicodeScalarView()
    for scalar in name.unicodeScalars { text.append(scalar.value < 0x20 ? " " : scalar) }
    return String(text)
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
