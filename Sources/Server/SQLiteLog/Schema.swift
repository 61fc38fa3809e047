internal import CSQLite
internal import Relay
internal import SQLite

/// The schema of a store's database file, and its migrations.
enum Schema {
  /// "RELY", the `PRAGMA application_id` of a relay's file.
  static let applicationID: Int64 = 0x5245_4C59

  /// The page size of new files. Entries are appended, so that large pages halve the bytes written
  /// and save a tenth of a commit's CPU time, compared to 4 KiB.
  static let pageBytes = 16_384

  /// Sets how many of a room's entries change other entries.
  static let updateChanges = "UPDATE rooms SET changes = ?2 WHERE number = ?1"

  /// Step *n* migrates from version *n* - 1 to version *n*. A released step never changes; a new
  /// step is appended after it.
  static let steps = [
    """
    -- One row for each start, and for each import into a store that had entries.
    CREATE TABLE epochs (
      number INTEGER PRIMARY KEY,
      name TEXT NOT NULL UNIQUE,
      position INTEGER NOT NULL,  -- of the last entry before the epoch
      started_at INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE rooms (
      number INTEGER PRIMARY KEY,
      name TEXT NOT NULL UNIQUE,
      first INTEGER NOT NULL DEFAULT 1  -- the oldest seq that is kept
    ) STRICT;
    CREATE TABLE entries (
      position INTEGER PRIMARY KEY,  -- the order of commits, over all rooms
      room INTEGER NOT NULL,
      seq INTEGER NOT NULL,
      epoch INTEGER NOT NULL,
      at INTEGER NOT NULL,
      identity INTEGER NOT NULL,  -- a hash of room, sender and id
      sender TEXT NOT NULL,
      id TEXT NOT NULL,
      kind TEXT NOT NULL,
      body BLOB NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX entries_by_place ON entries (room, seq);
    CREATE INDEX entries_by_identity ON entries (identity);
    CREATE TABLE members (
      room INTEGER NOT NULL,
      user TEXT NOT NULL,
      read INTEGER NOT NULL,
      received INTEGER NOT NULL,
      PRIMARY KEY (room, user)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX members_by_user ON members (user);
    """,
    """
    -- The room's last entry when the marks were stored: entries that the member sends later move
    -- the marks without an update of this table.
    ALTER TABLE members ADD COLUMN since INTEGER NOT NULL DEFAULT 0;
    UPDATE members SET since =
      coalesce((SELECT max(seq) FROM entries WHERE entries.room = members.room), 0);
    -- Both indexes are replaced by a separate file, which is written in the background.
    DROP INDEX entries_by_place;
    DROP INDEX entries_by_identity;
    """,
    """
    -- Entries that change other entries: edits, deletions, reactions.
    CREATE TABLE changes (
      room INTEGER NOT NULL,
      target INTEGER NOT NULL,  -- the seq of the changed entry
      seq INTEGER NOT NULL,
      position INTEGER NOT NULL,
      number INTEGER NOT NULL,  -- how many changes the room has up to this one
      PRIMARY KEY (room, target, seq)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX changes_by_seq ON changes (room, seq, number);
    ALTER TABLE rooms ADD COLUMN changes INTEGER NOT NULL DEFAULT 0;  -- how many there were so far
    CREATE TABLE users (
      name TEXT PRIMARY KEY,
      seen INTEGER NOT NULL,  -- when the user came online or went offline
      here INTEGER NOT NULL  -- 1 = online
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX users_here ON users (here) WHERE here = 1;
    """,
    """
    -- The current state of entries that were changed, so that reading it does not depend on the
    -- number of changes.
    CREATE TABLE edits (
      room INTEGER NOT NULL,
      target INTEGER NOT NULL,
      seq INTEGER NOT NULL,
      position INTEGER NOT NULL,
      PRIMARY KEY (room, target, seq)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE reactions (
      room INTEGER NOT NULL,
      target INTEGER NOT NULL,
      user TEXT NOT NULL,
      emoji TEXT NOT NULL,
      seq INTEGER NOT NULL,  -- of the entry that gave the reaction
      PRIMARY KEY (room, target, user, emoji)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX reactions_in_order ON reactions (room, target, emoji, seq, user);
    CREATE TABLE emoji (
      room INTEGER NOT NULL,
      target INTEGER NOT NULL,
      emoji TEXT NOT NULL,
      users INTEGER NOT NULL,  -- how many users give it
      PRIMARY KEY (room, target, emoji)
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER reaction_given AFTER INSERT ON reactions BEGIN
      INSERT INTO emoji (room, target, emoji, users) VALUES (new.room, new.target, new.emoji, 1)
      ON CONFLICT DO UPDATE SET users = users + 1;
    END;
    CREATE TRIGGER reaction_taken_back AFTER DELETE ON reactions BEGIN
      UPDATE emoji SET users = users - 1
      WHERE room = old.room AND target = old.target AND emoji = old.emoji;
      DELETE FROM emoji
      WHERE room = old.room AND target = old.target AND emoji = old.emoji AND users = 0;
    END;
    -- Deleted texts of which some edits are not overwritten yet.
    CREATE TABLE redactions (
      room INTEGER NOT NULL,
      target INTEGER NOT NULL,
      through INTEGER NOT NULL,  -- the seq of the last overwritten edit
      PRIMARY KEY (room, target)
    ) STRICT, WITHOUT ROWID;
    -- Rooms with reactions to trimmed entries that are not deleted yet.
    CREATE TABLE trims (
      room INTEGER PRIMARY KEY,
      first INTEGER NOT NULL  -- the oldest seq that is kept
    ) STRICT;
    INSERT INTO edits (room, target, seq, position)
      SELECT changes.room, changes.target, changes.seq, changes.position \(fromChanges)
      WHERE entries.kind = 'edit';
    INSERT INTO reactions (room, target, user, emoji, seq) \(currentReactions);
    """,
    """
    -- Secret values: `identity`, the key of the hash that entries are found by.
    CREATE TABLE secrets (
      name TEXT PRIMARY KEY,
      value BLOB NOT NULL
    ) STRICT, WITHOUT ROWID;
    """,
    """
    -- Who sent the entries before it, so that no run of entries of one sender has to be read. Both
    -- are distances in seq. Entries of older versions have 1, and are read one by one.
    ALTER TABLE entries ADD COLUMN others INTEGER NOT NULL DEFAULT 1;  -- to one of another sender
    -- To the last text or data: if it is one itself, to that of another sender.
    ALTER TABLE entries ADD COLUMN content INTEGER NOT NULL DEFAULT 1;
    -- So far every entry has moved the marks of its sender.
    UPDATE members SET read = max(read, sent.seq), received = max(received, sent.seq)
      FROM (SELECT room, sender, max(seq) AS seq FROM entries GROUP BY room, sender) AS sent
      WHERE sent.room = members.room AND sent.sender = members.user
        AND sent.seq > members.since;
    """,
    """
    -- Several consecutive entries in one row: `EntryPack` is the format. The older rows stay where they
    -- are. `entries` is from now on a table that shows both, one row an entry (`EntryTable`).
    ALTER TABLE entries RENAME TO entry_rows;
    CREATE TABLE packs (
      first INTEGER PRIMARY KEY,  -- the position of the first entry, or one before it
      content BLOB NOT NULL
    ) STRICT;
    """,
    """
    -- What `settings` and `member` entries have made of rooms, kept when they are trimmed.
    CREATE TABLE rules (
      room INTEGER PRIMARY KEY,
      settings BLOB NOT NULL,  -- JSON members, as in the body of an entry
      owners INTEGER NOT NULL,  -- how many standings of the room are so
      members INTEGER NOT NULL,
      barred INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE standings (
      room INTEGER NOT NULL,
      user TEXT NOT NULL,
      role TEXT NOT NULL,  -- owner, moderator, member or none
      ban INTEGER NOT NULL,  -- -1 = none, 0 = for good, otherwise when it ends
      mute INTEGER NOT NULL,  -- as ban
      since INTEGER NOT NULL,  -- the seq that let the user in; 0 = none did
      inviter TEXT NOT NULL,  -- who sent that entry, until the user takes part; otherwise empty
      PRIMARY KEY (room, user)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX invitations_by_user ON standings (user) WHERE inviter <> '';
    CREATE INDEX invitations_by_inviter ON standings (inviter) WHERE inviter <> '';
    """,
    """
    CREATE TABLE blocks (
      user TEXT NOT NULL,
      blocked TEXT NOT NULL,
      at INTEGER NOT NULL,  -- when it began
      PRIMARY KEY (user, blocked)
    ) STRICT, WITHOUT ROWID;
    -- Direct rooms with hidden entries, or that are requests: `DirectState` is the format.
    CREATE TABLE directs (
      room INTEGER PRIMARY KEY,
      state TEXT NOT NULL
    ) STRICT;
    CREATE TABLE bans (
      user TEXT PRIMARY KEY,
      until INTEGER NOT NULL  -- 0 = for good
    ) STRICT, WITHOUT ROWID;
    -- The reports in the room sys:reports.
    CREATE TABLE reports (
      report INTEGER PRIMARY KEY,  -- the seq there
      room INTEGER NOT NULL,
      seq INTEGER NOT NULL,  -- of the entry that it is about
      at INTEGER NOT NULL,
      copied INTEGER NOT NULL  -- whether it has a copy of that entry
    ) STRICT;
    CREATE INDEX reports_by_entry ON reports (room, seq);
    CREATE INDEX copies_by_time ON reports (at) WHERE copied = 1;
    """,
    """
    -- Each page of a new file has a checksum (`PageChecksum`), which an older relay would not write.
    """,
    """
    CREATE TABLE files (
      id TEXT PRIMARY KEY,
      owner TEXT NOT NULL,  -- who has uploaded it; empty if that user was erased
      hash TEXT NOT NULL,  -- of the bytes, which are elsewhere
      thumbnail TEXT NOT NULL,  -- the hash of its thumbnail; empty = none
      bytes INTEGER NOT NULL,
      description BLOB NOT NULL,  -- JSON members, as in the body of an entry
      at INTEGER NOT NULL,  -- when it was uploaded
      sent INTEGER NOT NULL DEFAULT 0,  -- whether an entry has named it
      entries INTEGER NOT NULL DEFAULT 0  -- how many do now
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX files_by_hash ON files (hash);
    CREATE INDEX files_by_thumbnail ON files (thumbnail) WHERE thumbnail <> '';
    CREATE INDEX unsent_files ON files (at) WHERE sent = 0;
    -- The entries that name files.
    CREATE TABLE file_entries (
      room INTEGER NOT NULL,
      seq INTEGER NOT NULL,
      file TEXT NOT NULL,
      sender TEXT NOT NULL,
      PRIMARY KEY (room, seq)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX file_entries_by_file ON file_entries (file, room, seq);
    -- The size of what each user has uploaded and not sent, and of what each of their entries names.
    CREATE TABLE file_users (
      user TEXT PRIMARY KEY,
      bytes INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    -- The hashes of bytes that no file has, and that are to be removed.
    CREATE TABLE unused_bytes (
      hash TEXT PRIMARY KEY
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER file_uploaded AFTER INSERT ON files BEGIN
      INSERT INTO file_users (user, bytes) VALUES (new.owner, new.bytes)
      ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes;
      DELETE FROM unused_bytes WHERE hash IN (new.hash, new.thumbnail);
    END;
    CREATE TRIGGER file_named AFTER INSERT ON file_entries BEGIN
      INSERT INTO file_users (user, bytes) SELECT new.sender, bytes FROM files WHERE id = new.file
      ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes;
      UPDATE file_users SET bytes = file_users.bytes - files.bytes FROM files
      WHERE files.id = new.file AND files.sent = 0 AND file_users.user = files.owner;
      UPDATE files SET entries = entries + 1, sent = 1 WHERE id = new.file;
    END;
    CREATE TRIGGER file_unnamed AFTER DELETE ON file_entries BEGIN
      UPDATE file_users SET bytes = file_users.bytes - files.bytes FROM files
      WHERE files.id = old.file AND file_users.user = old.sender;
      DELETE FROM file_users WHERE user = old.sender AND bytes = 0;
      UPDATE files SET entries = entries - 1 WHERE id = old.file;
      DELETE FROM files WHERE id = old.file AND entries = 0;
    END;
    CREATE TRIGGER file_forgotten AFTER DELETE ON files BEGIN
      UPDATE file_users SET bytes = bytes - old.bytes WHERE user = old.owner AND old.sent = 0;
      DELETE FROM file_users WHERE user = old.owner AND bytes = 0;
      INSERT OR IGNORE INTO unused_bytes (hash) SELECT old.hash
      WHERE NOT EXISTS (SELECT 1 FROM files WHERE hash = old.hash)
        AND NOT EXISTS (SELECT 1 FROM files WHERE thumbnail = old.hash AND thumbnail <> '');
      INSERT OR IGNORE INTO unused_bytes (hash) SELECT old.thumbnail
      WHERE old.thumbnail <> ''
        AND NOT EXISTS (SELECT 1 FROM files WHERE hash = old.thumbnail)
        AND NOT EXISTS (SELECT 1 FROM files WHERE thumbnail = old.thumbnail AND thumbnail <> '');
    END;
    """,
  ]

