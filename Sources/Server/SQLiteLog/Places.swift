/// The encoding of ascending journal positions in an index row: the first position, then the
/// differences, each in LEB128 (seven bits per byte).
enum Places {
  static func append(_ value: Int64, to bytes: inout [UInt8]) {
    var rest = UInt64(bitPattern: value)
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  static func encode(_ positions: [Int64]) -> [UInt8] {
    var bytes: [UInt8] = []
    var previous: Int64 = 0
    for position in positions {
      append(position - previous, to: &bytes)
      previous = position
    }
    return bytes
  }

  /// Returns the positions in order; fewer if the bytes are damaged.
  static func decode(_ bytes: UnsafeRawBufferPointer) -> [Int64] {
    var positions: [Int64] = []
    var position: Int64 = 0
    var value: UInt64 = 0
    var shift: UInt64 = 0
    for index in 0..<bytes.count {
      let byte = unsafe bytes[index]
      value |= UInt64(byte & 0x7F) << shift
      shift += 7
      if byte & 0x80 != 0 { continue }
      position &+= Int64(bitPattern: value)
      positions.append(position)
      (value, shift) = (0, 0)
    }
    return positions
  }
}
