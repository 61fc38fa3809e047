internal import COpenSSL

/// The digest of bytes that come piece by piece, by OpenSSL.
@safe public struct DigestStream: ~Copyable {
  public enum Algorithm: Sendable {
    case sha1
    case sha256
  }

  private let context: OpaquePointer?

  public init(_ algorithm: Algorithm = .sha256) {
    unsafe context = EVP_MD_CTX_new()
    unsafe EVP_DigestInit_ex(context, algorithm == .sha1 ? EVP_sha1() : EVP_sha256(), nil)
  }

  deinit { unsafe EVP_MD_CTX_free(context) }

  /// Adds the first bytes of a piece.
  public mutating func add(_ piece: [UInt8], count: Int) {
    unsafe EVP_DigestUpdate(context, piece, count)
  }

  /// Returns the bytes of the digest.
  public consuming func finish() -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    unsafe EVP_DigestFinal_ex(context, &digest, &count)
    return Array(digest[..<Int(count)])
  }
}
