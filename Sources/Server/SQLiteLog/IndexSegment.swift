internal import Relay

extension Tail {
  /// A segment of the journal whose identities are stored in the index: in 2^`bucketBits` rows by
  /// the highest bits of their hashes, each as a 64-bit posting. A posting is the following bits of
  /// the hash, and then, in `distanceBits`, the entry's distance from the segment's base.
  struct IndexSegment: Sendable, Equatable {
    let number: Int64
    let bucketBits: Int64
    let distanceBits: Int64
    /// The position before the first entry.
    let base: Int64
    /// The position of the last entry.
    let last: Int64
    /// The number of postings.
    var entries: Int

    /// How many bits of each hash are stored.
    var knownBits: Int64 { bucketBits + 64 - distanceBits }

    /// - Parameter knownBits: the maximum number of bits known of each hash.
    init(number: Int64, base: Int64, last: Int64, entries: Int, knownBits: Int64 = 64) {
      self.number = number
      self.base = base
      self.last = last
      self.entries = entries
      var bits: Int64 = 0
      while entries >> Int(bits) > IndexSchema.bucketEntries, bits < IndexSchema.bucketBitsLimit {
        bits += 1
      }
      let range = Int64(64 - (last - base).leadingZeroBitCount)
      // With few entries left of many, uses enough buckets that enough bits of the hash are stored.
      bits = min(
        IndexSchema.bucketBitsLimit, max(bits, range + Int64(IdentityFilter.Key.bits) - 64))
      bucketBits = bits
      distanceBits = max(range, bits + 64 - knownBits)
    }

    init(
      number: Int64, bucketBits: Int64, distanceBits: Int64, base: Int64, last: Int64, entries: Int
    ) {
      self.number = number
      self.bucketBits = bucketBits
      self.distanceBits = distanceBits
      self.base = base
      self.last = last
      self.entries = entries
    }

    /// Whether a valid index may hold this segment.
    var isValid: Bool {
      (0...IndexSchema.bucketBitsLimit).contains(bucketBits) && (1...63).contains(distanceBits)
        && bucketBits <= distanceBits && knownBits >= Int64(IdentityFilter.Key.bits) && base >= 0
        && last > base && entries >= 0 && number > 0 && number < 1 << 42
    }

    static func hash(of identity: EntryIdentity) -> UInt64 {
      EntryIdentity.mix(UInt64(bitPattern: identity.hash))
    }

    /// Returns the bucket of a hash, and the part of the hash that its posting stores.
    func bucket(of hash: UInt64) -> (bucket: Int64, remainder: UInt64) {
      (
        // A shift by 64 gives 0.
        Int64(hash >> (64 - UInt64(bucketBits))),
        (hash << UInt64(bucketBits)) >> UInt64(distanceBits)
      )
    }

    /// Returns the posting of a hash and its bucket.
    func posting(of hash: UInt64, at position: Int64) -> (bucket: Int64, posting: UInt64) {
      let (bucket, remainder) = bucket(of: hash)
      return (bucket, remainder << UInt64(distanceBits) | UInt64(position - base))
    }

    /// Returns the known bits of a posting's hash, and 0 for the others.
    func hash(of posting: UInt64, bucket: Int64) -> UInt64 {
      UInt64(bucket) << (64 - UInt64(bucketBits))
        | (posting >> UInt64(distanceBits)) << UInt64(distanceBits - bucketBits)
    }

    func position(of posting: UInt64) -> Int64 {
      base + Int64(posting & (1 << UInt64(distanceBits) - 1))
    }

    func place(ofBucket bucket: Int64) -> Int64 {
      number << IndexSchema.bucketBitsLimit | bucket
    }

    /// Returns the places of the index segment with this number.
    static func places(of number: Int64) -> Range<Int64> {
      number << IndexSchema.bucketBitsLimit..<(number + 1) << IndexSchema.bucketBitsLimit
    }

    var places: Range<Int64> { Self.places(of: number) }

    /// The binary order of magnitude, two to a class; `Tail.segmentsOfClass` index segments of the
    /// same class are merged.
    var sizeClass: Int {
      let buckets = max(1, entries / IndexSchema.bucketEntries)
      return (Int.bitWidth - 1 - buckets.leadingZeroBitCount) / 2
    }
  }

  /// An index segment with its filter, which tells whether it may have an identity.
  struct FilteredSegment: Sendable {
    var indexSegment: IndexSegment
    /// `nil` if the memory limit is reached: then the index segment is always queried.
    var filter: IdentityFilter?
  }

  /// Returns which neighbouring index segments to merge, so that few have to be queried: from the
  /// oldest to the youngest they become smaller, and fewer than `segmentsOfClass` are of one size
  /// class. So there are at most three for each power of four, and an entry is rewritten once for
  /// each.
  static func segmentsToMerge(_ indexSegments: [IndexSegment]) -> Range<Int>? {
    // From the youngest: the first that is preceded by a smaller one, with all smaller ones before
    // it.
    for index in indexSegments.indices.dropFirst().reversed() {
      let own = indexSegments[index].sizeClass
      guard indexSegments[index - 1].sizeClass < own else { continue }
      var first = index - 1
      while first > 0, indexSegments[first - 1].sizeClass < own { first -= 1 }
      return first..<index + 1
    }
    for index in indexSegments.indices.dropFirst(segmentsOfClass - 1).reversed() {
      let first = index - segmentsOfClass + 1
      if indexSegments[first].sizeClass == indexSegments[index].sizeClass {
        return first..<index + 1
      }
    }
    return nil
  }

  /// How many index segments of one size class are merged.
  static let segmentsOfClass = 4
}
