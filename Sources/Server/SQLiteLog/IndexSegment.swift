internal import Relay

extension Tail {
  /// Where the index keeps the identities of one segment of the journal: in 2^`bucketBits` rows, by the
  /// highest bits of their hashes, each as a posting of 64 bits. That is the following bits of the hash, and
  /// then `distanceBits` of the entry's distance from the segment's base.
  struct IndexSegment: Sendable, Equatable {
    let number: Int64
    let bucketBits: Int64
    let distanceBits: Int64
    /// The position before the first.
    let base: Int64
    /// The last position.
    let last: Int64
    /// How many postings there are.
    var entries: Int

    /// How many bits of each hash are known.
    var knownBits: Int64 { bucketBits + 64 - distanceBits }

    /// - Parameter knownBits: how many bits of each hash are known at most.
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
      // Where few of many are kept, so many buckets that enough bits of the hash are known.
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

    /// Whether this is what an index may hold.
    var isValid: Bool {
      (0...IndexSchema.bucketBitsLimit).contains(bucketBits) && (1...63).contains(distanceBits)
        && bucketBits <= distanceBits && knownBits >= Int64(IdentityFilter.Key.bits) && base >= 0
        && last > base && entries >= 0 && number > 0 && number < 1 << 42
    }

    static func hash(of identity: EntryIdentity) -> UInt64 {
      EntryIdentity.mix(UInt64(bitPattern: identity.hash))
    }

    /// In which bucket a hash is kept, and as what.
    func bucket(of hash: UInt64) -> (bucket: Int64, remainder: UInt64) {
      (
        // A shift by 64 gives 0.
        Int64(hash >> (64 - UInt64(bucketBits))),
        (hash << UInt64(bucketBits)) >> UInt64(distanceBits)
      )
    }

    /// A hash as its bucket keeps it.
    func posting(of hash: UInt64, at position: Int64) -> (bucket: Int64, posting: UInt64) {
      let (bucket, remainder) = bucket(of: hash)
      return (bucket, remainder << UInt64(distanceBits) | UInt64(position - base))
    }

    /// The known bits of a posting's hash, and 0 for the others.
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

    /// The places of a index segment of this number.
    static func places(of number: Int64) -> Range<Int64> {
      number << IndexSchema.bucketBitsLimit..<(number + 1) << IndexSchema.bucketBitsLimit
    }

    var places: Range<Int64> { Self.places(of: number) }

    /// The binary order of magnitude, two to a class: index segments of a class are merged when there are
    /// `Tail.segmentsOfClass` of it.
    var sizeClass: Int {
      let buckets = max(1, entries / IndexSchema.bucketEntries)
      return (Int.bitWidth - 1 - buckets.leadingZeroBitCount) / 2
    }
  }

  /// What tells whether a index segment may have an identity.
  struct FiledSegment: Sendable {
    var indexSegment: IndexSegment
    /// `nil` where there is no memory for one: then the index segment is always asked.
    var filter: IdentityFilter?
  }

  /// Which neighbours are to become one, so that few have to be asked: from the oldest to the youngest
  /// they become smaller, and of one size class there are fewer than `segmentsOfClass`. So there are at
  /// most three for each power of four, and an entry is written anew once for each.
  static func segmentsToMerge(_ indexSegments: [IndexSegment]) -> Range<Int>? {
    // From the youngest: the first that is preceded by a smaller one, with all smaller ones before it.
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

  /// So many of one size class are merged.
  static let segmentsOfClass = 4
}
