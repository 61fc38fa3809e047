package import Relay
internal import SQLite

/// Merges several index segments into one, in slices of a few milliseconds, so that indexing
/// continues in between.
///
/// Lookups use the sources until the target is complete and replaces them in one transaction. The
/// rows of the sources are deleted afterwards. If the process ends in between, `unfinished` names
/// the segments whose rows are unused, and the next process deletes them.
extension Indexer {
  struct Merge {
    let sources: [Tail.IndexSegment]
    let target: Tail.IndexSegment
    /// `nil` if the memory limit for filters is reached.
    var filter: IdentityFilter?
    /// The hash space is divided into 2^`sliceBits` slices; this is the next one.
    var slice: UInt64 = 0
    let sliceBits: UInt64
  }

  /// The approximate number of entries in a slice.
  private static let sliceEntries = 1 << 14
  /// How many rows of `identities` are deleted at once.
  static let deletedRows = 1024

  /// Does the next slice of merging or of deleting merged segments.
  /// - Returns: whether there was work to do.
  package func mergeStep() throws(StoreFailure) -> Bool {
    do throws(SQLiteError) {
      if merge == nil {
        if try state.deleteUnfinished(rows: Self.deletedRows) { return true }
        merge = try beginMerge()
      }
      guard var merge else { return false }
      // Must not be copied while it grows.
      self.merge = nil
      do throws(SQLiteError) {
        let isComplete = try state.mergeSlice(&merge)
        if isComplete {
          store.tail.replace(
            merge.sources.map(\.number),
            by: Tail.FilteredSegment(indexSegment: merge.target, filter: merge.filter.take()))
        } else {
          self.merge = merge
        }
        return true
      } catch {
        self.merge = merge
        throw error
      }
    } catch {
      throw failure(error)
    }
  }

  private func beginMerge() throws(SQLiteError) -> Merge? {
    let indexSegments = store.tail.indexSegments
    guard let range = Tail.segmentsToMerge(indexSegments), let first = indexSegments[range].first,
      let last = indexSegments[range].last
    else { return nil }
    let entries = indexSegments[range].reduce(0) { $0 + $1.entries }
    let target = Tail.IndexSegment(
      number: try state.nextSegmentNumber(), base: first.base, last: last.last, entries: entries,
      knownBits: indexSegments[range].map(\.knownBits).min() ?? 64)
    // Reached after some 10^13 entries.
    guard target.isValid else { return nil }
    var sliceBits: UInt64 = 0
    while entries >> Int(sliceBits) > Self.sliceEntries, sliceBits < UInt64(target.bucketBits) {
      sliceBits += 1
    }
    try state.database.execute("INSERT INTO unfinished (number) VALUES (\(target.number))")
    return Merge(
      sources: Array(indexSegments[range]), target: target,
      filter: store.tail.newFilter(entries: entries, before: last.last), sliceBits: sliceBits)
  }
}

extension Indexer.State {
  /// - Returns: whether it was the last slice, and the target has replaced the sources.
  fileprivate mutating func mergeSlice(
    _ merge: inout Indexer.Merge
  ) throws(SQLiteError) -> Bool {
    var buckets: [Int64: [UInt64]] = [:]
    for source in merge.sources { try collect(source, merge, into: &buckets) }
    let isLast = merge.slice + 1 == 1 << merge.sliceBits
    do throws(SQLiteError) {
      try begin.run()
      for bucket in buckets.keys.sorted() {
        try insertPostings.bind(1, merge.target.place(ofBucket: bucket))
        try insertPostings.bind(2, buckets[bucket, default: []][...])
        try insertPostings.run()
      }
      if isLast { try exchange(merge) }
      try commit.run()
    } catch {
      database.rollback()
      throw error
    }
    if merge.filter != nil {
      for (bucket, postings) in buckets {
        for posting in postings {
          merge.filter?.insert(
            IdentityFilter.Key(hash: merge.target.hash(of: posting, bucket: bucket)))
        }
      }
    }
    merge.slice += 1
    return isLast
  }

  /// Adds the postings of an index segment that belong to the slice, in the target's encoding.
  private func collect(
    _ source: Tail.IndexSegment, _ merge: Indexer.Merge, into buckets: inout [Int64: [UInt64]]
  ) throws(SQLiteError) {
    // A shift by 64 gives 0.
    let start = merge.slice << (64 - merge.sliceBits)
    let end = start | (UInt64.max >> merge.sliceBits)
    var select = try Statement(
      "SELECT place, postings FROM identities WHERE place >= ?1 AND place <= ?2", on: database)
    try select.bind(1, source.place(ofBucket: source.bucket(of: start).bucket))
    try select.bind(2, source.place(ofBucket: source.bucket(of: end).bucket))
    while try select.step() {
      let bucket = select.integer(0) - source.places.lowerBound
      select.forEachWord(1) { posting in
        let hash = source.hash(of: posting, bucket: bucket)
        guard (start...end).contains(hash) else { return }
        let own = merge.target.posting(of: hash, at: source.position(of: posting))
        buckets[own.bucket, default: []].append(own.posting)
      }
    }
  }

  private mutating func exchange(_ merge: Indexer.Merge) throws(SQLiteError) {
    let numbers = merge.sources.map { "\($0.number)" }.joined(separator: ", ")
    let kept = try database.integer("SELECT sum(kept) FROM segments WHERE number IN (\(numbers))")
    try insert(merge.target, kept: Int(clamping: kept))
    try database.execute(
      """
      DELETE FROM unfinished WHERE number = \(merge.target.number);
      INSERT INTO unfinished SELECT number FROM segments WHERE number IN (\(numbers));
      DELETE FROM segments WHERE number IN (\(numbers));
      """)
  }

  /// Deletes some of the unused rows.
  /// - Returns: whether there were any.
  fileprivate func deleteUnfinished(rows: Int) throws(SQLiteError) -> Bool {
    let number = try database.integer("SELECT min(number) FROM unfinished")
    guard number > 0 else { return false }
    let places = Tail.IndexSegment.places(of: number)
    try database.execute(
      """
      DELETE FROM identities WHERE place IN (
        SELECT place FROM identities
        WHERE place >= \(places.lowerBound) AND place < \(places.upperBound) LIMIT \(rows))
      """)
    if database.changes == 0 {
      try database.execute("DELETE FROM unfinished WHERE number = \(number)")
    }
    return true
  }
}
