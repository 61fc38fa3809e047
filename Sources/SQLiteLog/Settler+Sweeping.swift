package import Relay
internal import SQLite

#if PLANTED_BUGS
  internal import PlantedBugs
#endif

/// Entries that are no longer kept: where they lie in the journal, the rows of the index that are to
/// forget them, and what is to outlive them.
package struct Garbage: Sendable {
  /// Up to where a sender has read by sending, as an entry says that is about to go.
  struct Mark: Sendable {
    var room: Int64
    var user: String
    var seq: Int64
  }

  /// What is deleted in one transaction.
  package struct Slice: Sendable {
    let positions: ArraySlice<Int64>
    let marks: [Mark]
  }

  fileprivate struct Row: Sendable {
    var room: Int64
    var firstSeq: Int64
    var lastSeq: Int64
    /// What stays of it.
    var rest: [Int64]
  }

  /// Rising, so that neighbours in the file are deleted together.
  package fileprivate(set) var positions: [Int64] = []
  fileprivate var rows: [Row] = []
  fileprivate var marks: [Mark] = []

  /// So many are deleted in one transaction, between two batches: some two milliseconds. Fewer would
  /// not keep up with batches of 512 under full load.
  package static let sliceEntries = 1024

  /// What is handed to `SQLiteStore.delete`, one after the other: marks before any entry.
  package var slices: [Slice] {
    let marks = stride(from: 0, to: marks.count, by: Self.sliceEntries).map {
      Slice(
        positions: [], marks: Array(self.marks[$0..<min($0 + Self.sliceEntries, self.marks.count)]))
    }
    return marks
      + stride(from: 0, to: positions.count, by: Self.sliceEntries).map {
        Slice(
          positions: positions[$0..<min($0 + Self.sliceEntries, positions.count)], marks: [])
      }
  }
}

/// Giving back the space of what is no longer kept, in three steps: what is to go is looked up here,
/// the writer deletes it from the journal, and then the index forgets it. Where that ends in
/// between, it begins anew: what is gone can be deleted again.
extension Settler {
  /// So many entries are looked up at once.
  private static let garbageLimit = 1 << 16

  /// What of the settled entries is no longer kept, or a part of it; `nil` if there is nothing.
  package func garbage() throws(StoreFailure) -> Garbage? {
    do throws(SQLiteError) {
      let garbage = try state.garbage(limit: Self.garbageLimit)
      return garbage.positions.isEmpty ? nil : garbage
    } catch {
      throw failure(error)
    }
  }

  /// Takes what the journal no longer has out of the index.
  package func forget(_ garbage: Garbage) throws(StoreFailure) {
    do throws(SQLiteError) {
      let shelves = try state.forget(garbage, epoch: store.epoch)
      store.tail.forget(shelves)
    } catch {
      throw failure(error)
    }
  }
}

extension Settler.State {
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
        garbage.marks.append(
          Garbage.Mark(room: room, user: selectSenders.text(0), seq: selectSenders.integer(1)))
      }
      try selectRuns.bind(1, room)
      try selectRuns.bind(2, first)
      defer { selectRuns.reset() }
      while garbage.positions.count < limit, try selectRuns.step() {
        let positions = selectRuns.positions(2)
        let firstSeq = selectRuns.integer(0)
        let gone = Int(min(first - firstSeq, Int64(positions.count)))
        #if PLANTED_BUGS
          if PlantedBug.sweepTakesOneMore.isActive {
            garbage.positions += positions[gone...].prefix(1)
          }
        #endif
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

  /// - Returns: the shelves that have nothing left.
  fileprivate mutating func forget(
    _ garbage: Garbage, epoch: String
  ) throws(SQLiteError) -> [Int64] {
    // An older journal, from a backup, still keeps what is forgotten here.
    let seen = try journal.integer("SELECT max(position) FROM entries")
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
      for mark in garbage.marks {
        try deleteSender.bind(1, mark.room)
        try deleteSender.bind(2, mark.user)
        try deleteSender.bind(3, mark.seq)
        try deleteSender.run()
      }
      let shelves = try forgetShelves()
      var update = try Statement("UPDATE progress SET epoch = ?1, seen = ?2", on: database)
      try update.bind(1, epoch)
      try update.bind(2, seen)
      try update.run()
      try commit.run()
      return shelves
    } catch {
      database.rollback()
      throw error
    }
  }

  /// Takes identities out of shelves of which most is gone, and shelves out that are empty.
  private mutating func forgetShelves() throws(SQLiteError) -> [Int64] {
    var count = try Statement(
      "SELECT count(*) FROM (SELECT 1 FROM entries WHERE position > ?1 AND position <= ?2 LIMIT ?3)",
      on: journal)
    var empty: [Int64] = []
    for (shelf, last, entries) in try shelves() {
      try count.bind(1, shelf.base)
      try count.bind(2, last)
      // A quarter is enough to know that it is not to be touched.
      try count.bind(3, entries / 4 + 1)
      defer { count.reset() }
      guard try count.step(), count.integer(0) <= entries / 4 else { continue }
      if count.integer(0) == 0 {
        try database.execute("DELETE FROM shelves WHERE number = \(shelf.number)")
        try deleteIdentities(on: shelf)
        empty.append(shelf.number)
      } else if entries > Int64(IndexSchema.bucketEntries) {
        try compact(shelf, through: last)
      }
    }
    return empty
  }

  private func shelves() throws(SQLiteError) -> [(shelf: Tail.Shelf, last: Int64, entries: Int64)] {
    var select = try Statement(
      "SELECT number, base, last, entries, bucket_bits FROM shelves ORDER BY number", on: database)
    var shelves: [(shelf: Tail.Shelf, last: Int64, entries: Int64)] = []
    while try select.step() {
      let shelf = Tail.Shelf(
        number: select.integer(0), bucketBits: select.integer(4), base: select.integer(1))
      shelves.append((shelf, select.integer(2), select.integer(3)))
    }
    return shelves
  }

  private func deleteIdentities(on shelf: Tail.Shelf) throws(SQLiteError) {
    try database.execute(
      """
      DELETE FROM identities WHERE place >= \(shelf.place(ofBucket: 0))
        AND place < \(shelf.placeEnd)
      """)
  }

  /// Writes a shelf anew with what is left of it, in the same buckets.
  private mutating func compact(_ shelf: Tail.Shelf, through last: Int64) throws(SQLiteError) {
    var select = try Statement(
      "SELECT position, identity FROM entries WHERE position > ?1 AND position <= ?2", on: journal)
    try select.bind(1, shelf.base)
    try select.bind(2, last)
    var buckets: [Int64: [UInt64]] = [:]
    var entries = 0
    while try select.step() {
      let word = shelf.word(of: EntryIdentity(hash: select.integer(1)), at: select.integer(0))
      buckets[word.bucket, default: []].append(word.word)
      entries += 1
    }
    try deleteIdentities(on: shelf)
    for bucket in buckets.keys.sorted() {
      try insertWords.bind(1, shelf.place(ofBucket: bucket))
      try insertWords.bind(2, buckets[bucket, default: []][...])
      try insertWords.run()
    }
    try database.execute(
      "UPDATE shelves SET entries = \(entries) WHERE number = \(shelf.number)")
  }
}
