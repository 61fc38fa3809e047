internal import COpenSSL

/// SHA-256 (FIPS 180-4), by OpenSSL.
public enum SHA256Digest {
  public static let bytes = 32

  /// Returns the 32 bytes of the digest.
  public static func of(_ bytes: [UInt8]) -> [UInt8] { of(bytes[...]) }

  /// Returns the 32 bytes of the digest.
  public static func of(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: Self.bytes)
    unsafe bytes.withUnsafeBufferPointer {
      _ = unsafe SHA256($0.baseAddress, $0.count, &digest)
    }
    return digest
  }
}
