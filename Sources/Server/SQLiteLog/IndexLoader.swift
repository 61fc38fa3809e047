internal import CSQLite
internal import Relay
internal import SQLite

/// Loads the index at startup: ensures that an index of this journal exists, and reads back its
/// filters and the unindexed entries.
struct IndexLoader {
  /// How many segments are left to the indexer; if there are more, startup indexes them.
  private static let segmentsLeft = 4

  let store: OpenStore
  /// What was read of the index before.
  var filters: IndexFilters?

  /// - Parameter report: receives messages for the operator.
  /// - Returns: why an existing index was discarded.
  func load(
    from journal: borrowing Database, report: (String) -> Void = { _ in }
  ) throws(StoreError) -> String? {
    var discarded: String?
    do {
      do {
        let position = try loadIndex(of: journal, &discarded)
        try readBack(journal, after: position, report)
      } catch let error as SQLiteError {
        guard error.isFaultOfIndex else { throw error }
        store.tail.reset()
        try Database.remove(path: store.folder.indexPath, vfs: store.vfs)
        let position = try loadIndex(of: journal, &discarded)
        try readBack(journal, after: position, report)
        discarded = "it is damaged: \(error.message)"
      }
      return discarded
    } catch let error as SQLiteError {
      throw StoreError(error, "open", path: store.folder.indexPath)
    } catch let error as StoreError {
      throw error
    } catch {
      preconditionFailure("no other error is thrown above: \(error)")
    }
  }

  /// - Returns: the last indexed position.
  private func loadIndex(
    of journal: borrowing Database, _ discarded: inout String?
  ) throws(SQLiteError) -> Int64 {
    let index = try IndexSchema.open(
      store.folder, journal: journal, vfs: store.vfs, &discarded)
    let indexSegments = try IndexSchema.indexSegments(of: index).map(\.indexSegment)
    try checkPlaces(indexSegments, index)
    // Youngest first: if the memory limit is reached, the oldest have no filter.
    for indexSegment in indexSegments.reversed() {
      var filter = store.tail.newFilter(entries: indexSegment.entries, before: indexSegment.base)
      if filter != nil, let known = filters?[indexSegment] {
        filter = known
      } else {
        try filter?.fill(with: indexSegment, of: index)
      }
      store.tail.add(Tail.FilteredSegment(indexSegment: indexSegment, filter: filter))
    }
    return try IndexSchema.progress(of: index).position
  }

  /// Checks that all identities belong to an index segment or to an unfinished one.
  private func checkPlaces(
    _ indexSegments: [Tail.IndexSegment], _ index: borrowing Database
  ) throws(SQLiteError) {
    var numbers = indexSegments.map(\.number)
    var unfinished = try Statement("SELECT number FROM unfinished", on: index)
    while try unfinished.step() { numbers.append(unfinished.integer(0)) }
    var select = try Statement(
      "SELECT place FROM identities WHERE place >= ?1 AND place < ?2 LIMIT 1", on: index)
    var start: Int64 = 0
    for end in numbers.sorted().map({ Tail.IndexSegment.places(of: $0) }) + [.max ..< .max] {
      try select.bind(1, start)
      try select.bind(2, end.lowerBound)
      defer { select.reset() }
      if try select.step() {
        throw SQLiteError(
          extendedCode: SQLITE_CORRUPT,
          message: "the identities at \(select.integer(0)) belong to no index segment")
      }
      start = end.upperBound
    }
  }

  /// - Throws: `SQLiteError` if it concerns the index, `StoreError` if it concerns the journal.
  private func readBack(
    _ journal: borrowing Database, after position: Int64, _ report: (String) -> Void
  ) throws {
    var indexer: Indexer?
    var waiting = 0
    var start: Int64?
    var damaged: Int64?
    var select = try onJournal { () throws(SQLiteError) in
      try selectEntries(in: journal, after: position)
    }
    while try onJournal({ () throws(SQLiteError) in try select.step() }) {
      let position = select.integer(0)
      if select.integer(5) == 0 {
        try checkPlace(of: select, journal)
        damaged = damaged ?? position
      }
      if let begun = start, position - begun >= IndexSchema.segmentPositions {
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
      guard waiting > Self.segmentsLeft else { continue }
      waiting = 0
      indexer = try indexer ?? Indexer(store)
      do throws(SQLiteError) {
        while try indexer?.indexFirst() == true {}
      } catch {
        // After any other failure, such as a full disk, the segments stay in memory until they can
        // be written.
        if error.isFaultOfIndex { throw error }
      }
      do throws(UnsyncedCheckpoint) {
        try indexer?.checkpoint()
      } catch {
        throw StoreError(.environment, error.description)
      }
    }
    if let damaged {
      report(
        "The store \(store.folder.databasePath) has damaged entries, the first at position \(damaged). "
          + "Requests that need them are refused. Run relay verify to list them, and restore a backup."
      )
    }
  }

  /// Checks that a damaged entry has the room and the `seq` that it must have: with others the room would
  /// have a wrong head.
  private func checkPlace(of row: borrowing Statement, _ journal: borrowing Database) throws {
    let (room, seq) = (row.integer(1), row.integer(2))
    var head = store.tail.head(of: room)?.seq
    if head == nil {
      var index = try IndexReader.open(store, .readOnly)
      head = try index.head(of: room)?.seq
    }
    let first = try onJournal { () throws(SQLiteError) in
      try journal.integer("SELECT first FROM rooms WHERE number = \(room)")
    }
    guard first > 0, seq > 0, head.map({ seq == $0 + 1 }) ?? (seq <= first) else {
      throw StoreError(
        .broken,
        "The database file \(store.folder.databasePath) is damaged: the room of the entry at position "
          + "\(row.integer(0)) is not known. Restore the data folder from a backup.")
    }
  }

  private func selectEntries(
    in journal: borrowing Database, after position: Int64
  ) throws(SQLiteError) -> Statement {
    var select = try Statement(
      """
      SELECT position, room, seq, identity, sender, sound FROM entries WHERE position > ?1
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
      throw StoreError(error, "read", path: store.folder.databasePath)
    }
  }
}
