internal import TLS
import Wire

/// The name that a claim gives a user (`auth.user_claim`).
enum FoldedName {
  /// 40 bits of the digest, which tell values apart that fold alike.
  private static let hashCharacters = 8
  private static let stemBytes = 64 - 1 - hashCharacters
  /// RFC 4648 §6, in lower case.
  private static let base32 = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

  /// Returns a valid user name as it is. Of any other value: in lower case, with `-` for each character
  /// that a name cannot have, cut, followed by `-` and 8 base32 characters of the value's SHA-256. Only
  /// ASCII letters have a lower case here, so that the name depends on no version of Unicode.
  static func of(_ value: String) -> String {
    if UserName.isValid(value) { return value }
    var name: [UInt8] = []
    for scalar in value.unicodeScalars.prefix(stemBytes) {
      switch scalar {
      case "A"..."Z": name.append(UInt8(scalar.value) + 32)
      case "a"..."z", "0"..."9", ".", "_": name.append(UInt8(scalar.value))
      default: name.append(UInt8(ascii: "-"))
      }
    }
    name.append(UInt8(ascii: "-"))
    let bits = SHA256Digest.of(Array(value.utf8)).prefix(5).reduce(UInt64(0)) {
      $0 << 8 | UInt64($1)
    }
    for index in 0..<hashCharacters {
      name.append(base32[Int(bits >> UInt64(5 * (hashCharacters - 1 - index)) & 31)])
    }
    return String(decoding: name, as: UTF8.self)
  }
}
