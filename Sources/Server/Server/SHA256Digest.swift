internal import COpenSSL

/// SHA-256 (FIPS 180-4), by OpenSSL.
enum SHA256Digest {
  /// Returns the 32 bytes of the digest.
  static func of(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    _ = unsafe SHA256(bytes, bytes.count, &digest)
    return digest
  }
}
