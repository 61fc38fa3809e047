/// The SHA-256 of a secret (FIPS 180-4): all that is stored of tokens and codes. They are random and
/// long, so that a hash without salt tells nothing, and finds its row by an index.
public struct SecretHash: Hashable, Sendable {
  private let words: (UInt64, UInt64, UInt64, UInt64)

  /// Returns `nil` unless there are 32 bytes.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count == 32 else { return nil }
    func word(_ at: Int) -> UInt64 { bytes[at..<at + 8].reduce(0) { $0 << 8 | UInt64($1) } }
    words = (word(0), word(8), word(16), word(24))
  }

  public var bytes: [UInt8] {
    [words.0, words.1, words.2, words.3].flatMap { word in
      stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt64($0)) }
    }
  }

  public static func == (a: Self, b: Self) -> Bool { a.words == b.words }

  public func hash(into hasher: inout Hasher) {
    // The bits are random already.
    hasher.combine(words.0)
  }
}

/// The forms of secrets and names, made of random bytes.
enum SecretForm {
  private static let base64URL =
    Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
  /// Without vowels, so that no code is a word (RFC 8628 §6.1).
  private static let letters = Array("BCDFGHJKLMNPQRSTVWXZ".utf8)
  private static let base32 = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

  /// A token or code for programs: 256 bits as base64url.
  static let tokenBytes = 32
  /// The code of an invitation: 128 bits.
  static let invitationBytes = 16
  /// The name of a session or an invitation: 80 bits.
  static let nameBytes = 10
  static let userCodeLetters = 8

  static func token(_ random: [UInt8]) -> String {
    var bits: UInt32 = 0
    var count: UInt32 = 0
    var text: [UInt8] = []
    for byte in random {
      bits = bits << 8 | UInt32(byte)
      count += 8
      while count >= 6 {
        count -= 6
        text.append(base64URL[Int(bits >> count & 0x3F)])
      }
    }
    if count > 0 { text.append(base64URL[Int(bits << (6 - count) & 0x3F)]) }
    return String(decoding: text, as: UTF8.self)
  }

  static func name(_ random: [UInt8]) -> String {
    String(decoding: random.map { base32[Int($0 & 31)] }, as: UTF8.self)
  }

  /// A code for people, such as `WDJB-MJHT`.
  /// - Parameter random: returns random bytes. Some are rejected, so that each letter is as likely.
  static func userCode(_ random: (Int) -> [UInt8]) -> String {
    var code: [UInt8] = []
    while code.count < userCodeLetters {
      for byte in random(userCodeLetters) where byte < 240 && code.count < userCodeLetters {
        code.append(letters[Int(byte) % letters.count])
      }
    }
    code.insert(UInt8(ascii: "-"), at: userCodeLetters / 2)
    return String(decoding: code, as: UTF8.self)
  }

  /// Returns a code as it was made: people type small letters, and other dashes or none.
  static func typedCode(_ text: String) -> String {
    let typed = text.uppercased().utf8.filter { letters.contains($0) }
    guard typed.count == userCodeLetters else { return "" }
    return String(
      decoding: typed.prefix(4) + [UInt8(ascii: "-")] + typed.dropFirst(4), as: UTF8.self)
  }
}
