internal import Relay
internal import SQLite
internal import Wire

/// The statements that record changes of earlier entries and their current state.
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
      // A reaction that is given twice keeps its first position.
      insertReaction: try Statement(
        """
        INSERT INTO reactions (room, target, user, emoji, seq) VALUES (?1, ?2, ?3, ?4, ?5)
        ON CONFLICT DO NOTHING
        """, on: database),
      deleteReaction: try Statement(
        "DELETE FROM reactions WHERE room = ?1 AND target = ?2 AND user = ?3 AND emoji = ?4",
        on: database))
  }

  mutating func record(
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
