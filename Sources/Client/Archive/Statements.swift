internal import SQLite

/// The prepared statements, which live as long as the file is open.
struct Statements: ~Copyable {
  static let columns = "seq, at, sender, id, kind, body"

  /// What a conversation shows: the messages, what changed the room, and what is hidden.
  private static func shown(_ place: String, order: String) -> String {
    let parts = [
      ("contents", "IN ('text', 'data')"), ("notices", "IN ('settings', 'member')"),
      ("hidden", "= 'hidden'"),
    ].map {
      """
      SELECT * FROM (
        SELECT \(columns) FROM entries INDEXED BY \($0)
        WHERE range = ?1 AND \(place) AND kind \($1) ORDER BY \(order) LIMIT ?4)
      """
    }
    return "\(parts.joined(separator: " UNION ALL ")) ORDER BY \(order) LIMIT ?4"
  }

  static let outgoingColumns = """
    room, id, kind, body, reference, reference_seq, reference_room, reference_from, at, refusal
    """

  var begin: Statement
  var beginReading: Statement
  var commit: Statement
  var selectRoom: Statement
  var selectRooms: Statement
  var insertRoom: Statement
  var deleteRoom: Statement
  var updateRange: Statement
  var selectLastRange: Statement
  var upsertRoom: Statement
  var selectNames: Statement
  var upsertName: Statement
  var insertEntry: Statement
  var selectPlace: Statement
  var deletePlace: Statement
  var selectIndexed: Statement
  var insertUnindexing: Statement
  var lowerThrough: Statement
  var selectLast: Statement
  var selectShown: Statement
  var selectShownAfter: Statement
  var selectTime: Statement
  var selectBeginnings: Statement
  var selectEntry: Statement
  var selectChanges: Statement
  var selectDeletions: Statement
  var redactContent: Statement
  var redactEdits: Statement
  var countContents: Statement
  var insertOutgoing: Statement
  var selectOutgoing: Statement
  var deleteOutgoing: Statement
  var refuseOutgoing: Statement
  var selectOwners: Statement
  var adoptOutgoing: Statement
  var uploads: UploadStatements
  var drafts: DraftStatements
  var shared: SharedStatements