  private static let fromChanges =
    "FROM changes JOIN entries ON entries.position = changes.position"

  /// The expected content of the table `reactions`, derived from the entries: for each emoji that a
  /// user has given and not taken back, the entry that gave it.
  static let currentReactions = """
    SELECT room, target, sender, emoji, min(seq) FROM (
      SELECT room, target, sender, emoji, seq, given,
        sum(NOT given) OVER (PARTITION BY room, target, sender, emoji ORDER BY seq) AS ended,
        sum(NOT given) OVER (PARTITION BY room, target, sender, emoji) AS ends
      FROM (
        SELECT changes.room, changes.target, entries.sender, changes.seq,
          json_extract('{' || CAST(entries.body AS TEXT) || '}', '$.emoji') AS emoji,
          json_extract('{' || CAST(entries.body AS TEXT) || '}', '$.on') AS given
        \(fromChanges) JOIN rooms ON rooms.number = changes.room
        WHERE entries.kind = 'react' AND changes.target >= rooms.first))
    WHERE given AND ended = ends GROUP BY room, target, sender, emoji
    """

  /// The position of the last entry; 0 if there is none.
  static let lastPosition =
    "coalesce((SELECT position FROM entries ORDER BY position DESC LIMIT 1), 0)"

  /// The expected content of the table `edits`.
  static let currentEdits = """
    SELECT changes.room, changes.target, changes.seq, changes.position \(fromChanges)
    JOIN rooms ON rooms.number = changes.room
    WHERE entries.kind = 'edit' AND changes.seq >= rooms.first
    """

