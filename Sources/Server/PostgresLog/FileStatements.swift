internal import Postgres
internal import Relay

/// The statements about files.
enum FileStatements {
  private static let columns = "id, owner, hash, thumbnail, description, at, sent"
  static let select = PostgresStatement(
    "select_file", "SELECT \(columns) FROM files WHERE id = $1::text")
  /// Each step finds the next room in the index, however many entries name the file.
  static let selectPlaces = PostgresStatement(
    "select_file_places",
    """
    WITH RECURSIVE places (room, seq, sender, depth) AS (
      (SELECT room, seq, sender, 1 FROM file_entries WHERE file = $1::text
        ORDER BY room, seq DESC LIMIT 1)
      UNION ALL
      SELECT next.room, next.seq, next.sender, depth + 1
      FROM places CROSS JOIN LATERAL (
        SELECT room, seq, sender FROM file_entries
        WHERE file = $1::text AND file_entries.room > places.room
        ORDER BY room, seq DESC LIMIT 1) AS next
      WHERE depth < \(FilePlace.limit))
    SELECT name, seq, sender FROM places JOIN rooms ON rooms.number = room ORDER BY room
    """)
  static let selectBytes = PostgresStatement(
    "select_file_bytes", "SELECT bytes FROM file_users WHERE username = $1::text")
  static let selectUnused = PostgresStatement(
    "select_unused_bytes", "SELECT hash FROM unused_bytes ORDER BY hash LIMIT $1::bigint")
  static let selectUsed = PostgresStatement(
    "select_used_bytes",
    """
    SELECT asked.hash FROM unnest($1::text[]) AS asked (hash)
    WHERE EXISTS (SELECT FROM files WHERE files.hash = asked.hash)
      OR EXISTS (SELECT FROM files WHERE thumbnail = asked.hash AND thumbnail <> '')
    """)
  static let selectUnsent = PostgresStatement(
    "select_unsent_files",
    "SELECT id FROM files WHERE NOT sent AND at < $1::bigint ORDER BY at LIMIT $2::bigint")
  /// Files that entries name: of all rooms, or of one.
  static let declareExported = PostgresStatement(
    once: """
      DECLARE exported_files NO SCROLL CURSOR WITH HOLD FOR
      SELECT \(columns) FROM files WHERE sent AND ($1::text = '' OR EXISTS (
        SELECT FROM file_entries JOIN rooms ON rooms.number = room
        WHERE file = id AND name = $1::text))
      ORDER BY id
      """)

  static let insert = PostgresStatement(
    "insert_files",
    """
    INSERT INTO files (id, owner, hash, thumbnail, bytes, description, at)
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[],
      $6::bytea[], $7::bigint[])
    ON CONFLICT DO NOTHING
    """)
  static let insertEntries = PostgresStatement(
    "insert_file_entries",
    """
    INSERT INTO file_entries (room, seq, file, sender)
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[])
    """)
  static let deleteEntries = PostgresStatement(
    "delete_file_entries",
    """
    DELETE FROM file_entries USING unnest($1::bigint[], $2::bigint[]) AS redacted (room, seq)
    WHERE file_entries.room = redacted.room AND file_entries.seq = redacted.seq
    """)
  static let trimEntries = PostgresStatement(
    "trim_file_entries",
    """
    DELETE FROM file_entries USING unnest($1::bigint[], $2::bigint[]) AS trimmed (room, first)
    WHERE file_entries.room = trimmed.room AND file_entries.seq < trimmed.first
    """)
  static let delete = PostgresStatement(
    "delete_files", "DELETE FROM files WHERE id = ANY ($1::text[]) AND NOT sent")
  static let deleteUnsent = PostgresStatement(
    "delete_unsent_files", "DELETE FROM files WHERE owner = ANY ($1::text[]) AND NOT sent")
  static let updateOwners = PostgresStatement(
    "update_file_owners", "UPDATE files SET owner = '' WHERE owner = ANY ($1::text[])")
  static let deleteUnused = PostgresStatement(
    "delete_unused_bytes", "DELETE FROM unused_bytes WHERE hash = ANY ($1::text[])")
}
