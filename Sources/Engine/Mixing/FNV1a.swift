/// The 64-bit FNV-1a hash (Fowler, Noll and Vo; RFC 9923). Unlike `Hasher` it returns the same
/// value in every run. Collisions are easy to construct, so do not use it for input from a sender
/// who gains from one.
public struct FNV1a: Sendable {
  /// The hash of no bytes.
  public static let offsetBasis: UInt64 = 0xCBF2_9CE4_8422_2325

  /// The hash of the bytes so far.
  public private(set) var value: UInt64

  /// - Parameter value: the hash of the bytes before, or another value to begin with.
  public init(_ value: UInt64 = offsetBasis) { self.value = value }

  public mutating func combine(_ byte: UInt8) {
    value = (value ^ UInt64(byte)) &* 0x100_0000_01B3
  }

  public mutating func combine(_ bytes: Span<UInt8>) {
    for index in bytes.indices { combine(bytes[index]) }
  }

  /// Returns the hash of the bytes.
  /// - Parameter value: as in `init`.
  public static func hash(_ bytes: Span<UInt8>, from value: UInt64 = offsetBasis) -> UInt64 {
    var hash = FNV1a(value)
    hash.combine(bytes)
    return hash.value
  }

  /// Returns the hash of the text's UTF-8.
  public static func hash(_ text: String, from value: UInt64 = offsetBasis) -> UInt64 {
    hash(text.utf8.span, from: value)
  }
}
