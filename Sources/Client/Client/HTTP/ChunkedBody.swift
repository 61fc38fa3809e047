/// The body of an answer in chunks (RFC 9112 §7.1), as proxies in front of a relay may send it.
enum ChunkedBody {
  /// Returns the body that the bytes have; `nil` if they are not one that is complete.
  /// - Throws: `RelayRequest.Failure.tooLong`, before a chunk is taken that is too long.
  static func decode(
    _ bytes: ArraySlice<UInt8>, limitBytes: Int
  ) throws(RelayRequest.Failure) -> [UInt8]? {
    var rest = bytes
    var body: [UInt8] = []
    while let line = takeLine(&rest) {
      // An extension, which is ignored, follows a semicolon.
      let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 && $0 != 0x09 }
      guard !digits.isEmpty, digits.allSatisfy(isHexDigit) else { return nil }
      let text = String(decoding: digits.drop { $0 == UInt8(ascii: "0") }, as: UTF8.self)
      if text.isEmpty { return isEnd(rest) ? body : nil }
      guard let count = Int(text, radix: 16), count <= limitBytes - body.count else {
        throw .tooLong(limitBytes: limitBytes)
      }
      guard rest.count >= count else { return nil }
      body += rest.prefix(count)
      rest = rest.dropFirst(count)
      guard let end = takeLine(&rest), end.isEmpty else { return nil }
    }
    return nil
  }

  /// Whether the rest is trailers, which are ignored, and the empty line that ends them.
  private static func isEnd(_ bytes: ArraySlice<UInt8>) -> Bool {
    var rest = bytes
    while let line = takeLine(&rest) {
      if line.isEmpty { return rest.isEmpty }
    }
    return false
  }

  /// Takes a line that ends with CRLF; returns it without that.
  private static func takeLine(_ bytes: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard let feed = bytes.firstIndex(of: 0x0A), feed > bytes.startIndex, bytes[feed - 1] == 0x0D
    else { return nil }
    defer { bytes = bytes[(feed + 1)...] }
    return bytes[..<(feed - 1)]
  }

  private static func isHexDigit(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (65...70).contains(byte) || (97...102).contains(byte)
  }
}
