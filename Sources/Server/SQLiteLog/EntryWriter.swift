internal import Relay
internal import SQLite
internal import Wire

/// Stores and deletes the entries of a journal, many at once.
struct EntryWriter: ~Copyable {
  private var insertPack: Statement
  private var selectPack: Statement
  private var updatePack: Statement
  private var deletePack: Statement
  private var deleteRows: Statement
  /// As in `EntryTable`; the writer is prepared before anything is deleted.
  private let lastRow: Int64
  /// What is not stored yet.
  private var pack: EntryPack?

  static func prepare(on database: borrowing Database) throws(SQLiteError) -> EntryWriter {
    EntryWriter(
      insertPack: try Statement(
        "INSERT INTO packs (first, content) VALUES (?1, ?2)", on: database),
      selectPack: try Statement(
        "SELECT first, content FROM packs WHERE first <= ?1 ORDER BY first DESC LIMIT 1",
        on: database),
      updatePack: try Statement("UPDATE packs SET content = ?2 WHERE first = ?1", on: database),
      deletePack: try Statement("DELETE FROM packs WHERE first = ?1", on: database),
      deleteRows: try Statement(
        "DELETE FROM entry_rows WHERE position BETWEEN ?1 AND ?2", on: database),
      lastRow: try database.integer(EntryTable.lastRow), pack: nil)
  }

  /// Forgets what was not stored because of a failure.
  mutating func startAgain() { pack = nil }

  /// Adds an entry at the end of the journal; it is stored with `flush`.
  @inline(__always)
  mutating func append(
    _ new: borrowing StoreChanges.NewEntry, at position: Int64, epoch: Int64
  ) throws(SQLiteError) {
    let size = new.entry.body.count + new.entry.id.utf8.count + new.entry.from.utf8.count
    if let bytes = pack?.bytes.count, bytes + size + EntryPack.numbersBytes > EntryPack.fullBytes {
      try flush()
    }
    if pack == nil { pack = EntryPack(first: position, at: new.entry.at) }
    pack?.append(
      EntryPack.Numbers(
        position: position, room: new.room, seq: new.entry.seq, epoch: epoch, at: new.entry.at,
        identity: new.identity.hash, others: new.entry.seq - new.others,
        content: new.entry.seq - new.content),
      sender: new.entry.from, id: new.entry.id, kind: new.entry.kind.rawValue,
      body: new.entry.body.span)
  }

  mutating func flush() throws(SQLiteError) {
    guard let pack else { return }
    try insertPack.bind(1, pack.first)
    try insertPack.bind(2, pack.bytes)
    try insertPack.run()
    startAgain()
  }

  /// Deletes entries.
  /// - Parameter positions: in ascending order; entries that do not exist are skipped.
  mutating func delete(_ positions: ArraySlice<Int64>) throws(SQLiteError) {
    var rest = positions
    while let first = rest.first {
      if first <= lastRow {
        var last = first
        rest.removeFirst()
        while last < lastRow, rest.first == last + 1, let next = rest.popFirst() { last = next }
        try deleteRows.bind(1, first)
        try deleteRows.bind(2, last)
        try deleteRows.run()
      } else {
        try deleteFromPack(&rest, first)
      }
    }
  }

  /// Deletes those of the next positions that are in one pack.
  private mutating func deleteFromPack(
    _ rest: inout ArraySlice<Int64>, _ position: Int64
  ) throws(SQLiteError) {
    guard var old = try storedPack(of: position) else {
      rest.removeFirst()
      return
    }
    var new = EntryPack(replacing: old)
    var hasChanged = false
    while let place = try old.nextPlace() {
      while let next = rest.first, next < place.position { rest.removeFirst() }
      if rest.first == place.position {
        rest.removeFirst()
        hasChanged = true
      } else {
        new.append(place.bytes, of: old)
      }
    }
    // It is not in the pack in which it would be.
    if rest.first == position { rest.removeFirst() }
    guard hasChanged else { return }
    if new.count == 0 {
      try deletePack.bind(1, new.first)
      try deletePack.run()
    } else {
      try updatePack.bind(1, new.first)
      try updatePack.bind(2, new.bytes)
      try updatePack.run()
    }
  }

  private mutating func storedPack(
    of position: Int64
  ) throws(SQLiteError) -> EntryPackReader? {
    try selectPack.bind(1, position)
    defer { selectPack.reset() }
    guard try selectPack.step() else { return nil }
    return try EntryPackReader(first: selectPack.integer(0), selectPack.blob(1))
  }
}
