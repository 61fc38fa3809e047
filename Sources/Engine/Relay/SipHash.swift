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

  mutating func combine(_ value: UInt64) {
    for shift in stride(from: 0 as UInt64, to: 64, by: 8) {
      combine(UInt8(truncatingIfNeeded: value >> shift))
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
