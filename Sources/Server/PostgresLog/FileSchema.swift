internal import Postgres
internal import Relay
internal import Wire

/// The tables of files, as `Schema` of SQLite has them. Triggers keep them in step, whoever removes an entry.
enum FileSchema {
  static let step: [String] =
    [
      """
      CREATE TABLE files (
        id text COLLATE "C" PRIMARY KEY,
        owner text COLLATE "C" NOT NULL,  -- who has uploaded it; empty if that user was erased
        hash text COLLATE "C" NOT NULL,  -- of the bytes, which are elsewhere
        thumbnail text COLLATE "C" NOT NULL,  -- the hash of its thumbnail; empty = none
        bytes bigint NOT NULL,
        description bytea NOT NULL,  -- JSON members, as in the body of an entry
        at bigint NOT NULL,  -- when it was uploaded
        sent boolean NOT NULL DEFAULT false,  -- whether an entry has named it
        entries bigint NOT NULL DEFAULT 0  -- how many do now
      )
      """,
      "CREATE INDEX files_by_hash ON files (hash)",
      "CREATE INDEX files_by_thumbnail ON files (thumbnail) WHERE thumbnail <> ''",
      "CREATE INDEX unsent_files ON files (at) WHERE NOT sent",
      "CREATE INDEX files_by_owner ON files (owner)",
      """
      CREATE TABLE file_entries (  -- the entries that name files
        room bigint NOT NULL,
        seq bigint NOT NULL,
        file text COLLATE "C" NOT NULL,
        sender text COLLATE "C" NOT NULL,
        PRIMARY KEY (room, seq)
      )
      """,
      "CREATE INDEX file_entries_by_file ON file_entries (file, room, seq DESC)",
      """
      CREATE TABLE file_users (  -- the size of what each has uploaded and not sent, and of what their entries name
        username text COLLATE "C" PRIMARY KEY,
        bytes bigint NOT NULL
      )
      """,
      """
      CREATE TABLE unused_bytes (  -- the hashes of bytes that no file has, and that are to be removed
        hash text COLLATE "C" PRIMARY KEY
      )
      """,
    ]
    + trigger(
      "file_uploaded", "INSERT", "files",
      """
      INSERT INTO file_users (username, bytes) VALUES (new.owner, new.bytes)
      ON CONFLICT (username) DO UPDATE SET bytes = file_users.bytes + excluded.bytes;
      DELETE FROM unused_bytes WHERE hash IN (new.hash, new.thumbnail);
      """)
    + trigger(
      "file_named", "INSERT", "file_entries",
      """
      INSERT INTO file_users (username, bytes) SELECT new.sender, bytes FROM files WHERE id = new.file
      ON CONFLICT (username) DO UPDATE SET bytes = file_users.bytes + excluded.bytes;
      UPDATE file_users SET bytes = file_users.bytes - files.bytes FROM files
      WHERE files.id = new.file AND NOT files.sent AND file_users.username = files.owner;
      UPDATE files SET entries = entries + 1, sent = true WHERE id = new.file;
      """)
    + trigger(
      "file_unnamed", "DELETE", "file_entries",
      """
      UPDATE file_users SET bytes = file_users.bytes - files.bytes FROM files
      WHERE files.id = old.file AND file_users.username = old.sender;
      DELETE FROM file_users WHERE username = old.sender AND bytes = 0;
      UPDATE files SET entries = entries - 1 WHERE id = old.file;
      DELETE FROM files WHERE id = old.file AND entries = 0;
      """)
    + trigger(
      "file_forgotten", "DELETE", "files",
      """
      UPDATE file_users SET bytes = bytes - old.bytes WHERE username = old.owner AND NOT old.sent;
      DELETE FROM file_users WHERE username = old.owner AND bytes = 0;
      INSERT INTO unused_bytes (hash)
      SELECT DISTINCT gone.hash FROM unnest(ARRAY[old.hash, old.thumbnail]) AS gone (hash)
      WHERE gone.hash <> '' AND NOT EXISTS (SELECT FROM files WHERE files.hash = gone.hash)
        AND NOT EXISTS (SELECT FROM files WHERE thumbnail = gone.hash AND thumbnail <> '')
      ON CONFLICT DO NOTHING;
      """)

  /// The function finds its tables whatever the search path of the session is that changes one.
  private static func trigger(
    _ name: String, _ event: String, _ table: String, _ body: String
  ) -> [String] {
    [
      """
      CREATE FUNCTION \(name)() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $body$
      BEGIN
      \(body)
      RETURN NULL;
      END
      $body$
      """,
      """
      CREATE TRIGGER \(name) AFTER \(event) ON \(table) FOR EACH ROW EXECUTE FUNCTION \(name)()
      """,
    ]
  }

  /// What `Maintenance.verify` finds wrong: a room or NULL, a seq or NULL, and the problem.
  static let checks = [
    """
    SELECT name, seq, 'the table file_entries does not match the entry'
    FROM (
      SELECT room, seq FROM entries
      WHERE kind = 'file' AND substr(body, 1, 10) <> '"deleted":'::bytea) AS naming
    FULL JOIN file_entries USING (room, seq) JOIN rooms ON rooms.number = room AND seq >= first
    WHERE naming.seq IS NULL OR file_entries.seq IS NULL
    """,
    """
    SELECT NULL, NULL::bigint, format('the file %s counts the entries that name it wrongly', id)
    FROM files WHERE entries <> (SELECT count(*) FROM file_entries WHERE file = id)
      OR sent <> (entries > 0)
    """,
    """
    SELECT NULL, NULL::bigint, format('the user %s has another size than its files', username)
    FROM file_users FULL JOIN (
      SELECT username, sum(bytes) AS bytes FROM (
        SELECT owner AS username, bytes FROM files WHERE NOT sent
        UNION ALL
        SELECT sender, bytes FROM file_entries JOIN files ON id = file) AS files
      GROUP BY username) AS expected USING (username)
    WHERE coalesce(file_users.bytes, 0) <> coalesce(expected.bytes, 0)
    """,
    """
    SELECT NULL, NULL::bigint, format('the hash %s is to be removed, and a file has it', hash)
    FROM unused_bytes WHERE hash IN (SELECT hash FROM files) OR hash IN (SELECT thumbnail FROM files)
    """,
  ]

  private static let selectDescriptions = PostgresStatement(
    "select_file_descriptions",
    "SELECT id, description FROM files WHERE id > $1::text ORDER BY id LIMIT 500")

  /// Checks what SQL cannot, in the transaction of the other checks.
  static func verifyDescriptions(
    on connection: PostgresConnection, _ verification: inout StoreVerification
  ) throws(PostgresError) {
    var last = ""
    while true {
      let rows = try connection.run(selectDescriptions(.text(last)))[0]
      guard !rows.isEmpty else { return }
      for row in 0..<rows.count {
        last = rows.text(row, 0)
        if FileDescription(body: rows.byteString(row, 1)) == nil {
          verification.add("the description of the file \(last) is invalid")
        }
      }
    }
  }
}
