internal import Relay
internal import SQLite

/// What retention reads of a store, over connections of its own. Used by one thread.
final class RetentionReader {
  private let path: String
  private let tail: Tail
  private let journal: Database
  private var index: IndexReader
  private var selectRooms: Statement
  private var selectEntry: Statement
  private var selectNewest: Statement

  static func open(_ store: OpenStore) throws(StoreError) -> RetentionReader {
    let journal = try Schema.openForReading(store.folder, vfs: store.vfs)
    let index = try IndexReader.open(store, .readOnly)
    do throws(SQLiteError) {
      // Neighbors are read together, each once.
      try journal.execute("PRAGMA cache_size = -256")
      let selectRooms = try Statement(
        "SELECT number, name, first FROM rooms WHERE number > ?1 ORDER BY number LIMIT ?2",
        on: journal)
      // Neither body nor epoch is read: no checksum is computed.
      let selectEntry = try Statement(
        "SELECT at, size FROM entries WHERE position = ?1 AND room = ?2 AND seq = ?3", on: journal)
      let selectNewest = try Statement(
        "SELECT at FROM entries ORDER BY position DESC LIMIT 1", on: journal)
      return RetentionReader(
        path: store.folder.databasePath, tail: store.tail, journal: journal, index: index,
        selectRooms: selectRooms, selectEntry: selectEntry, selectNewest: selectNewest)
    } catch {
      throw StoreError(error, "read", path: store.folder.databasePath)
    }
  }

  private init(
    path: String, tail: Tail, journal: consuming Database, index: consuming IndexReader,
    selectRooms: consuming Statement, selectEntry: consuming Statement,
    selectNewest: consuming Statement
  ) {
    self.path = path
    self.tail = tail
    self.journal = journal
    self.index = index
    self.selectRooms = selectRooms
    self.selectEntry = selectEntry
    self.selectNewest = selectNewest
  }

  private func failure(_ error: SQLiteError) -> StoreFailure {
    StoreFailure("could not read \(path): \(error)\(error.advice)")
  }
}

extension RetentionReader: RetentionSource {
  func newestEntryAt() throws(StoreFailure) -> Int64? {
    do throws(SQLiteError) {
      defer { selectNewest.reset() }
      return try selectNewest.step() ? selectNewest.integer(0) : nil
    } catch {
      throw failure(error)
    }
  }

  func retainedRooms(
    after number: Int64, limit: Int
  ) throws(StoreFailure) -> [RetainedRoom] {
    do throws(SQLiteError) {
      try selectRooms.bind(1, number)
      try selectRooms.bind(2, Int64(limit))
      defer { selectRooms.reset() }
      var rooms: [RetainedRoom] = []
      while try selectRooms.step() {
        let (number, first) = (selectRooms.integer(0), selectRooms.integer(2))
        var head = tail.head(of: number)?.seq
        if head == nil { head = try index.head(of: number)?.seq }
        rooms.append(
          RetainedRoom(
            number: number, name: selectRooms.text(1), first: first,
            head: max(head ?? 0, first - 1)))
      }
      return rooms
    } catch {
      throw failure(error)
    }
  }

  func retainedEntries(
    ofRoom number: Int64, in seqs: ClosedRange<Int64>
  ) throws(StoreFailure) -> [RetainedEntry] {
    do throws(SQLiteError) {
      let unindexed = tail.places(ofRoom: number, in: seqs)
      var places: [Place] = []
      let end = unindexed.first.map { $0.seq - 1 } ?? seqs.upperBound
      if end >= seqs.lowerBound {
        places = try index.places(ofRoom: number, in: seqs.lowerBound...end)
      }
      var entries: [RetainedEntry] = []
      for place in places + unindexed {
        try selectEntry.bind(1, place.position)
        try selectEntry.bind(2, number)
        try selectEntry.bind(3, place.seq)
        defer { selectEntry.reset() }
        guard try selectEntry.step() else { continue }
        entries.append(
          RetainedEntry(
            seq: place.seq, at: selectEntry.integer(0), bytes: selectEntry.integer(1)))
      }
      return entries
    } catch {
      throw failure(error)
    }
  }
}
