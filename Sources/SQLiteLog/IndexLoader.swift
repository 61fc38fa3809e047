internal import CSQLite
internal import Relay

/// What a start does with the index: makes sure that there is one for this journal, and reads back
/// what tells new identities from known ones, and the entries that it does not have yet.
struct IndexLoader {
  /// So many stretches are left to the settler; if there are more, a start settles them first.
  private static let stretchesLeft = 4

  let store: OpenStore

  /// - Returns: why an index that was there could not be used.
  func load(from journal: borrowing Database) throws(StoreError) -> String? {
    var discarded: String?
    let position: Int64
    do throws(SQLiteError) {
      do throws(SQLiteError) {
        position = try loadIndex(of: journal, &discarded)
      } catch {
        guard error.isCorruption else { throw error }
        store.tail.forgetSettled()
        Database.remove(path: store.directory.indexPath, vfs: store.vfs)
        position = try loadIndex(of: journal, &discarded)
        discarded = "it is damaged: \(error.message)"
      }
    } catch {
      throw StoreError(error, "open", path: store.directory.indexPath)
    }
    try readBack(journal, after: position)
    return discarded
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
      guard next > 0 else { continue }
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

  private func readBack(
    _ journal: borrowing Database, after position: Int64
  ) throws(StoreError) {
    let path = store.directory.databasePath
    do {
      var settler: Settler?
      var waiting = 0
      var start: Int64?
      var select = try Statement(
        """
        SELECT position, room, seq, identity, sender FROM entries WHERE position > ?1
        ORDER BY position
        """, on: journal)
      try select.bind(1, position)
      while try select.step() {
        let (position, room, seq) = (select.integer(0), select.integer(1), select.integer(2))
        if let begun = start, position - begun >= 1 << IndexSchema.distanceBits - 1 {
          store.tail.seal()
          start = nil
        }
        start = start ?? position
        let isSealed = store.tail.append {
          $0.append(
            position: position, room: room, seq: seq,
            identity: EntryIdentity(hash: select.integer(3)),
            sender: select.text(4))
        }
        guard isSealed else { continue }
        start = nil
        waiting += 1
        guard waiting > Self.stretchesLeft else { continue }
        settler = try settler ?? Settler(store)
        while try settler?.settle() == true { settler?.checkpoint() }
        waiting = 0
      }
    } catch let error as SQLiteError {
      throw StoreError(error, "read", path: path)
    } catch let error as StoreError {
      throw error
    } catch {
      throw StoreError(.environment, "The index cannot be made: \(error).")
    }
  }
}
