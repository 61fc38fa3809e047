internal import Postgres
internal import Relay

/// The tables of a store, and their migrations. They lie in a schema of their own, which is the search
/// path of each connection.
enum Schema {
  /// Step *n* migrates from version *n* - 1 to version *n*. A released step never changes; a new step
  /// is appended after it. One array element is one statement.
  static let steps: [[String]] = [
    [
      """
      CREATE TABLE settings (
        single boolean PRIMARY KEY DEFAULT true CHECK (single),
        version bigint NOT NULL,
        identity_key bytea NOT NULL  -- of the hash by which entries are found
      )
      """,
      """
      CREATE TABLE epochs (  -- a new one whenever the log was rolled back
        number bigint PRIMARY KEY,
        name text NOT NULL UNIQUE,
        position bigint NOT NULL,  -- of the last batch before it
        started_at bigint NOT NULL,
        system bigint NOT NULL,  -- the identifier of the database cluster
        timeline bigint NOT NULL  -- of that cluster: another one after a promotion or a recovery
      )
      """,
      """
      CREATE TABLE nodes (  -- one for each start of a relay
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        name text NOT NULL,
        started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        position bigint NOT NULL,  -- of the last batch that it has applied
        batch bigint NOT NULL DEFAULT 0  -- the last one that it has committed
      ) WITH (fillfactor = 50)
      """,
      """
      CREATE TABLE feed (  -- the last batches, for the other nodes
        position bigint PRIMARY KEY,
        node bigint NOT NULL,
        mark bigint NOT NULL,  -- random: shows that this is still the same log
        content bytea NOT NULL
      )
      """,
      // Most of it is text that another node reads within milliseconds.
      "ALTER TABLE feed ALTER COLUMN content SET STORAGE EXTERNAL",
      """
      CREATE TABLE rooms (
        number bigint PRIMARY KEY,
        name text COLLATE "C" NOT NULL UNIQUE,
        first bigint NOT NULL DEFAULT 1,  -- the oldest seq that is kept
        changes bigint NOT NULL DEFAULT 0  -- how many entries before it were not content
      )
      """,
      """
      CREATE TABLE room_epochs (  -- where in a room an epoch begins
        room bigint NOT NULL,
        epoch bigint NOT NULL,
        after bigint NOT NULL,  -- the last seq before it
        PRIMARY KEY (room, epoch)
      )
      """,
      """
      CREATE TABLE entries (
        room bigint NOT NULL,
        seq bigint NOT NULL,
        at bigint NOT NULL,
        identity bigint NOT NULL,  -- a hash of room, sender and id
        others bigint NOT NULL,  -- the last seq before it that another user sent
        content bigint NOT NULL,  -- the last text or data before it; of another user, if it is one
        target bigint,  -- the seq of the entry that it changes
        number bigint,  -- how many changes the room has up to this one
        sender text COLLATE "C" NOT NULL,
        id text COLLATE "C" NOT NULL,
        kind text COLLATE "C" NOT NULL,
        body bytea NOT NULL,
        PRIMARY KEY (room, seq)
      )
      """,
      "CREATE INDEX entries_by_identity ON entries (identity)",
      """
      CREATE INDEX changes_by_target ON entries (room, target, kind, seq) WHERE target IS NOT NULL
      """,
      "CREATE INDEX changes_by_seq ON entries (room, seq, number) WHERE target IS NOT NULL",
      """
      CREATE TABLE members (
        room bigint NOT NULL,
        username text COLLATE "C" NOT NULL,
        read bigint NOT NULL,
        received bigint NOT NULL,
        since bigint NOT NULL,  -- the room's last entry when the marks were stored
        PRIMARY KEY (room, username)
      ) WITH (fillfactor = 70)
      """,
      "CREATE INDEX members_by_user ON members (username, room)",
      """
      CREATE TABLE reactions (  -- the current ones
        room bigint NOT NULL,
        target bigint NOT NULL,
        username text COLLATE "C" NOT NULL,
        emoji text COLLATE "C" NOT NULL,
        seq bigint NOT NULL,  -- of the entry that gave it
        PRIMARY KEY (room, target, username, emoji)
      )
      """,
      "CREATE INDEX reactions_in_order ON reactions (room, target, emoji, seq)",
      """
      CREATE TABLE users (
        name text COLLATE "C" PRIMARY KEY,
        seen bigint NOT NULL  -- when the user came online or went offline
      )
      """,
    ],
    [
      "ALTER TABLE epochs ADD COLUMN store bigint",  // the identifier of the schema
      """
      UPDATE epochs SET store = (
        SELECT oid::bigint FROM pg_namespace WHERE nspname = current_schema())
      """,
      "ALTER TABLE epochs ALTER COLUMN store SET NOT NULL",
      // Random from now on: a restored database would give the same one to another node.
      "ALTER TABLE nodes ALTER COLUMN number DROP IDENTITY",
    ],
    [
      // What `settings` and `member` entries have made of rooms, kept when they are trimmed.
      """
      CREATE TABLE rules (
        room bigint PRIMARY KEY,
        settings bytea NOT NULL,  -- JSON members, as in the body of an entry
        owners bigint NOT NULL,  -- how many standings of the room are so
        members bigint NOT NULL,
        barred bigint NOT NULL
      )
      """,
      """
      CREATE TABLE standings (
        room bigint NOT NULL,
        username text COLLATE "C" NOT NULL,
        role text COLLATE "C" NOT NULL,  -- owner, moderator, member or none
        ban bigint NOT NULL,  -- -1 = none, 0 = for good, otherwise when it ends
        mute bigint NOT NULL,  -- as ban
        since bigint NOT NULL,  -- the seq that let the user in; 0 = none did
        inviter text COLLATE "C" NOT NULL,  -- who sent it, until the user takes part; otherwise empty
        PRIMARY KEY (room, username)
      )
      """,
      "CREATE INDEX invitations_by_user ON standings (username) WHERE inviter <> ''",
      "CREATE INDEX invitations_by_inviter ON standings (inviter) WHERE inviter <> ''",
    ],
    [
      """
      CREATE TABLE blocks (
        username text COLLATE "C" NOT NULL,
        blocked text COLLATE "C" NOT NULL,
        at bigint NOT NULL,  -- when it began
        PRIMARY KEY (username, blocked)
      )
      """,
      """
      CREATE TABLE directs (  -- direct rooms with hidden entries, or that are requests
        room bigint PRIMARY KEY,
        state text NOT NULL  -- `DirectState` is the format
      )
      """,
      """
      CREATE TABLE bans (
        username text COLLATE "C" PRIMARY KEY,
        until bigint NOT NULL  -- 0 = for good
      )
      """,
      """
      CREATE TABLE reports (  -- the reports in the room sys:reports
        report bigint PRIMARY KEY,  -- the seq there
        room bigint NOT NULL,
        seq bigint NOT NULL,  -- of the entry that it is about
        at bigint NOT NULL,
        copied boolean NOT NULL  -- whether it has a copy of that entry
      )
      """,
      "CREATE INDEX reports_by_entry ON reports (room, seq)",
      "CREATE INDEX copies_by_time ON reports (at) WHERE copied",
    ],
    FileSchema.step,
  ]

