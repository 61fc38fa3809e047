/// Splits a stream of bytes into numbered lines.
public struct LineSplitter: Sendable {
  /// A line.
  public enum Line: Equatable, Sendable {
    /// Without its line break, LF or CR LF.
    case bytes([UInt8])
    /// A line beyond the limit, whose bytes were discarded.
    case tooLong
  }

  private let limitBytes: Int
  private var lines: ArraySlice<Line> = []
  private var partial: [UInt8] = []
  private var isTooLong = false
  /// The number of the line that `next` has returned last, from 1.
  public private(set) var number = 0

  /// Creates a splitter for lines of at most this many bytes.
  public init(limitBytes: Int) { self.limitBytes = limitBytes }

  /// Takes the next bytes of the stream.
  public mutating func append(_ bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { bytes in
      var rest = unsafe bytes[...]
      while let end = unsafe rest.firstIndex(of: UInt8(ascii: "\n")) {
        unsafe keep(rest[..<end])
        endLine()
        unsafe rest = rest[(end + 1)...]
      }
      unsafe keep(rest)
    }
  }

  /// Ends the stream: bytes after the last line break are a line, too.
  public mutating func finish() {
    if !partial.isEmpty || isTooLong { endLine() }
  }

  /// Returns the next complete line.
  public mutating func next() -> Line? {
    guard let line = lines.popFirst() else { return nil }
    number += 1
    return line
  }

  private mutating func keep(_ bytes: Slice<UnsafeRawBufferPointer>) {
    if isTooLong { return }
    isTooLong = unsafe partial.count + bytes.count > limitBytes
    if isTooLong { partial = [] } else { unsafe partial.append(contentsOf: bytes) }
  }

  private mutating func endLine() {
    if partial.last == UInt8(ascii: "\r") { partial.removeLast() }
    lines.append(isTooLong ? .tooLong : .bytes(partial))
    partial = []
    isTooLong = false
  }
}
