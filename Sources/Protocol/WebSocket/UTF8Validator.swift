/// Validates UTF-8 (RFC 3629) incrementally, and fails at the first byte that cannot occur there:
/// the first or second byte of a sequence already shows overlong forms, surrogates and values
/// beyond U+10FFFF.
public struct UTF8Validator: Equatable, Sendable {
  /// The number of continuation bytes missing in the incomplete sequence.
  private var missing: UInt8 = 0
  /// The range of the next one. Only the second byte of a sequence ever has a smaller range than
  /// this.
  private var lowest: UInt8 = 0x80
  private var highest: UInt8 = 0xBF

  /// Creates a validator at the beginning of a text.
  public init() {}

  /// Whether the text so far ends at the end of a sequence.
  public var isComplete: Bool { missing == 0 }

  /// Validates the next part of the text; returns `false` as soon as it cannot become valid.
  ///
  /// After `false` the validator must not be used any more.
  public mutating func accept(_ bytes: Span<UInt8>) -> Bool {
    var index = 0
    let count = bytes.count
    while index < count {
      if missing == 0 {
        index = Self.afterASCII(bytes, from: index)
        guard index < count else { return true }
        guard begin(bytes[index]) else { return false }
      } else {
        let byte = bytes[index]
        guard lowest <= byte, byte <= highest else { return false }
        missing &-= 1
        (lowest, highest) = (0x80, 0xBF)
      }
      index &+= 1
    }
    return true
  }

  /// Handles the first byte of a sequence that is not ASCII, which determines the number of
  /// following bytes and the range of the second (RFC 3629 §4).
  private mutating func begin(_ byte: UInt8) -> Bool {
    switch byte {
    case 0xC2...0xDF: missing = 1
    case 0xE0: (missing, lowest) = (2, 0xA0)  // less would be overlong
    case 0xED: (missing, highest) = (2, 0x9F)  // more would be a surrogate
    case 0xE1...0xEF: missing = 2
    case 0xF0: (missing, lowest) = (3, 0x90)  // less would be overlong
    case 0xF1...0xF3: missing = 3
    case 0xF4: (missing, highest) = (3, 0x8F)  // more would be beyond U+10FFFF
    default: return false
    }
    return true
  }

  /// Returns the index of the first byte from `start` on that is not ASCII; `count` if all are.
  private static func afterASCII(_ bytes: Span<UInt8>, from start: Int) -> Int {
    let raw = unsafe bytes.bytes
    var index = start
    // Four words at a time, while all of them are ASCII.
    while index &+ 32 <= raw.byteCount {
      let a = unsafe raw.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
      let b = unsafe raw.unsafeLoadUnaligned(fromByteOffset: index &+ 8, as: UInt64.self)
      let c = unsafe raw.unsafeLoadUnaligned(fromByteOffset: index &+ 16, as: UInt64.self)
      let d = unsafe raw.unsafeLoadUnaligned(fromByteOffset: index &+ 24, as: UInt64.self)
      guard (a | b | c | d) & 0x8080_8080_8080_8080 == 0 else { break }
      index &+= 32
    }
    while index &+ 8 <= raw.byteCount {
      let word = unsafe raw.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
      let high = word.littleEndian & 0x8080_8080_8080_8080
      if high != 0 { return index &+ high.trailingZeroBitCount / 8 }
      index &+= 8
    }
    while index < bytes.count, bytes[index] < 0x80 { index &+= 1 }
    return index
  }
}
