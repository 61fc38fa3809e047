internal import CSQLite
internal import Relay
internal import SQLite

/// What a start does with the index: makes sure that there is one for this journal, and reads back
/// what tells new identities from known ones, and the entries that it does not have yet.
struct IndexLoader {
  /// So many stretches are left to the settler; if there are more, a start settles them first.
  private static let stretchesLeft = 4

  let store: OpenStore

  /// - Returns: why an index that was there could not be used.
  func load(from journal: borrowing Database) throws(StoreError) -> String? {
    var discarded: String?
    do {
      do {
        let position = try loadIndex(of: journal, &discarded)
        try readBack(journal, after: position)
      } catch let error as SQLiteError {
        guard error.isFaultOfIndex else { throw error }
        store.tail.reset()
        try Database.remove(path: store.directory.indexPath, vfs: store.vfs)
        let position = try loadIndex(of: journal, &discarded)
        try readBack(journal, after: position)
        discarded = "it is damaged: \(error.message)"
      }
      return discarded
    } catch let error as SQLiteError {
      throw StoreError(error, "open", path: store.directory.indexPath)
    } catch let error as StoreError {
      throw error
    } catch {
      preconditionFailure("no other error is thrown above: \(error)")
    }
  }

  /// - Returns: up to where the journal is settled.
  private func loadIndex(
    of journal: borrowing Database, _ discarded: inout String?
  ) throws(SQLiteError) -> Int64 {
    let index = try IndexSchema.open(
      store.directory, journal: journal, vfs: store.vfs, &discarded)
    let shelves = try shelves(of: index)
    var select = try Statement("SELECT place, words FROM identities ORDER BY place", on: index)
    var keys: [IdentityFilter.Key] = []
    var next = shelves.startIndex
    while try select.step() {
      let place = select.integer(0)
      while next < shelves.count, place >= shelves[next].place(ofBucket: 0) {
        if next > 0 { store.tail.note(shelves[next - 1], keys) }
        keys.removeAll(keepingCapacity: true)
        next += 1
      }
      guard next > 0, place < shelves[next - 1].placeEnd else {
        throw SQLiteError(
          extendedCode: SQLITE_CORRUPT, message: "there is no shelf for the identities at \(place)")
      }
      let shelf = shelves[next - 1]
      let bucket = place - shelf.place(ofBucket: 0)
      select.forEachWord(1) { keys.append(shelf.key(of: $0, bucket: bucket)) }
    }
    if next > 0 { store.tail.note(shelves[next - 1], keys) }
    return try IndexSchema.progress(of: index).position
  }

  private func shelves(of index: borrowing Database) throws(SQLiteError) -> [Tail.Shelf] {
    var select = try Statement(
      "SELECT number, bucket_bits, base FROM shelves ORDER BY number", on: index)
    var shelves: [Tail.Shelf] = []
    while try select.step() {
      shelves.append(
        Tail.Shelf(
          number: select.integer(0), bucketBits: select.integer(1), base: select.integer(2)))
    }
    return shelves
  }

  /// - Throws: `SQLiteError` if it concerns the index, `StoreError` if it concerns the journal.
  private func readBack(_ journal: borrowing Database, after position: Int64) throws {
    var settler: Settler?
    var waiting = 0
    var start: Int64?
    var select = try onJournal { () throws(SQLiteError) in
      try selectEntries(in: journal, after: position)
    }
    while try onJournal({ () throws(SQLiteError) in try select.step() }) {
      let position = select.integer(0)
      if let begun = start, position - begun >= 1 << IndexSchema.distanceBits - 1 {
        store.tail.seal()
        start = nil
      }
      start = start ?? position
      let isSealed = store.tail.append {
        $0.append(
          position: position, room: select.integer(1), seq: select.integer(2),
          identity: EntryIdentity(hash: select.integer(3)), sender: select.text(4))
      }
      guard isSealed else { continue }
      start = nil
      waiting += 1
      guard waiting > Self.stretchesLeft else { continue }
      waiting = 0
      settler = try settler ?? Settler(store)
      do throws(SQLiteError) {
        while try settler?.settleFirst() == true {}
      } catch {
        // Whatever else it is, a full disk say: it stays in memory until it can be written.
        if error.isFaultOfIndex { throw error }
      }
      do throws(UnsyncedCheckpoint) {
        try settler?.checkpoint()
      } catch {
        throw StoreError(.environment, error.description)
      }
    }
  }

  private func selectEntries(
    in journal: borrowing Database, after position: Int64
  ) throws(SQLiteError) -> Statement {
    var select = try Statement(
      """
      SELECT position, room, seq, identity, sender FROM entries WHERE position > ?1
      ORDER BY position
      """, on: journal)
    try select.bind(1, position)
    return select
  }

  private func onJournal<Result: ~Copyable>(
    _ body: () throws(SQLiteError) -> Result
  ) throws(StoreError) -> Result {
    do {
      return try body()
    } catch {
      throw StoreError(error, "read", path: store.directory.databasePath)
    }
  }
}