  static var version: Int64 { Int64(steps.count) }

  /// Opens a store's file for writing, creates it if it is missing, and migrates it.
  static func openForWriting(
    _ folder: DataFolder, durability: Durability, vfs: String? = nil,
    identityKey: EntryIdentity.Key? = nil
  ) throws(StoreError) -> Database {
    let path = folder.databasePath
    func refusal(_ error: SQLiteError) -> StoreError { StoreError(error, "open", path: path) }
    if vfs == nil { try folder.checkJournal() }
    do {
      if vfs == nil, durability == .fsync, Database.hasLostCommits(path: path) {
        throw StoreError(
          .broken,
          "The write-ahead log \(path)-wal is damaged: entries that were acknowledged cannot be read. "
            + "Restore the data folder from a backup, or run relay export on it, and relay import into "
            + "another folder, to go on without them.")
      }
      try Database.writeLogAgain(path: path, vfs: vfs)
      let database = try Database(path: path, mode: .create, vfs: vfs)
      guard !database.isReadOnly else {
        throw refusal(SQLiteError(extendedCode: SQLITE_READONLY, message: "it is read-only"))
      }
      let isNew =
        try database.integer("PRAGMA application_id") == 0
        && database.integer("SELECT count(*) FROM sqlite_schema") == 0
      if isNew {
        try database.execute("PRAGMA page_size = \(pageBytes)")
        database.addPageChecksums()
        try database.execute("PRAGMA auto_vacuum = INCREMENTAL")
      } else {
        try check(database, path: path)
      }
      try database.execute("PRAGMA journal_mode = WAL")
      try database.execute("PRAGMA synchronous = \(durability.pragma)")
      // Checkpoints are made by another thread: they cost a commit 11 to 24 ms.
      try database.execute("PRAGMA wal_autocheckpoint = 0")
      try database.execute("PRAGMA journal_size_limit = \(Checkpointer.hardLimitBytes)")
      try database.execute("PRAGMA cache_size = -16384")
      // Deleted content is overwritten, also in pages that become free; see also
      // `PageFileSystem`.
      try database.execute("PRAGMA secure_delete = ON")
      // What a statement may have to take back is kept in memory: in a temporary file it would remain.
      try database.execute("PRAGMA temp_store = MEMORY")
      try database.migrate(by: steps, applicationID: applicationID)
      try EntryTable.add(to: database)
      try makeIdentityKey(in: database, identityKey)
      return database
    } catch let error as SQLiteError {
      throw refusal(error)
    } catch let error as StoreError {
      throw error
    } catch {
      preconditionFailure("no other error is thrown above: \(error)")
    }
  }

