internal import Relay

/// Says "never seen" of most identities that the index does not have, without reading anything.
///
/// Bloom filters with blocks of one cache line (Putze, Sanders, Singler: "Cache-, Hash- and
/// Space-Efficient Bloom Filters", 2007) and 24 bits for each entry, which errs once in about ten
/// thousand times: then all shelves are asked, some 40 for 10 million entries. They come in generations that double: a question touches one line of each, and
/// nothing is ever built anew because there is more.
struct IdentityFilter: Sendable {
  /// What is known of an identity wherever it is kept: 40 well-mixed bits.
  struct Key: Hashable, Sendable {
    static let bits = 40
    var value: UInt64

    init(_ value: UInt64) { self.value = value }

    init(_ identity: EntryIdentity) {
      value = EntryIdentity.mix(UInt64(bitPattern: identity.hash)) >> (64 - UInt64(Self.bits))
    }
  }

  struct Generation: Sendable {
    fileprivate var count = 0
    /// One cache line each; a power of two.
    fileprivate var blocks: [SIMD8<UInt64>]

    init(blocks: Int) { self.blocks = Array(repeating: SIMD8(), count: blocks) }

    fileprivate var isFull: Bool { count >= blocks.count * IdentityFilter.entriesPerBlock }
  }

  /// 512 bits.
  private static let entriesPerBlock = 21
  /// 2 MiB, for 688,000 entries.
  private static let firstBlocks = 1 << 15
  private var generations: [Generation] = []

  @inline(__always)
  func mayContain(_ key: Key) -> Bool {
    if generations.isEmpty { return false }
    let (place, bits) = Self.hashes(key)
    let mask = Self.mask(bits)
    for generation in generations {
      let block = generation.blocks[place & (generation.blocks.count - 1)]
      if block & mask == mask { return true }
    }
    return false
  }

  /// How large a generation is needed before the next `insert`; `nil` if there is room.
  var blocksWanted: Int? {
    guard let last = generations.last else { return Self.firstBlocks }
    return last.isFull ? last.blocks.count * 2 : nil
  }

  mutating func add(_ generation: Generation) { generations.append(generation) }

  /// - Returns: whether there was room for it.
  mutating func insert(_ key: Key) -> Bool {
    guard blocksWanted == nil else { return false }
    let (place, bits) = Self.hashes(key)
    let last = generations.count - 1
    generations[last].blocks[place & (generations[last].blocks.count - 1)] |= Self.mask(bits)
    generations[last].count += 1
    return true
  }

  @inline(__always)
  private static func hashes(_ key: Key) -> (place: Int, bits: UInt64) {
    (Int(truncatingIfNeeded: key.value), EntryIdentity.mix(key.value))
  }

  /// One bit in each of the eight words.
  @inline(__always)
  private static func mask(_ bits: UInt64) -> SIMD8<UInt64> {
    let one: UInt64 = 1
    return SIMD8(
      one << (bits & 63), one << (bits >> 6 & 63), one << (bits >> 12 & 63),
      one << (bits >> 18 & 63), one << (bits >> 24 & 63), one << (bits >> 30 & 63),
      one << (bits >> 36 & 63), one << (bits >> 42 & 63))
  }
}
