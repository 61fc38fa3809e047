internal import SQLite
internal import Wire

/// The statements on an entry's edits and changes that both the writer and the readers use.
struct TargetStatements: ~Copyable {
  private var selectLastEdit: Statement
  private var selectChangesBefore: Statement
  private var selectChangesAfter: Statement

  static func prepare(on database: borrowing Database) throws(SQLiteError) -> TargetStatements {
    TargetStatements(
      selectLastEdit: try Statement(
        """
        SELECT entries.seq, at, sender, id, kind, body
        FROM edits JOIN entries ON entries.position = edits.position
        WHERE edits.room = ?1 AND target = ?2 AND edits.seq <= ?3 ORDER BY edits.seq DESC LIMIT 1
        """, on: database),
      selectChangesBefore: try Statement(
        "SELECT number FROM changes WHERE room = ?1 AND seq <= ?2 ORDER BY seq DESC LIMIT 1",
        on: database),
      selectChangesAfter: try Statement(
        "SELECT number FROM changes WHERE room = ?1 AND seq > ?2 ORDER BY seq LIMIT 1",
        on: database))
  }

  mutating func lastEdit(
    of target: Int64, through seq: Int64, inRoom number: Int64, named room: String
  ) throws(SQLiteError) -> Entry? {
    try selectLastEdit.bind(1, number)
    try selectLastEdit.bind(2, target)
    try selectLastEdit.bind(3, seq)
    defer { selectLastEdit.reset() }
    return try selectLastEdit.step() ? try selectLastEdit.entry(in: room) : nil
  }

  /// - Returns: `nil` if no entry exists from which to count.
  mutating func changes(
    inRoom number: Int64, through seq: Int64
  ) throws(SQLiteError) -> Int64? {
    try selectChangesBefore.bind(1, number)
    try selectChangesBefore.bind(2, seq)
    defer { selectChangesBefore.reset() }
    if try selectChangesBefore.step() { return selectChangesBefore.integer(0) }
    // The preceding rows may have been deleted with entries that are no longer kept.
    try selectChangesAfter.bind(1, number)
    try selectChangesAfter.bind(2, seq)
    defer { selectChangesAfter.reset() }
    return try selectChangesAfter.step() ? selectChangesAfter.integer(0) - 1 : nil
  }
}
