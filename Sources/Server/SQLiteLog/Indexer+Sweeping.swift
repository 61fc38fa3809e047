package import Relay
internal import SQLite
internal import Wire

/// Deletes entries beyond retention in three steps: the indexer looks them up, the writer deletes
/// them from the journal, and the indexer removes them from the index. If this is interrupted, it
/// starts over: deleting a deleted entry again is harmless.
extension Indexer {
  /// How many entries are looked up at once.
  private static let garbageLimit = 1 << 16

  /// Returns indexed entries that are no longer kept, all or a part of them; `nil` if there are
  /// none.
  package func garbage() throws(StoreFailure) -> Garbage? {
    do throws(SQLiteError) {
      let garbage = try state.garbage(limit: Self.garbageLimit)
      return garbage.positions.isEmpty ? nil : garbage
    } catch {
      throw failure(error)
    }
  }

  /// Removes entries that were deleted from the journal from the index.
  package func forget(_ garbage: Garbage) throws(StoreFailure) {
    do throws(SQLiteError) {
      // A segment that is being merged is updated with the next garbage.
      let busy = merge?.sources.map(\.number) ?? []
      for change in try state.forget(garbage, except: busy, store) {
        store.tail.replace([change.number], by: change.filtered)
      }
    } catch {
      throw failure(error)
    }
  }
}

extension Indexer.State {
  fileprivate mutating func garbage(limit: Int) throws(SQLiteError) -> Garbage {
    var garbage = Garbage()
    var selectRooms = try Statement(
      "SELECT number, first FROM rooms WHERE first > 1", on: journal)
    var selectRuns = try Statement(
      """
      SELECT first_seq, last_seq, positions FROM runs WHERE room = ?1 AND first_seq < ?2
      ORDER BY first_seq
      """, on: database)
    var selectSenders = try Statement(
      "SELECT user, seq FROM senders WHERE room = ?1 AND seq < ?2", on: database)
    while garbage.positions.count < limit, try selectRooms.step() {
      let (room, first) = (selectRooms.integer(0), selectRooms.integer(1))
      try selectSenders.bind(1, room)
      try selectSenders.bind(2, first)
      defer { selectSenders.reset() }
      while try selectSenders.step() {
        garbage.senders.append(
          Garbage.Sender(room: room, user: selectSenders.text(0), seq: selectSenders.integer(1)))
      }
      try selectRuns.bind(1, room)
      try selectRuns.bind(2, first)
      defer { selectRuns.reset() }
      while garbage.positions.count < limit, try selectRuns.step() {
        let positions = selectRuns.positions(2)
        let firstSeq = selectRuns.integer(0)
        let gone = Int(min(first - firstSeq, Int64(positions.count)))
        garbage.positions += positions[..<gone]
        garbage.rows.append(
          Garbage.Row(
            room: room, firstSeq: firstSeq, lastSeq: selectRuns.integer(1),
            rest: Array(positions[gone...])))
      }
    }
    garbage.positions.sort()
    return garbage
  }

  /// - Returns: the index segments that were rewritten, or that are empty now.
  fileprivate mutating func forget(
    _ garbage: Garbage, except busy: [Int64], _ store: OpenStore
  ) throws(SQLiteError) -> [(number: Int64, filtered: Tail.FilteredSegment?)] {
    // An older journal, restored from a backup, may still keep entries that are removed here.
    let seen = try journal.integer("SELECT \(Schema.lastPosition)")
    var deleteRun = try Statement(
      "DELETE FROM runs WHERE room = ?1 AND first_seq = ?2", on: database)
    do throws(SQLiteError) {
      try begin.run()
      for row in garbage.rows {
        try deleteRun.bind(1, row.room)
        try deleteRun.bind(2, row.firstSeq)
        try deleteRun.run()
        if row.rest.isEmpty { continue }
        try insertRun.bind(1, row.room)
        try insertRun.bind(2, row.lastSeq - Int64(row.rest.count) + 1)
        try insertRun.bind(3, row.lastSeq)
        try insertRun.bind(4, Places.encode(row.rest))
        try insertRun.run()
      }
      var deleteSender = try Statement(
        "DELETE FROM senders WHERE room = ?1 AND user = ?2 AND seq = ?3", on: database)
      for sender in garbage.senders {
        try deleteSender.bind(1, sender.room)
        try deleteSender.bind(2, sender.user)
        try deleteSender.bind(3, sender.seq)
        try deleteSender.run()
      }
      let indexSegments = try forgetSegments(garbage, except: busy, store)
      var update = try Statement("UPDATE progress SET epoch = ?1, seen = ?2", on: database)
      try update.bind(1, store.epoch)
      try update.bind(2, seen)
      try update.run()
      try commit.run()
      return indexSegments
    } catch {
      database.rollback()
      throw error
    }
  }

