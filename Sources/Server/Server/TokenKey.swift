internal import COpenSSL
internal import RelayConfiguration
internal import TLS

/// A key that verifies tokens, and the only algorithm that is accepted with it (RFC 7518 §3), which is
/// determined by the kind of the key: the token does not choose it (RFC 8725 §3.1).
struct TokenKey: Sendable {
  enum Algorithm: String, Sendable {
    /// HMAC with SHA-256, with a secret shared by the issuer and the relay.
    case hs256 = "HS256"
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case rs256 = "RS256"
    /// ECDSA on P-256 with SHA-256.
    case es256 = "ES256"
  }

  /// Why a key cannot be used, and what to do.
  struct Unsuitable: Error {
    /// A predicate: "is an RSA key of 1024 bits; …".
    var found: String
    /// A sentence after a space, or empty.
    var remedy = ""
  }

  /// RFC 7518 §3.3 requires at least 2048 bits; the maximum limits the cost of verifying a forgery.
  static let rsaBits: ClosedRange<Int32> = 2048...8192

  private enum Material: Sendable {
    case secret([UInt8])
    case publicKey(PublicKey)
  }

  let algorithm: Algorithm
  /// Tells keys apart, whatever they are called: a SHA-256 over the algorithm and the key.
  let thumbprint: [UInt8]
  private let material: Material

  init(secret: String) { self.init(secret: Array(secret.utf8)) }

  init(secret: [UInt8]) { self.init(.hs256, .secret(secret), identifiedBy: secret) }

  init(_ key: PublicKey) throws(Unsuitable) {
    let algorithm: Algorithm
    switch key.kind {
    case .rsa(let bits):
      guard Self.rsaBits.contains(bits) else {
        throw Unsuitable(
          found: "is an RSA key of \(bits) bits; \(Self.rsaBits.lowerBound) to "
            + "\(Self.rsaBits.upperBound) are supported",
          remedy: " Create one with \"openssl genrsa 3072\".")
      }
      algorithm = .rs256
    case .p256: algorithm = .es256
    case .otherCurve:
      throw Unsuitable(
        found: "is not on the curve P-256, which ES256 requires",
        remedy: " Create one with \"openssl ecparam -name prime256v1 -genkey\".")
    case .other:
      throw Unsuitable(found: "is neither an RSA key (RS256) nor one on the curve P-256 (ES256)")
    }
    guard key.isSound else {
      throw Unsuitable(found: "has numbers that no \(algorithm.rawValue) key has")
    }
    self.init(algorithm, .publicKey(key), identifiedBy: key.der)
  }

  private init(_ algorithm: Algorithm, _ material: Material, identifiedBy bytes: [UInt8]) {
    self.algorithm = algorithm
    self.material = material
    thumbprint = SHA256Digest.of(Array(algorithm.rawValue.utf8) + bytes)
  }

  /// - Parameters:
  ///   - publicKey: PEM, or the path of a PEM file, which is read with blocking calls.
  ///   - name: where it is set, for messages.
  init(publicKey: String, named name: String = "auth.public_key") throws(ServerError) {
    let isPEM = ConfigurationRules.isPEM(publicKey)
    let source = isPEM ? name : "\(name) (\(publicKey))"
    let pem: [UInt8]
    if isPEM {
      pem = Array(publicKey.utf8)
    } else {
      do throws(ConfigurationFile.Failure) {
        pem = try ConfigurationFile.read(publicKey)
      } catch {
        throw ServerError("\(source) \(error.found); \(error.expected), or give the PEM itself.")
      }
    }
    guard !String(decoding: pem, as: UTF8.self).contains("PRIVATE KEY-----") else {
      throw ServerError(
        "\(source) is a private key, which the relay must not have. Use the output of "
          + "\"openssl pkey -in KEY -pubout\".")
    }
    guard let key = PublicKey(pem: pem) else {
      throw ServerError(
        "\(source) is not a public key in PEM: expected \"-----BEGIN PUBLIC KEY-----\", as "
          + "\"openssl pkey -pubout\" prints it.")
    }
    let labels = PEM.labels(in: pem)
    guard labels.count == 1 else {
      throw ServerError(
        "\(source) holds \(labels.count) blocks (\(labels.joined(separator: ", "))), and one key "
          + "verifies tokens; keep only that.")
    }
    do throws(Unsuitable) {
      try self.init(key)
    } catch {
      throw ServerError("\(source) \(error.found).\(error.remedy)")
    }
  }

  // MARK: Verifying

  /// Whether a signature is by this key (RFC 7518 §3.2 to §3.4).
  func verify(_ signature: [UInt8], of content: [UInt8]) -> Bool {
    switch material {
    case .secret(let secret):
      var code = [UInt8](repeating: 0, count: 32)
      guard
        unsafe HMAC(EVP_sha256(), secret, Int32(secret.count), content, content.count, &code, nil)
          != nil
      else { return false }
      guard signature.count == code.count else { return false }
      return unsafe CRYPTO_memcmp(signature, code, code.count) == 0
    case .publicKey(let key):
      guard algorithm == .es256 else { return key.verify(signature, of: content) }
      return Self.encoded(signature).map { key.verify($0, of: content) } ?? false
    }
  }

  /// Returns the two numbers of an ES256 signature as OpenSSL expects them, in DER.
  private static func encoded(_ signature: [UInt8]) -> [UInt8]? {
    guard signature.count == 64, let pair = unsafe ECDSA_SIG_new() else { return nil }
    defer { unsafe ECDSA_SIG_free(pair) }
    let first = unsafe BN_bin2bn(signature, 32, nil)
    let second = unsafe BN_bin2bn(Array(signature[32...]), 32, nil)
    guard unsafe ECDSA_SIG_set0(pair, first, second) == 1 else { return nil }
    // At most 72 bytes.
    var bytes = [UInt8](repeating: 0, count: 80)
    let count = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
      var end = buffer.baseAddress
      return unsafe i2d_ECDSA_SIG(pair, &end)
    }
    return count > 0 ? Array(bytes.prefix(Int(count))) : nil
  }
}
