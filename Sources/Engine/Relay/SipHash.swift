/// Incremental SipHash-2-4 (Aumasson, Bernstein: "SipHash: a fast short-input PRF", 2012).
struct SipHash {
  private var v0: UInt64
  private var v1: UInt64
  private var v2: UInt64
  private var v3: UInt64
  /// The bytes of the incomplete word, the first lowest.
  private var word: UInt64 = 0
  private var count: UInt64 = 0

  init(_ key: EntryIdentity.Key) {
    v0 = key.low ^ 0x736F_6D65_7073_6575
    v1 = key.high ^ 0x646F_7261_6E64_6F6D
    v2 = key.low ^ 0x6C79_6765_6E65_7261
    v3 = key.high ^ 0x7465_6462_7974_6573
  }

  @inline(__always)
  mutating func combine(_ byte: UInt8) {
    word |= UInt64(byte) << ((count & 7) * 8)
    count &+= 1
    guard count & 7 == 0 else { return }
    compress(word)
    word = 0
  }

  /// Combines eight bytes, the lowest first.
  @inline(__always)
  mutating func combine(_ value: UInt64) {
    let held = (count & 7) * 8
    compress(word | value << held)
    // Nothing of it is left if the word was empty: a shift by 64 gives 0.
    word = value >> (64 - held)
    count &+= 8
  }

  /// Combines a text's UTF-8.
  @inline(__always)
  mutating func combine(_ text: String) {
    let bytes = text.utf8.span
    let raw = unsafe bytes.bytes
    var index = 0
    while index + 8 <= raw.byteCount {
      combine(unsafe raw.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self).littleEndian)
      index += 8
    }
    while index < bytes.count {
      combine(bytes[index])
      index += 1
    }
  }

  consuming func finish() -> UInt64 {
    compress(word | count << 56)
    v2 ^= 0xFF
    for _ in 0..<4 { round() }
    return v0 ^ v1 ^ v2 ^ v3
  }

  @inline(__always)
  private mutating func compress(_ word: UInt64) {
    v3 ^= word
    round()
    round()
    v0 ^= word
  }

  @inline(__always)
  private mutating func round() {
    v0 &+= v1
    v1 = v1 << 13 | v1 >> 51
    v1 ^= v0
    v0 = v0 << 32 | v0 >> 32
    v2 &+= v3
    v3 = v3 << 16 | v3 >> 48
    v3 ^= v2
    v0 &+= v3
    v3 = v3 << 21 | v3 >> 43
    v3 ^= v0
    v2 &+= v1
    v1 = v1 << 17 | v1 >> 47
    v1 ^= v2
    v2 = v2 << 32 | v2 >> 32
  }
}
