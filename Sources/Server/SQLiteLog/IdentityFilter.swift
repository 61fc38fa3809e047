internal import Relay

/// A filter that answers "never seen" for most identities that an index segment does not have,
/// without I/O.
///
/// It is a Bloom filter with blocks of one cache line (Putze, Sanders, Singler: "Cache-, Hash- and
/// Space-Efficient Bloom Filters", 2007) and 24 bits per entry. About one lookup in ten thousand is
/// a false positive; then the index segment is queried. A lookup reads one cache line.
struct IdentityFilter: Sendable {
  /// The 40 well-mixed bits of an identity's hash that every representation of it has.
  struct Key: Hashable, Sendable {
    static let bits = 40
    var value: UInt64

    init(_ value: UInt64) { self.value = value }

    init(_ identity: EntryIdentity) { self.init(hash: Tail.IndexSegment.hash(of: identity)) }

    /// - Parameter hash: see `Tail.IndexSegment.hash`.
    init(hash: UInt64) { value = hash >> (64 - UInt64(Self.bits)) }
  }

  /// Entries per block of 512 bits.
  private static let entriesPerBlock = 21
  private static let blockBytes = 64

  /// One cache line each.
  private var blocks: [SIMD8<UInt64>]

  /// - Parameter entries: the number of entries that the filter is sized for.
  init(entries: Int) {
    blocks = Array(repeating: SIMD8(), count: max(1, entries / Self.entriesPerBlock + 1))
  }

  static func bytes(entries: Int) -> Int { (entries / entriesPerBlock + 1) * blockBytes }

  var bytes: Int { blocks.count * Self.blockBytes }

  @inline(__always)
  func mayContain(_ key: Key) -> Bool {
    let (place, mask) = place(of: key)
    return blocks[place] & mask == mask
  }

  mutating func insert(_ key: Key) {
    let (place, mask) = place(of: key)
    blocks[place] |= mask
  }

  @inline(__always)
  private func place(of key: Key) -> (place: Int, mask: SIMD8<UInt64>) {
    let top = key.value << (64 - UInt64(Key.bits))
    let place = top.multipliedFullWidth(by: UInt64(blocks.count)).high
    return (Int(place), Self.mask(EntryIdentity.mix(key.value)))
  }

  /// Returns a mask with one bit in each of the eight words.
  @inline(__always)
  private static func mask(_ bits: UInt64) -> SIMD8<UInt64> {
    let one: UInt64 = 1
    return SIMD8(
      one << (bits & 63), one << (bits >> 6 & 63), one << (bits >> 12 & 63),
      one << (bits >> 18 & 63), one << (bits >> 24 & 63), one << (bits >> 30 & 63),
      one << (bits >> 36 & 63), one << (bits >> 42 & 63))
  }
}
