internal import SQLite

/// The rows of `packs`, and those of older versions in `entry_rows`: finds, stores and deletes them.
struct StoredPacks: ~Copyable {
  /// Selects the packs up to a position, the last first.
  static let selectBack =
    "SELECT first, content FROM packs WHERE first <= ?1 ORDER BY first DESC"

  private var select: Statement
  private var insert: Statement
  private var update: Statement
  private var delete: Statement
  private var deleteRows: Statement
  /// The position up to which entries are in `entry_rows`; see `EntryTable.lastRow`.
  let lastRow: Int64

  static func prepare(
    on connection: SQLiteConnection, lastRow: Int64
  ) throws(SQLiteError) -> StoredPacks {
    StoredPacks(
      select: try Statement(selectBack, on: connection, tolerance: .leavesAndOverflows),
      insert: try Statement(
        "INSERT INTO packs (first, content) VALUES (?1, ?2)", on: connection, tolerance: .leaves),
      update: try Statement(
        "UPDATE packs SET content = ?2 WHERE first = ?1", on: connection, tolerance: .leaves),
      delete: try Statement(
        "DELETE FROM packs WHERE first = ?1", on: connection, tolerance: .leaves),
      deleteRows: try Statement(
        "DELETE FROM entry_rows WHERE position BETWEEN ?1 AND ?2", on: connection),
      lastRow: lastRow)
  }

  /// Returns the pack in which an entry is, or belongs.
  mutating func pack(of position: Int64) throws(SQLiteError) -> EntryPackReader? {
    try select.bind(1, position)
    defer { select.reset() }
    guard try select.step() else { return nil }
    return try select.pack()
  }

  /// Stores a new pack.
  mutating func add(_ pack: EntryPack) throws(SQLiteError) {
    try insert.bind(1, pack.first)
    try insert.bind(2, pack.bytes)
    try insert.run()
  }

  /// Stores what takes the place of a pack.
  mutating func replace(by pack: EntryPack) throws(SQLiteError) {
    if pack.count == 0 {
      try delete.bind(1, pack.first)
      try delete.run()
    } else {
      try update.bind(1, pack.first)
      try update.bind(2, pack.bytes)
      try update.run()
    }
  }

  /// Deletes entries.
  /// - Parameter positions: in ascending order; entries that do not exist are skipped.
  mutating func deleteEntries(_ positions: ArraySlice<Int64>) throws(SQLiteError) {
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
    guard let old = try pack(of: position) else {
      rest.removeFirst()
      return
    }
    let parts = old.parts()
    var new = EntryPack(replacing: old)
    var hasChanged = false
    for entry in parts.entries {
      while let next = rest.first, next < entry.position { rest.removeFirst() }
      if rest.first == entry.position {
        rest.removeFirst()
        hasChanged = true
      } else {
        new.append(entry.bytes, of: old)
      }
    }
    new.append(parts.rest, of: old)
    // It is not in the pack in which it would be.
    if rest.first == position { rest.removeFirst() }
    if hasChanged { try replace(by: new) }
  }
}