  /// Removes index segments that are empty, and rewrites those of which at most a quarter is kept.
  private mutating func forgetSegments(
    _ garbage: Garbage, except busy: [Int64], _ store: OpenStore
  ) throws(SQLiteError) -> [(number: Int64, filtered: Tail.FilteredSegment?)] {
    var changed: [(number: Int64, filtered: Tail.FilteredSegment?)] = []
    for (indexSegment, before) in try IndexSchema.indexSegments(of: database) {
      let start = garbage.positions.partitioningIndex { $0 > indexSegment.base }
      let end = garbage.positions.partitioningIndex { $0 > indexSegment.last }
      let kept = max(0, before - (end - start))
      if kept != before {
        try database.execute(
          "UPDATE segments SET kept = \(kept) WHERE number = \(indexSegment.number)")
      }
      guard !busy.contains(indexSegment.number), kept <= indexSegment.entries / 4 else { continue }
      if kept == 0 {
        try database.execute("DELETE FROM segments WHERE number = \(indexSegment.number)")
        try deleteIdentities(on: indexSegment)
        changed.append((indexSegment.number, nil))
      } else if indexSegment.entries > IndexSchema.bucketEntries {
        changed.append((indexSegment.number, try compact(indexSegment, store)))
      }
    }
    return changed
  }

  private func deleteIdentities(on indexSegment: Tail.IndexSegment) throws(SQLiteError) {
    try database.execute(
      """
      DELETE FROM identities WHERE place >= \(indexSegment.places.lowerBound)
        AND place < \(indexSegment.places.upperBound)
      """)
  }

  /// Rewrites an index segment with its remaining entries, in the same buckets.
  private mutating func compact(
    _ indexSegment: Tail.IndexSegment, _ store: OpenStore
  ) throws(SQLiteError) -> Tail.FilteredSegment {
    var select = try Statement(
      "SELECT position, identity FROM entries WHERE position > ?1 AND position <= ?2", on: journal)
    try select.bind(1, indexSegment.base)
    try select.bind(2, indexSegment.last)
    var buckets: [Int64: [UInt64]] = [:]
    var compacted = indexSegment
    compacted.entries = 0
    while try select.step() {
      let hash = Tail.IndexSegment.hash(of: EntryIdentity(hash: select.integer(1)))
      let posting = indexSegment.posting(of: hash, at: select.integer(0))
      buckets[posting.bucket, default: []].append(posting.posting)
      compacted.entries += 1
    }
    try deleteIdentities(on: indexSegment)
    var filter = store.tail.newFilter(entries: compacted.entries, before: indexSegment.base)
    for bucket in buckets.keys.sorted() {
      let postings = buckets[bucket, default: []]
      try insertPostings.bind(1, indexSegment.place(ofBucket: bucket))
      try insertPostings.bind(2, postings[...])
      try insertPostings.run()
      if filter == nil { continue }
      for posting in postings {
        filter?.insert(IdentityFilter.Key(hash: indexSegment.hash(of: posting, bucket: bucket)))
      }
    }
    try database.execute(
      "UPDATE segments SET entries = \(compacted.entries) WHERE number = \(indexSegment.number)")
    return Tail.FilteredSegment(indexSegment: compacted, filter: filter)
  }
}
