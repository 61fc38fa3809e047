/// The common part of requests and responses (RFC 9112 §2.1): a first line, and header fields up to
/// a blank line.
struct HTTPHead {
  let firstLine: String
  let headers: HTTPHeaders
  /// In bytes, including the blank line.
  let length: Int

  /// Reads the head at the beginning of `bytes`; returns `nil` until its blank line has arrived.
  /// - Parameter scanner: has looked at the first of these bytes, or at none of them.
  static func read(
    _ bytes: Span<UInt8>, limits: HTTPHeadScanner.Limits, _ scanner: inout HTTPHeadScanner
  ) throws(HTTPViolation) -> HTTPHead? {
    guard let length = try scanner.scan(bytes, limits: limits) else { return nil }
    return HTTPHead(scanned: bytes.extracting(..<length))
  }

  /// Reads a whole head that a scanner has checked.
  private init(scanned bytes: Span<UInt8>) {
    var end = 0
    while bytes[end] != UInt8(ascii: "\r") { end += 1 }
    firstLine = String(decoding: bytes.extracting(..<end))
    headers = HTTPHeaders(scanned: bytes, from: end + 2)
    length = bytes.count
  }
}
