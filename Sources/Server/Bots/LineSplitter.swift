/// Splits a stream of bytes into lines; lines beyond the limit are dropped.
struct LineSplitter: Sendable {
  private let limitBytes: Int
  private var lines: ArraySlice<[UInt8]> = []
  private var rest: [UInt8] = []
  private var isTooLong = false

  init(limitBytes: Int) { self.limitBytes = limitBytes }

  mutating func append(_ bytes: RawSpan) {
    for offset in 0..<bytes.byteCount {
      let byte = unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
      if byte == 0x0A {
        if !isTooLong, !rest.isEmpty { lines.append(rest) }
        rest = []
        isTooLong = false
      } else if rest.count < limitBytes {
        rest.append(byte)
      } else {
        isTooLong = true
      }
    }
  }

  /// Returns the next complete line, without its line break; skips empty lines.
  mutating func next() -> [UInt8]? { lines.popFirst() }
}