  /// Returns the key that hashes the ids of a store's entries.
  ///
  /// A store that had entries before keys were introduced stays without one: rehashing would
  /// rewrite all of its entries. Importing its export into a new store gives it a key.
  static func identityKey(
    of database: borrowing Database
  ) throws(SQLiteError) -> EntryIdentity.Key {
    var select = try Statement(
      "SELECT value FROM secrets WHERE name = 'identity'", on: database)
    if try select.step() {
      guard let key = EntryIdentity.Key(bytes: select.blob(0)) else {
        throw SQLiteError(
          extendedCode: SQLITE_CORRUPT,
          message: "the key in the table secrets does not have 16 bytes")
      }
      return key
    }
    return .none
  }

  /// Gives a key to a store that has neither entries nor a key.
  /// - Parameter offered: the key; `nil` = a random one.
  static func makeIdentityKey(
    in database: borrowing Database, _ offered: EntryIdentity.Key?
  ) throws(SQLiteError) {
    guard try database.integer("SELECT EXISTS (SELECT 1 FROM entries)") == 0,
      try identityKey(of: database) == .none
    else { return }
    var generator = SystemRandomNumberGenerator()
    var insert = try Statement(
      "INSERT INTO secrets (name, value) VALUES ('identity', ?1)", on: database)
    try insert.bind(1, (offered ?? .random(using: &generator)).bytes)
    try insert.run()
  }

