internal import Relay
internal import SQLite
internal import Wire

/// Stores and deletes the entries of a journal, many at once.
struct EntryWriter: ~Copyable {
  private var packs: StoredPacks
  /// What is not stored yet.
  private var pack: EntryPack?

  /// - Parameter database: nothing was deleted from it by this process.
  static func prepare(on database: borrowing Database) throws(SQLiteError) -> EntryWriter {
    let lastRow = try database.integer(EntryTable.lastRow)
    return EntryWriter(
      packs: try StoredPacks.prepare(on: database.connection, lastRow: lastRow), pack: nil)
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
    try packs.add(pack)
    startAgain()
  }

  /// Deletes entries.
  /// - Parameter positions: in ascending order; entries that do not exist are skipped.
  mutating func delete(_ positions: ArraySlice<Int64>) throws(SQLiteError) {
    try packs.deleteEntries(positions)
  }
}
