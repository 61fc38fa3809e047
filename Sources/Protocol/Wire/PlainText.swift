/// Processes text eight bytes at a time, because nearly all of a message only has to be skipped.
extension Span where Element == UInt8 {
  /// Returns the index of the first byte from `start` on that a JSON string may not contain
  /// unescaped (RFC 8259 §7): a quote, a backslash or a control character; `count` if there is
  /// none.
  func plainEnd(from start: Int) -> Int {
    let raw: RawSpan = unsafe bytes
    var index = start
    while index &+ 8 <= raw.byteCount {
      let word = EightBytes(
        unsafe raw.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
      let found = word.special
      if found != 0 { return index &+ found.trailingZeroBitCount / 8 }
      index &+= 8
    }
    while index < count, self[index].isPlain { index &+= 1 }
    return index
  }

  /// Returns whether eight bytes from `index` on are all ASCII without control characters, and if
  /// so, whether they are all blanks.
  func plainWord(at index: Int) -> (isPlain: Bool, isBlank: Bool) {
    let raw: RawSpan = unsafe bytes
    guard index &+ 8 <= raw.byteCount else { return (false, false) }
    let word = EightBytes(unsafe raw.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
    return (word.highBits | word.hasControls | word.has(0x7F) == 0, word.isBlank)
  }
}

extension OutputSpan where Element == UInt8 {
  /// Appends a text up to the first byte that a JSON string may not contain unescaped.
  /// - Returns: the number of bytes appended.
  mutating func append(plainStartOf text: Span<UInt8>) -> Int {
    let raw: RawSpan = unsafe text.bytes
    let length = raw.byteCount
    return unsafe withUnsafeMutableBufferPointer { buffer, count in
      precondition(length <= buffer.count - count, "the caller has reserved enough")
      guard length > 0, let start = buffer.baseAddress else { return 0 }
      let target = unsafe UnsafeMutableRawPointer(start + count)
      var index = 0
      while index < length {
        // The last word overlaps the one before it.
        let place = min(index, length &- 8)
        guard place >= 0 else { break }
        let word = unsafe raw.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self)
        guard EightBytes(word).special == 0 else { break }
        unsafe target.storeBytes(of: word, toByteOffset: place, as: UInt64.self)
        index = place &+ 8
      }
      while index < length {
        let byte = text[index]
        guard byte.isPlain else { break }
        unsafe target.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
        index &+= 1
      }
      count += index
      return index
    }
  }
}

extension UInt8 {
  /// Whether a JSON string may contain the byte unescaped (RFC 8259 §7).
  fileprivate var isPlain: Bool {
    self >= 0x20 && self != UInt8(ascii: "\"") && self != UInt8(ascii: "\\")
  }
}

/// Eight bytes in a word, with tests of all of them at once (Warren, "Hacker's Delight", §6–1). A
/// result has the highest bit of each matching byte set; only the lowest of these is reliable.
private struct EightBytes {
  private let word: UInt64
  private static let ones: UInt64 = 0x0101_0101_0101_0101
  private static let highs: UInt64 = 0x8080_8080_8080_8080

  /// Creates a value whose lowest byte is the first in memory.
  init(_ loaded: UInt64) { word = loaded.littleEndian }

  func has(_ byte: UInt8) -> UInt64 {
    let difference = word ^ Self.ones &* UInt64(byte)
    return (difference &- Self.ones) & ~difference & Self.highs
  }

  /// Marks the bytes that a JSON string may not contain unescaped.
  var special: UInt64 { has(UInt8(ascii: "\"")) | has(UInt8(ascii: "\\")) | hasControls }

  /// Marks the bytes below 0x20.
  var hasControls: UInt64 { (word &- Self.ones &* 0x20) & ~word & Self.highs }
  var highBits: UInt64 { word & Self.highs }
  var isBlank: Bool { word == Self.ones &* 0x20 }
}