  static func prepare(on database: borrowing Database) throws(SQLiteError) -> Statements {
    Statements(
      begin: try Statement("BEGIN IMMEDIATE", on: database),
      beginReading: try Statement("BEGIN", on: database),
      commit: try Statement("COMMIT", on: database),
      selectRoom: try Statement(
        "SELECT epoch, range, first, latest, lineage FROM rooms WHERE name = ?1", on: database),
      selectRooms: try Statement(
        """
        SELECT name, title, peer, is_bot, is_member, head, read, unread, is_muted, epoch, range,
          first, latest, marks, lineage, is_pinned, is_marked_unread
        FROM rooms ORDER BY rowid
        """, on: database),
      insertRoom: try Statement(
        "INSERT INTO rooms (name, title) VALUES (?1, ?1) ON CONFLICT DO NOTHING", on: database),
      deleteRoom: try Statement("DELETE FROM rooms WHERE name = ?1", on: database),
      updateRange: try Statement(
        """
        UPDATE rooms SET epoch = ?2, range = ?3, first = ?4, latest = ?5, lineage = ?6
        WHERE name = ?1
        """, on: database),
      // Includes dropped ranges whose entries are not all deleted yet.
      selectLastRange: try Statement(
        """
        SELECT max(coalesce((SELECT max(range) FROM rooms), 0),
                   coalesce((SELECT max(range) FROM entries), 0))
        """, on: database),
      upsertRoom: try Statement(
        """
        INSERT INTO rooms (name, title, peer, is_bot, is_member, head, marks)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
        ON CONFLICT DO UPDATE SET title = ?2, peer = ?3, is_bot = ?4, is_member = ?5, head = ?6,
          marks = ?7
        """, on: database),
      selectNames: try Statement("SELECT user, name FROM names", on: database),
      upsertName: try Statement(
        """
        INSERT INTO names (user, name) VALUES (?1, ?2)
        ON CONFLICT DO UPDATE SET name = ?2 WHERE name <> ?2
        """, on: database),
      insertEntry: try Statement(
        """
        INSERT INTO entries (range, seq, target, at, sender, id, kind, body)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
        """, on: database),
      selectPlace: try Statement(
        """
        SELECT position, kind, body, position <= (SELECT through FROM indexing) FROM entries
        WHERE range = ?1 AND seq = ?2
        """, on: database),
      deletePlace: try Statement("DELETE FROM entries WHERE position = ?1", on: database),
      // The indexed texts of a message: its own, and those of its edits.
      selectIndexed: try Statement(
        """
        SELECT position, kind, body FROM entries
        WHERE range = ?1 AND seq = ?2 AND position <= (SELECT through FROM indexing)
        UNION ALL
        SELECT position, kind, body FROM entries INDEXED BY changes
        WHERE range = ?1 AND target = ?2 AND kind = 'edit'
          AND position <= (SELECT through FROM indexing)
        """, on: database),
      insertUnindexing: try Statement(
        "INSERT OR IGNORE INTO unindexing (position, terms) VALUES (?1, ?2)", on: database),
      lowerThrough: try Statement(SearchIndex.lowerThroughSQL, on: database),
      selectLast: try Statement(
        """
        SELECT \(columns) FROM entries INDEXED BY contents
        WHERE range = ?1 AND seq >= ?2 AND seq <= ?3 AND kind IN ('text', 'data')
        ORDER BY seq DESC LIMIT 1
        """, on: database),
      selectShown: try Statement(
        shown("seq >= ?2 AND seq < ?3", order: "seq DESC"), on: database),
      selectShownAfter: try Statement(
        shown("seq > ?2 AND seq <= ?3", order: "seq"), on: database),
      selectTime: try Statement(
        "SELECT at FROM entries WHERE range = ?1 AND seq = ?2", on: database),
      selectBeginnings: try Statement(
        """
        SELECT name, (SELECT at FROM entries WHERE range = rooms.range AND seq = rooms.first)
        FROM rooms WHERE epoch IS NOT NULL AND first > 1
        """, on: database),
      selectEntry: try Statement(
        "SELECT \(columns) FROM entries WHERE range = ?1 AND seq = ?2", on: database),
      selectChanges: try Statement(
        """
        SELECT \(columns), target FROM entries INDEXED BY changes
        WHERE range = ?1 AND target BETWEEN ?2 AND ?3 AND seq BETWEEN ?4 AND ?5
        ORDER BY target, seq
        """, on: database),
      selectDeletions: try Statement(
        """
        SELECT target FROM entries INDEXED BY changes
        WHERE range = ?1 AND target BETWEEN ?2 AND ?3 AND seq BETWEEN ?4 AND ?5
          AND kind = 'delete'
        """, on: database),
      redactContent: try Statement(
        """
        UPDATE entries SET body = iif(kind = 'text', ?3, ?4)
        WHERE range = ?1 AND seq = ?2 AND kind IN ('text', 'data')
          AND body <> iif(kind = 'text', ?3, ?4)
        """, on: database),
      redactEdits: try Statement(
        """
        UPDATE entries SET body = ?3
        WHERE range = ?1 AND target = ?2 AND kind = 'edit' AND body <> ?3
        """, on: database),
      countContents: try Statement(
        """
        SELECT count(*) FROM entries INDEXED BY contents
        WHERE range = ?1 AND seq > ?2 AND seq <= ?3 AND kind IN ('text', 'data') AND sender <> ?4
        """, on: database),
      insertOutgoing: try Statement(
        """
        INSERT INTO outbox (\(outgoingColumns), owner)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
        ON CONFLICT DO NOTHING
        """, on: database),
      selectOutgoing: try Statement(
        "SELECT \(outgoingColumns), owner FROM outbox ORDER BY position", on: database),
      deleteOutgoing: try Statement(
        "DELETE FROM outbox WHERE room = ?1 AND id = ?2", on: database),
      refuseOutgoing: try Statement(
        "UPDATE outbox SET refusal = ?3 WHERE room = ?1 AND id = ?2", on: database),
      selectOwners: try Statement("SELECT DISTINCT owner FROM outbox", on: database),
      adoptOutgoing: try Statement(
        "UPDATE outbox SET owner = ?2 WHERE owner = ?1", on: database),
      uploads: try UploadStatements.prepare(on: database),
      drafts: try DraftStatements.prepare(on: database),
      shared: try SharedStatements.prepare(on: database))
  }
}

extension Statement {
  mutating func bind(_ index: Int32, _ text: String?) throws(SQLiteError) {
    if let text { try bind(index, text) } else { try bindNull(index) }
  }

  mutating func bind(_ index: Int32, _ value: Int64?) throws(SQLiteError) {
    if let value { try bind(index, value) } else { try bindNull(index) }
  }

  mutating func bind(_ index: Int32, _ flag: Bool) throws(SQLiteError) {
    try bind(index, flag ? 1 : 0 as Int64)
  }

  func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

  func flag(_ column: Int32) -> Bool { integer(column) != 0 }
}