  /// Opens a store's file for reading. It may be in use: each transaction reads one snapshot.
  static func openForReading(
    _ folder: DataFolder, vfs: String? = nil
  ) throws(StoreError) -> Database {
    let path = folder.databasePath
    if vfs == nil { try folder.checkJournal() }
    guard vfs != nil || folder.hasDatabase else {
      throw StoreError.absent(in: folder.path)
    }
    do {
      let database = try Database(path: path, mode: .readOnly, vfs: vfs)
      try check(database, path: path)
      guard try database.integer("PRAGMA user_version") == version else {
        throw StoreError(
          .configuration,
          "The store \(path) was written by an older relay. Start this relay on it once to "
            + "upgrade it.")
      }
      try EntryTable.add(to: database)
      return database
    } catch let error as SQLiteError {
      throw StoreError(error, "open", path: path)
    } catch let error as StoreError {
      throw error
    } catch {
      preconditionFailure("no other error is thrown above: \(error)")
    }
  }

  /// Rejects files that are not a relay's, or that a newer relay wrote.
  static func check(_ database: borrowing Database, path: String) throws {
    guard try database.integer("PRAGMA application_id") == applicationID else {
      throw StoreError(
        .configuration,
        "The file \(path) is a database of another program. Use another data folder.")
    }
    let found = try database.integer("PRAGMA user_version")
    guard found <= version else {
      throw StoreError(
        .configuration,
        "The store \(path) has schema version \(found), but this relay supports versions up to "
          + "\(version). Use a newer relay, or another data folder.")
    }
  }
}
