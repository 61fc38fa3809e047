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

  /// Returns the 32 bytes of the code that a key gives a text (HMAC, RFC 2104).
  public static func code(of text: String, key: [UInt8]) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: Self.bytes)
    let content = Array(text.utf8)
    _ = unsafe HMAC(
      EVP_sha256(), key, Int32(key.count), content, content.count, &code, nil)
    return code
  }

  /// Returns bytes in lower-case hexadecimal digits.
  public static func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
