internal import Wire

/// The keys of a JWK Set (RFC 7517) that can verify tokens. Others, such as those for encryption, are
/// skipped: providers publish them beside each other.
struct JSONWebKeySet: Sendable {
  /// Why a document is none, as a predicate with its full stop: "is not ….".
  struct Unusable: Error {
    var found: String
  }

  /// Larger documents are refused unread. Providers publish less than a tenth of both.
  static let documentBytesLimit = 1_048_576
  static let keysLimit = 100
  private static let nameBytesLimit = 256

  private(set) var keys: [NamedTokenKey] = []
  /// What was skipped and why, as sentences for the operator.
  private(set) var notes: [String] = []

  /// - Parameter allowsSecrets: whether symmetric keys are used. Not if the document is published: all
  ///   who can read it could sign tokens.
  /// - Throws: if it is no set, or has no key that can be used.
  init(_ document: [UInt8], allowsSecrets: Bool) throws(Unusable) {
    guard document.count <= Self.documentBytesLimit else {
      throw Unusable(found: "is longer than \(Self.documentBytesLimit) bytes.")
    }
    guard let elements = JSONNode(document)?["keys"]?.elements else {
      throw Unusable(found: #"is not a JWK Set, a JSON object such as {"keys":[…]}."#)
    }
    guard elements.count <= Self.keysLimit else {
      throw Unusable(found: "has \(elements.count) keys; at most \(Self.keysLimit) are supported.")
    }
    for (index, element) in elements.enumerated() {
      let name = element["kid"]?.string
      do throws(TokenKey.Unsuitable) {
        let key = try Self.key(element, allowsSecrets: allowsSecrets)
        keys.append(NamedTokenKey(name: name, key: key))
      } catch {
        let named = name.map { " (\(DecodedToken.shown($0)))" } ?? ""
        notes.append("Key \(index + 1)\(named) \(error.found).")
      }
    }
    guard !keys.isEmpty else {
      let why = notes.prefix(5).map { " \($0)" }.joined()
      throw Unusable(found: "has no key that verifies tokens.\(why)")
    }
  }

  /// Reads one key (RFC 7517 §4, RFC 7518 §6).
  private static func key(
    _ jwk: JSONNode, allowsSecrets: Bool
  ) throws(TokenKey.Unsuitable) -> TokenKey {
    if let kid = jwk.member("kid"), kid.string.map({ $0.utf8.count <= nameBytesLimit }) != true {
      throw TokenKey.Unsuitable(
        found: "has a kid that is not a string of at most \(nameBytesLimit) bytes")
    }
    if let use = jwk.member("use"), use.string != "sig" {
      throw TokenKey.Unsuitable(found: "is not for signatures (use)")
    }
    if let operations = jwk.member("key_ops"),
      operations.elements?.contains(where: { $0.string == "verify" }) != true
    {
      throw TokenKey.Unsuitable(found: "is not for verifying signatures (key_ops)")
    }
    let key: TokenKey
    switch jwk["kty"]?.string {
    case "RSA":
      try refusePrivate(jwk)
      key = try TokenKey(rsa(try number("n", in: jwk), try number("e", in: jwk)))
    case "EC":
      try refusePrivate(jwk)
      guard jwk["crv"]?.string == "P-256" else {
        throw TokenKey.Unsuitable(found: "is not on the curve P-256 (crv), which ES256 requires")
      }
      key = try TokenKey(p256(try number("x", in: jwk), try number("y", in: jwk)))
    case "oct":
      guard allowsSecrets else {
        throw TokenKey.Unsuitable(
          found: "is a secret, and everyone who can read its URL could sign tokens with it")
      }
      let secret = try number("k", in: jwk)
      guard secret.count >= 32 else {
        throw TokenKey.Unsuitable(found: "is a secret of fewer than 32 bytes")
      }
      key = TokenKey(secret: secret)
    default:
      throw TokenKey.Unsuitable(found: "is of a kind that verifies no tokens (kty)")
    }
    guard jwk.member("alg").map({ $0.string == key.algorithm.rawValue }) ?? true else {
      throw TokenKey.Unsuitable(
        found:
          "is for the algorithm \(DecodedToken.shown(jwk["alg"])); with a key of its kind only "
          + "\(key.algorithm.rawValue) is accepted")
    }
    return key
  }

  private static func refusePrivate(_ jwk: JSONNode) throws(TokenKey.Unsuitable) {
    guard jwk.member("d") == nil else {
      throw TokenKey.Unsuitable(found: "is a private key, which must not be published")
    }
  }

  /// Returns the bytes of a member in base64url.
  private static func number(
    _ name: StaticString, in jwk: JSONNode
  ) throws(TokenKey.Unsuitable) -> [UInt8] {
    guard let text = jwk[name]?.string, let bytes = DecodedToken.decode(Substring(text).utf8) else {
      throw TokenKey.Unsuitable(found: "lacks \(name), in base64url")
    }
    return bytes
  }

  // MARK: - DER

  /// An RSA key (RFC 8017 §A.1.1).
  private static func rsa(
    _ modulus: [UInt8], _ exponent: [UInt8]
  ) throws(TokenKey.Unsuitable) -> PublicKey {
    // rsaEncryption, without parameters
    let algorithm: [UInt8] = [
      0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
    ]
    let numbers = der(0x30, integer(modulus) + integer(exponent))
    return try parsed(der(0x30, algorithm + der(0x03, [0] + numbers)))
  }

  /// A key on P-256 (RFC 5480 §2), whose point is not compressed.
  private static func p256(
    _ x: [UInt8], _ y: [UInt8]
  ) throws(TokenKey.Unsuitable) -> PublicKey {
    guard x.count == 32, y.count == 32 else {
      throw TokenKey.Unsuitable(found: "has coordinates that are not of 32 bytes")
    }
    // id-ecPublicKey, prime256v1
    let algorithm: [UInt8] = [
      0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86,
      0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07,
    ]
    return try parsed(der(0x30, algorithm + der(0x03, [0, 4] + x + y)))
  }

  private static func parsed(_ bytes: [UInt8]) throws(TokenKey.Unsuitable) -> PublicKey {
    guard let key = PublicKey(der: bytes) else {
      throw TokenKey.Unsuitable(found: "has numbers that no such key has")
    }
    return key
  }

  /// An unsigned number; leading zeros are left out, and one is added where the first bit is set.
  private static func integer(_ bytes: [UInt8]) -> [UInt8] {
    let digits = Array(bytes.drop { $0 == 0 })
    return der(0x02, digits.first.map { $0 < 0x80 } == true ? digits : [0] + digits)
  }

  /// A value with its tag and length (X.690 §8.1).
  private static func der(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    guard content.count >= 0x80 else { return [tag, UInt8(content.count)] + content }
    var length: [UInt8] = []
    var rest = content.count
    while rest > 0 {
      length.insert(UInt8(rest & 0xFF), at: 0)
      rest >>= 8
    }
    return [tag, 0x80 | UInt8(length.count)] + length + content
  }
}
