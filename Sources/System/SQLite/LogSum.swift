/// The sum that the frames of a write-ahead log have, each of all before it
/// (<https://sqlite.org/fileformat2.html#checksum_algorithm>).
struct LogSum {
  let isBigEndian: Bool
  private var first: UInt32 = 0
  private var second: UInt32 = 0

  init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

  mutating func add(_ bytes: ArraySlice<UInt8>) {
    unsafe bytes.withUnsafeBytes { bytes in
      for place in stride(from: 0, to: bytes.count & ~7, by: 8) {
        first = unsafe first &+ word(bytes, place) &+ second
        second = unsafe second &+ word(bytes, place + 4) &+ first
      }
    }
  }

  private func word(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> UInt32 {
    let word = unsafe bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)
    return isBigEndian ? UInt32(bigEndian: word) : UInt32(littleEndian: word)
  }

  func isStored(in bytes: [UInt8], at place: Int) -> Bool {
    first == Self.word(bytes, place) && second == Self.word(bytes, place + 4)
  }

  /// Continues with a stored sum.
  mutating func resume(from bytes: [UInt8], at place: Int) {
    (first, second) = (Self.word(bytes, place), Self.word(bytes, place + 4))
  }

  /// The big-endian word at a place of a header.
  static func word(_ bytes: [UInt8], _ place: Int) -> UInt32 {
    bytes[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }
}
