internal import SQLite

/// The schema of an account's file, and its migrations.
enum Schema {
  /// "WSCH": marks the file as wschat's (`PRAGMA application_id`).
  static let applicationID: Int64 = 0x5753_4348

  /// Step *n* migrates from version *n* - 1 to version *n*. A released step never changes; new ones
  /// are added after it.
  static let steps = [
    """
    CREATE TABLE rooms (
      name TEXT PRIMARY KEY,
      title TEXT NOT NULL,
      peer TEXT,
      is_bot INTEGER NOT NULL DEFAULT 0,
      is_member INTEGER NOT NULL DEFAULT 0,
      head INTEGER NOT NULL DEFAULT 0,
      read INTEGER NOT NULL DEFAULT 0,
      unread INTEGER NOT NULL DEFAULT 0,
      is_muted INTEGER NOT NULL DEFAULT 0,
      draft TEXT NOT NULL DEFAULT '',
      marks TEXT NOT NULL DEFAULT '',  -- of other users: user, received and read, one line each
      -- The kept entries are those of this range from `first` to `latest`. Others are deleted in the
      -- background.
      epoch TEXT,
      range INTEGER NOT NULL DEFAULT 0,
      first INTEGER NOT NULL DEFAULT 1,
      latest INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    -- In the order of arrival, so that rows are not moved: SQLite overwrites deleted content, but not
    -- the copies that remain when it moves a row from page to page.
    CREATE TABLE entries (
      position INTEGER PRIMARY KEY,
      range INTEGER NOT NULL,
      seq INTEGER NOT NULL,
      target INTEGER,  -- the seq of the entry that this one refers to
      at INTEGER NOT NULL,
      sender TEXT NOT NULL,
      id TEXT NOT NULL,
      kind TEXT NOT NULL,
      body BLOB NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX places ON entries (range, seq);
    CREATE INDEX contents ON entries (range, seq, sender) WHERE kind IN ('text', 'data');
    CREATE INDEX changes ON entries (range, target, seq) WHERE target IS NOT NULL;
    CREATE TABLE names (user TEXT PRIMARY KEY, name TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE outbox (
      position INTEGER PRIMARY KEY,
      room TEXT NOT NULL,
      id TEXT NOT NULL,
      kind TEXT NOT NULL,
      body BLOB NOT NULL,
      reference TEXT,  -- what the next three are: 'reply', 'forward' or 'target'
      reference_seq INTEGER,
      reference_room TEXT,
      reference_from TEXT,
      at INTEGER NOT NULL,
      refusal TEXT,
      UNIQUE (room, id)
    ) STRICT;
    """,
    """
    -- The epochs of the entries as the relay told them, in the form of a query.
    ALTER TABLE rooms ADD COLUMN lineage TEXT NOT NULL DEFAULT '';
    """,
    """
    -- The user's own marks in the list.
    ALTER TABLE rooms ADD COLUMN is_pinned INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE rooms ADD COLUMN is_marked_unread INTEGER NOT NULL DEFAULT 0;
    """,
    """
    -- What several processes that share the file change.
    CREATE TABLE revisions (last INTEGER NOT NULL) STRICT;
    INSERT INTO revisions VALUES (1);
    ALTER TABLE rooms ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX revised ON rooms (revision);
    CREATE TABLE drafts (
      branch INTEGER PRIMARY KEY AUTOINCREMENT,
      room TEXT NOT NULL,
      version INTEGER NOT NULL,
      text TEXT NOT NULL
    ) STRICT;
    CREATE INDEX drafted ON drafts (room, version);
    INSERT INTO drafts (room, version, text) SELECT name, 1, draft FROM rooms WHERE draft <> '';
    ALTER TABLE rooms DROP COLUMN draft;
    -- The number of the process that sends the message: see `InstanceLock`.
    ALTER TABLE outbox ADD COLUMN owner INTEGER NOT NULL DEFAULT 0;
    """,
    """
    -- The index for searching, which the maintenance thread builds from `entries`: see SearchIndex.
    \(SearchIndex.table)
    CREATE TABLE blocks (
      block INTEGER PRIMARY KEY,
      newest INTEGER NOT NULL  -- the latest `at` of its indexed entries
    ) STRICT;
    -- Terms of texts that were deleted, until they are removed from the index.
    CREATE TABLE unindexing (position INTEGER PRIMARY KEY, terms TEXT NOT NULL) STRICT;
    CREATE TABLE indexing (
      through INTEGER NOT NULL DEFAULT 0,  -- the texts up to this position are indexed
      removed INTEGER NOT NULL DEFAULT 0,  -- texts whose terms are still in the file
      is_urgent INTEGER NOT NULL DEFAULT 0,  -- there are deleted texts among them
      is_merging INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    INSERT INTO indexing DEFAULT VALUES;
    """,
    """
    -- What changed a room is shown among its messages.
    CREATE INDEX notices ON entries (range, seq) WHERE kind IN ('settings', 'member');
    """,
    """
    -- So are the places of what blocked users have sent.
    CREATE INDEX hidden ON entries (range, seq) WHERE kind = 'hidden';
    """,
    """
    -- Messages whose files are uploaded first.
    CREATE TABLE uploads (
      position INTEGER PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,  -- of the message
      room TEXT NOT NULL,
      body BLOB NOT NULL,
      at INTEGER NOT NULL,
      path TEXT NOT NULL,
      bytes INTEGER NOT NULL,
      modified_at INTEGER NOT NULL,  -- nanoseconds since 1970
      file TEXT NOT NULL,  -- the relay's id of the upload; empty until it has begun
      owner INTEGER NOT NULL  -- as of the outbox
    ) STRICT;
    """,
  ]

  static var version: Int64 { Int64(steps.count) }

  /// Rejects files of other programs and of newer versions.
  static func check(_ database: borrowing Database, path: String) throws(ArchiveError) {
    do {
      let isNew =
        try database.integer("PRAGMA application_id") == 0
        && database.integer("SELECT count(*) FROM sqlite_schema") == 0
      if isNew { return }
      guard try database.integer("PRAGMA application_id") == applicationID else {
        throw ArchiveError(
          .foreign,
          "The file \(path) is a database of another program. Move it away; until then nothing is "
            + "saved.")
      }
      let found = try database.integer("PRAGMA user_version")
      guard found <= version else {
        throw ArchiveError(
          .foreign,
          "The history \(path) has schema version \(found), but this wschat supports versions up to "
            + "\(version). Use a newer wschat, or move the file away; until then "
            + "nothing is saved.")
      }
    } catch let error as SQLiteError {
      throw ArchiveError(error, path: path)
    } catch let error as ArchiveError {
      throw error
    } catch {
      preconditionFailure("no other error is thrown above: \(error)")
    }
  }

  static func migrate(_ database: borrowing Database) throws(SQLiteError) {
    guard try database.integer("PRAGMA user_version") < version else { return }
    try database.migrate(by: steps, applicationID: applicationID)
  }
}
