/// Finds the end of a head (RFC 9112 §2.1) in bytes that arrive in parts. Each byte is looked at once,
/// however the bytes are split, and each line is checked when its end has arrived.
public struct HTTPHeadScanner: Equatable, Sendable {
  /// The limits of a head; 0 = no limit.
  public struct Limits: Equatable, Sendable {
    /// The length of the head, including the blank line.
    public var bytes: Int
    /// The number of header lines.
    public var lines: Int

    /// Creates the limits of a head.
    public init(bytes: Int, lines: Int = 0) {
      self.bytes = bytes
      self.lines = lines
    }
  }

  /// The number of bytes that were looked at.
  public private(set) var scannedBytes = 0
  private var lineStart = 0
  private var lines = 0

  /// Creates a scanner at the beginning of a head.
  public init() {}

  /// Continues where the last call stopped.
  ///
  /// Lines end with CRLF: RFC 9112 §2.2 permits a recipient to accept a bare LF too, but that is one
  /// of the ways in which two parsers disagree.
  /// - Parameter bytes: all bytes since the beginning of the head: those of the last call, and further
  ///   ones.
  /// - Returns: the length of the head with its blank line; `nil` until that has arrived.
  /// - Throws: a violation, as soon as the line that shows it has arrived; the scanner cannot be used
  ///   afterwards.
  public mutating func scan(_ bytes: Span<UInt8>, limits: Limits) throws(HTTPViolation) -> Int? {
    let end = limits.bytes == 0 ? bytes.count : min(bytes.count, limits.bytes)
    while scannedBytes < end {
      let byte = bytes[scannedBytes]
      if byte.isFieldCharacter {
        scannedBytes += 1
        continue
      }
      guard byte == UInt8(ascii: "\r") else { throw .controlCharacter(byte) }
      guard scannedBytes + 1 < end else { break }
      guard bytes[scannedBytes + 1] == UInt8(ascii: "\n") else { throw .controlCharacter(byte) }
      let line = lineStart..<scannedBytes
      scannedBytes += 2
      lineStart = scannedBytes
      if lines > 0, line.isEmpty { return scannedBytes }
      if lines > 0 { try Self.checkField(bytes.extracting(line)) }
      guard limits.lines == 0 || lines <= limits.lines else {
        throw .tooManyLines(limit: limits.lines)
      }
      lines += 1
    }
    guard limits.bytes == 0 || end < limits.bytes else {
      throw lines == 0
        ? .requestLineTooLong(limitBytes: limits.bytes) : .headerTooLong(limitBytes: limits.bytes)
    }
    return nil
  }

  /// Checks the form of a header field (RFC 9112 §5): a name, a colon and a value.
  private static func checkField(_ line: Span<UInt8>) throws(HTTPViolation) {
    guard !line[0].isBlank else { throw .headerFolded }
    var colon = 0
    while colon < line.count, line[colon].isTokenCharacter { colon += 1 }
    guard colon > 0, colon < line.count, line[colon] == UInt8(ascii: ":") else {
      throw .headerMalformed
    }
  }
}
