internal import Relay
internal import SQLite
internal import Wire

/// Notes entries that are about others, and what becomes of those.
struct ChangeStatements: ~Copyable {
  private var insertChange: Statement
  private var insertEdit: Statement
  private var insertReaction: Statement
  private var deleteReaction: Statement

  static func prepare(on database: borrowing Database) throws(SQLiteError) -> ChangeStatements {
    ChangeStatements(
      insertChange: try Statement(
        "INSERT INTO changes (room, target, seq, position, number) VALUES (?1, ?2, ?3, ?4, ?5)",
        on: database),
      insertEdit: try Statement(
        "INSERT INTO edits (room, target, seq, position) VALUES (?1, ?2, ?3, ?4)", on: database),
      // One that is given twice stands where it was.
      insertReaction: try Statement(
        """
        INSERT INTO reactions (room, target, user, emoji, seq) VALUES (?1, ?2, ?3, ?4, ?5)
        ON CONFLICT DO NOTHING
        """, on: database),
      deleteReaction: try Statement(
        "DELETE FROM reactions WHERE room = ?1 AND target = ?2 AND user = ?3 AND emoji = ?4",
        on: database))
  }

  mutating func note(
    _ entry: Entry, room: Int64, position: Int64, _ change: StoreChanges.Change
  ) throws(SQLiteError) {
    try insertChange.bind(1, room)
    try insertChange.bind(2, change.target)
    try insertChange.bind(3, entry.seq)
    try insertChange.bind(4, position)
    try insertChange.bind(5, change.number)
    try insertChange.run()
    switch entry.kind {
    case .edit:
      try insertEdit.bind(1, room)
      try insertEdit.bind(2, change.target)
      try insertEdit.bind(3, entry.seq)
      try insertEdit.bind(4, position)
      try insertEdit.run()
    case .react:
      guard let (emoji, isOn) = entry.reaction else { return }
      if isOn {
        try insertReaction.bind(1, room)
        try insertReaction.bind(2, change.target)
        try insertReaction.bind(3, entry.from)
        try insertReaction.bind(4, emoji)
        try insertReaction.bind(5, entry.seq)
        try insertReaction.run()
      } else {
        try deleteReaction.bind(1, room)
        try deleteReaction.bind(2, change.target)
        try deleteReaction.bind(3, entry.from)
        try deleteReaction.bind(4, emoji)
        try deleteReaction.run()
      }
    default: break
    }
  }
}

/// What both the writer and the readers ask of what has become of an entry.
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
        WHERE edits.room = ?1 AND target = ?2 ORDER BY edits.seq DESC LIMIT 1
        """, on: database),
      selectChangesBefore: try Statement(
        "SELECT number FROM changes WHERE room = ?1 AND seq <= ?2 ORDER BY seq DESC LIMIT 1",
        on: database),
      selectChangesAfter: try Statement(
        "SELECT number FROM changes WHERE room = ?1 AND seq > ?2 ORDER BY seq LIMIT 1",
        on: database))
  }

  mutating func lastEdit(
    of target: Int64, inRoom number: Int64, named room: String
  ) throws(SQLiteError) -> Entry? {
    try selectLastEdit.bind(1, number)
    try selectLastEdit.bind(2, target)
    defer { selectLastEdit.reset() }
    return try selectLastEdit.step() ? try selectLastEdit.entry(in: room) : nil
  }

  /// - Returns: `nil` where there is none to count from.
  mutating func changes(
    inRoom number: Int64, through seq: Int64
  ) throws(SQLiteError) -> Int64? {
    try selectChangesBefore.bind(1, number)
    try selectChangesBefore.bind(2, seq)
    defer { selectChangesBefore.reset() }
    if try selectChangesBefore.step() { return selectChangesBefore.integer(0) }
    // Those before may have been deleted with what is no longer kept.
    try selectChangesAfter.bind(1, number)
    try selectChangesAfter.bind(2, seq)
    defer { selectChangesAfter.reset() }
    return try selectChangesAfter.step() ? selectChangesAfter.integer(0) - 1 : nil
  }
}
