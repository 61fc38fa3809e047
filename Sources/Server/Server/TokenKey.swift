internal import COpenSSL
internal import RelayConfiguration
internal import TLS

/// The key that verifies tokens, and the only accepted algorithm (RFC 7518 §3), which is determined
/// by the kind of the key: the token does not choose it (RFC 8725 §3.1).
struct TokenKey: Sendable {
  enum Algorithm: String, Sendable {
    /// HMAC with SHA-256, with a secret shared by the issuer and the relay.
    case hs256 = "HS256"
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case rs256 = "RS256"
    /// ECDSA on P-256 with SHA-256.
    case es256 = "ES256"
  }

  /// RFC 7518 §3.3 requires at least 2048 bits; the maximum limits the cost of verifying a forgery.
  static let rsaBits: ClosedRange<Int32> = 2048...8192

  let algorithm: Algorithm
  /// The secret, or the public key as PEM.
  let bytes: [UInt8]

  init(secret: String) {
    algorithm = .hs256
    bytes = Array(secret.utf8)
  }

  /// - Parameter publicKey: PEM, or the path of a PEM file, which is read with blocking calls.
  init(publicKey: String) throws(ServerError) {
    let source =
      ConfigurationRules.isPEM(publicKey) ? "auth.public_key" : "auth.public_key (\(publicKey))"
    if ConfigurationRules.isPEM(publicKey) {
      bytes = Array(publicKey.utf8)
    } else {
      do throws(ConfigurationFile.Failure) {
        bytes = try ConfigurationFile.read(publicKey)
      } catch {
        throw ServerError("\(source) \(error.found); \(error.expected), or give the PEM itself.")
      }
    }
    algorithm = try Self.algorithm(of: bytes, source)
  }

  private static func algorithm(
    of pem: [UInt8], _ source: String
  ) throws(ServerError) -> Algorithm {
    // Errors queued here must not be attributed to a TLS connection on this thread.
    defer { ERR_clear_error() }
    if String(decoding: pem, as: UTF8.self).contains("PRIVATE KEY-----") {
      throw ServerError(
        "\(source) is a private key, which the relay must not have. Use the output of "
          + "\"openssl pkey -in KEY -pubout\".")
    }
    let bio = unsafe BIO_new_mem_buf(pem, Int32(pem.count))
    defer { unsafe BIO_free(bio) }
    guard let key = unsafe PEM_read_bio_PUBKEY(bio, nil, nil, nil) else {
      throw ServerError(
        "\(source) is not a public key in PEM: expected \"-----BEGIN PUBLIC KEY-----\", as "
          + "\"openssl pkey -pubout\" prints it.")
    }
    defer { unsafe EVP_PKEY_free(key) }
    let labels = PEM.labels(in: pem)
    guard labels.count == 1 else {
      throw ServerError(
        "\(source) holds \(labels.count) blocks (\(labels.joined(separator: ", "))), and one key "
          + "verifies tokens; keep only that.")
    }
    let bits = unsafe EVP_PKEY_get_bits(key)
    switch unsafe EVP_PKEY_get_base_id(key) {
    case EVP_PKEY_RSA:
      guard rsaBits.contains(bits) else {
        throw ServerError(
          "\(source) is an RSA key of \(bits) bits; \(rsaBits.lowerBound) to "
            + "\(rsaBits.upperBound) are supported. Create one with \"openssl genrsa 3072\".")
      }
      return .rs256
    case EVP_PKEY_EC:
      guard unsafe isP256(key) else {
        throw ServerError(
          "\(source) is not on the curve P-256, which ES256 requires. Create one with "
            + "\"openssl ecparam -name prime256v1 -genkey\".")
      }
      return .es256
    default:
      throw ServerError(
        "\(source) is neither an RSA key (RS256) nor one on the curve P-256 (ES256).")
    }
  }

  // MARK: Verifying

  /// Whether a signature is by this key (RFC 7518 §3.2 to §3.4).
  func verify(_ signature: [UInt8], of content: [UInt8]) -> Bool {
    switch algorithm {
    case .hs256:
      var code = [UInt8](repeating: 0, count: 32)
      guard
        unsafe HMAC(EVP_sha256(), bytes, Int32(bytes.count), content, content.count, &code, nil)
          != nil
      else { return false }
      guard signature.count == code.count else { return false }
      return unsafe CRYPTO_memcmp(signature, code, code.count) == 0
    case .rs256: return verifyByPublicKey(signature, of: content)
    case .es256:
      return Self.encoded(signature).map { verifyByPublicKey($0, of: content) } ?? false
    }
  }

  private func verifyByPublicKey(_ signature: [UInt8], of content: [UInt8]) -> Bool {
    let bio = unsafe BIO_new_mem_buf(bytes, Int32(bytes.count))
    defer { unsafe BIO_free(bio) }
    let key = unsafe PEM_read_bio_PUBKEY(bio, nil, nil, nil)
    defer { unsafe EVP_PKEY_free(key) }
    let context = unsafe EVP_MD_CTX_new()
    defer { unsafe EVP_MD_CTX_free(context) }
    return unsafe EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1
      && EVP_DigestVerify(context, signature, signature.count, content, content.count) == 1
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

  private static func isP256(_ key: OpaquePointer) -> Bool {
    var name = [CChar](repeating: 0, count: 64)
    var length = 0
    guard unsafe EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1 else { return false }
    return String(decoding: name.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
      == "prime256v1"
  }
}