  static var version: Int64 { Int64(steps.count) }

  static let takeMigrationLock = PostgresStatement(
    once: "SELECT pg_advisory_xact_lock(hashtextextended('relay ' || $1::text, 0))")
  /// Reads the table, whose lock makes the session notice what others have created while it waited for
  /// the lock of migrations: `to_regnamespace` would answer from the session's cache.
  private static let selectExists = PostgresStatement(
    once: "SELECT count(*) > 0 FROM pg_namespace WHERE nspname = $1::text")
  static let selectHasSettings = PostgresStatement(
    once: "SELECT to_regclass('settings') IS NOT NULL")
  static let selectVersion = PostgresStatement(once: "SELECT version FROM settings")
  static let insertSettings = PostgresStatement(
    once: "INSERT INTO settings (version, identity_key) VALUES ($1::bigint, $2::bytea)")
  static let updateVersion = PostgresStatement(once: "UPDATE settings SET version = $1::bigint")

  /// Returns the version of the tables; 0 if there are none.
  static func version(on connection: PostgresConnection) throws(PostgresError) -> Int64 {
    guard try connection.run(selectHasSettings())[0].bool(0, 0) else { return 0 }
    return try connection.run(selectVersion())[0].int(0, 0)
  }

  /// Creates the schema and its tables, or migrates them, in one transaction. If they are current, that
  /// takes no right to do so.
  static func migrate(_ connection: PostgresConnection, schema: String) throws(PostgresError) {
    guard try version(on: connection) != Self.version else { return }
    try connection.run(
      begin(), PostgresStatement(once: "SET LOCAL statement_timeout = 0")(),
      takeMigrationLock(.text(schema)))
    if try !connection.run(selectExists(.text(schema)))[0].bool(0, 0) {
      try connection.run(PostgresStatement(once: "CREATE SCHEMA \(quoted(schema))")())
    }
    let version = try version(on: connection)
    guard version <= Self.version else {
      _ = try? connection.run(rollback())
      throw PostgresError(
        "the schema \(schema) has version \(version), and this relay knows versions up to "
          + "\(Self.version); use the newer relay that has migrated it")
    }
    var calls: [PostgresCall] = []
    for step in steps[Int(version)...] {
      calls += step.map { PostgresStatement(once: $0)() }
    }
    var random = SystemRandomNumberGenerator()
    if version == 0 {
      calls.append(
        insertSettings(
          .int(Self.version), .bytes(EntryIdentity.Key.random(using: &random).bytes)))
      calls.append(Epochs.insert(.text(Lineage.randomName(using: &random))))
    } else if version < Self.version {
      calls.append(updateVersion(.int(Self.version)))
    }
    calls.append(commit())
    do throws(PostgresError) { try connection.run(calls) } catch {
      guard error.sqlState == "42501" else { throw error }
      throw PostgresError(
        "the schema \(schema) has version \(version), must be brought to version \(Self.version), and "
          + "this user may not do so: \(error); run relay migrate as the owner of its tables")
    }
  }

  /// Returns a name as an SQL identifier.
  static func quoted(_ name: String) -> String {
    "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
      + "\""
  }

  static let begin = PostgresStatement(once: "BEGIN")
  static let commit = PostgresStatement(once: "COMMIT")
  static let rollback = PostgresStatement(once: "ROLLBACK")
}
