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
    // A valid name needs no escapes, so it can be found without parsing the JSON.
    guard let value = Self.string(after: "\"sub\"", in: claims) else { return nil }
    let user = String(decoding: value, as: UTF8.self)
    guard UserName.isValid(user) else { return nil }
    self.user = user
    name = Self.string(after: "\"name\"", in: claims).flatMap(Self.text)
  }

  /// Returns the characters of a string, with its escapes.
  private static func string(after key: StaticString, in claims: [UInt8]) -> ArraySlice<UInt8>? {
    guard let key = end(of: key, in: claims) else { return nil }
    let rest = claims[key...].drop { $0 == 0x20 }
    guard rest.first == UInt8(ascii: ":") else { return nil }
    let value = rest.dropFirst().drop { $0 == 0x20 }
    guard value.first == UInt8(ascii: "\"") else { return nil }
    var isEscaped = false
    return value.dropFirst().prefix { byte in
      if isEscaped {
        isEscaped = false
        return true
      }
      isEscaped = byte == UInt8(ascii: "\\")
      return byte != UInt8(ascii: "\"")
    }
  }

  /// A longer one is not a name.
  static let nameLimitBytes = 1024

  /// Decodes the escapes of a JSON string (RFC 8259 §7); `nil` for an empty or malformed one.
  private static func text(_ string: ArraySlice<UInt8>) -> String? {
    guard !string.isEmpty, string.count <= nameLimitBytes else { return nil }
    var units: [UInt16] = []
    var rest = String(decoding: string, as: UTF8.self).unicodeScalars[...]
    while let scalar = rest.popFirst() {
      guard scalar == "\\" else {
        units += Array(String(scalar).utf16)
        continue
      }
      switch rest.popFirst() {
      case "u"?:
        guard rest.count >= 4, let unit = UInt16(String(rest.prefix(4)), radix: 16) else {
          return nil
        }
        units.append(unit)
        rest = rest.dropFirst(4)
      case let plain? where plain == "\"" || plain == "\\" || plain == "/":
        units.append(UInt16(plain.value))
      // The others are control characters, which a name has not.
      case _?: units.append(0x20)
      case nil: return nil
      }
    }
    return String(decoding: units, as: UTF16.self)
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
