/// The common part of requests and responses (RFC 9112 §2.1): a first line, and header fields up to
/// a blank line.
struct HTTPHead {
  let firstLine: String
  let headers: HTTPHeaders
  /// In bytes, including the blank line.
  let length: Int

  /// Reads the head at the beginning of `bytes`; returns `nil` until its blank line has arrived.
  ///
  /// A violation is reported as soon as the line that shows it has arrived, and does not depend on
  /// how the bytes were split. Lines end with CRLF: RFC 9112 §2.2 permits a recipient to accept a
  /// bare LF too, but that is one of the ways in which two parsers disagree.
  /// - Parameter limitBytes: the maximum length of the head; 0 = no limit.
  static func read(_ bytes: Span<UInt8>, limitBytes: Int) throws(HTTPViolation) -> HTTPHead? {
    let end = limitBytes == 0 ? bytes.count : min(bytes.count, limitBytes)
    var firstLine: String?
    var headers = HTTPHeaders()
    var start = 0
    while let lineEnd = try endOfLine(in: bytes, start..<end) {
      let line = String(decoding: bytes.extracting(start..<lineEnd))
      start = lineEnd + 2
      if firstLine == nil {
        firstLine = line
      } else if !line.isEmpty {
        try append(line, to: &headers)
      } else if let firstLine {
        return HTTPHead(firstLine: firstLine, headers: headers, length: start)
      }
    }
    guard limitBytes == 0 || end < limitBytes else {
      throw firstLine == nil
        ? .requestLineTooLong(limitBytes: limitBytes) : .headerTooLong(limitBytes: limitBytes)
    }
    return nil
  }

  /// Returns the index of the CRLF that ends the line; `nil` if it has not arrived.
  private static func endOfLine(in bytes: Span<UInt8>, _ range: Range<Int>)
    throws(HTTPViolation) -> Int?
  {
    for index in range where !bytes[index].isFieldCharacter {
      guard bytes[index] == UInt8(ascii: "\r") else { throw .controlCharacter(bytes[index]) }
      guard index + 1 < range.upperBound else { return nil }
      guard bytes[index + 1] == UInt8(ascii: "\n") else { throw .controlCharacter(bytes[index]) }
      return index
    }
    return nil
  }

  private static func append(_ line: String, to headers: inout HTTPHeaders)
    throws(HTTPViolation)
  {
    let utf8 = line.utf8
    guard let first = utf8.first, !first.isBlank else { throw .headerFolded }
    guard let colon = utf8.firstIndex(of: UInt8(ascii: ":")) else { throw .headerMalformed }
    let name = String(line[..<colon])
    guard HTTPHeaders.isName(name) else { throw .headerMalformed }
    headers.append(name, String(Substring(line[colon...].utf8.dropFirst().trimmed)))
  }
}
