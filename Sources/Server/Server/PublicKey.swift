internal import COpenSSL
internal import TLS

/// A public key as OpenSSL has parsed it: once, because reading PEM takes longer than verifying a
/// signature. Threads may share it; OpenSSL counts the references.
@safe final class PublicKey: Sendable {
  enum Kind: Equatable {
    case rsa(bits: Int32)
    case p256
    case otherCurve
    case other
  }

  // Only read after its initialization.
  private nonisolated(unsafe) let key: OpaquePointer
  let kind: Kind

  private init(owning key: OpaquePointer) {
    unsafe self.key = unsafe key
    kind =
      switch unsafe EVP_PKEY_get_base_id(key) {
      case EVP_PKEY_RSA: .rsa(bits: unsafe EVP_PKEY_get_bits(key))
      case EVP_PKEY_EC: unsafe Self.isP256(key) ? .p256 : .otherCurve
      default: .other
      }
  }

  deinit { unsafe EVP_PKEY_free(key) }

  /// Reads the first block of PEM (RFC 7468 §13); `nil` if it is not a public key.
  convenience init?(pem: [UInt8]) {
    // Errors queued here must not be attributed to a TLS connection on this thread.
    defer { ERR_clear_error() }
    let bio = unsafe BIO_new_mem_buf(pem, Int32(pem.count))
    defer { unsafe BIO_free(bio) }
    guard let key = unsafe PEM_read_bio_PUBKEY(bio, nil, nil, nil) else { return nil }
    unsafe self.init(owning: key)
  }

  /// Reads a SubjectPublicKeyInfo (RFC 5280 §4.1.2.7); `nil` if it is none, or has a point that is not
  /// on its curve.
  convenience init?(der: [UInt8]) {
    defer { ERR_clear_error() }
    let key = unsafe der.withUnsafeBufferPointer { bytes in
      var at = bytes.baseAddress
      return unsafe d2i_PUBKEY(nil, &at, bytes.count)
    }
    guard let key = unsafe key else { return nil }
    unsafe self.init(owning: key)
  }

  /// The key as a SubjectPublicKeyInfo, which is the same for the same key, however it was written.
  var der: [UInt8] {
    defer { ERR_clear_error() }
    var bytes = [UInt8](repeating: 0, count: Int(max(0, unsafe i2d_PUBKEY(key, nil))))
    unsafe bytes.withUnsafeMutableBufferPointer { buffer in
      var end = buffer.baseAddress
      _ = unsafe i2d_PUBKEY(key, &end)
    }
    return bytes
  }

  /// Whether the numbers of the key can be those of a key: with the exponent 1, for example, anyone could
  /// sign.
  var isSound: Bool {
    defer { ERR_clear_error() }
    let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key, nil)
    defer { unsafe EVP_PKEY_CTX_free(context) }
    return unsafe EVP_PKEY_public_check(context) == 1
  }

  /// Whether a signature, of RSASSA-PKCS1-v1_5 or of ECDSA in DER, with SHA-256, is by this key.
  func verify(_ signature: [UInt8], of content: [UInt8]) -> Bool {
    let context = unsafe EVP_MD_CTX_new()
    defer { unsafe EVP_MD_CTX_free(context) }
    return unsafe EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1
      && EVP_DigestVerify(context, signature, signature.count, content, content.count) == 1
  }

  private static func isP256(_ key: OpaquePointer) -> Bool {
    var name = [CChar](repeating: 0, count: 64)
    var length = 0
    guard unsafe EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1 else { return false }
    return String(decoding: name.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
      == "prime256v1"
  }
}
