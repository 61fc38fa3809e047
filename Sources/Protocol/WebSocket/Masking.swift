/// The masking of client frames (RFC 6455 §5.3): the payload XORed with a repeated key of four
/// bytes. Masking and unmasking are the same.
public enum Masking {
  /// XORs a part of `bytes` with `key`, in place, eight bytes at a time.
  /// - Parameters:
  ///   - key: its first byte on the wire is the lowest, as in ``FrameHeader/maskKey``.
  ///   - phase: the number of bytes of the same payload that precede these.
  public static func apply(
    _ key: UInt32, phase: Int = 0, to bytes: inout MutableSpan<UInt8>, in range: Range<Int>
  ) {
    precondition(0 <= range.lowerBound && range.upperBound <= bytes.count, "out of bounds")
    let shift = UInt32(truncatingIfNeeded: phase & 3) &* 8
    let turned = shift == 0 ? key : key >> shift | key << (32 &- shift)
    let word = (UInt64(turned) << 32 | UInt64(turned)).littleEndian

    unsafe bytes.withUnsafeMutableBytes { buffer in
      let words = range.upperBound &- range.count % 8
      var index = range.lowerBound
      while index < words {
        let value = unsafe buffer.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        unsafe buffer.storeBytes(of: value ^ word, toByteOffset: index, as: UInt64.self)
        index &+= 8
      }
      var rest = turned
      while index < range.upperBound {
        unsafe buffer[index] ^= UInt8(truncatingIfNeeded: rest)
        rest = rest >> 8 | rest << 24
        index &+= 1
      }
    }
  }
}
