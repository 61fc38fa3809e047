internal import CSQLite
internal import SQLite

/// What the index's file looks like, and whether it belongs to a journal.
///
/// All of it is derived: where it is missing, damaged, of another store or of another version, it is
/// removed and made anew from the journal. So it has no upgrades.
enum IndexSchema {
  /// "RELI".
  static let applicationID: Int64 = 0x5245_4C49
  static let version: Int64 = 4
  static let pageBytes = 16_384

  static let tables = """
    -- How far the index has come. One row.
    CREATE TABLE progress (
      position INTEGER NOT NULL,  -- of the last entry that is indexed
      epoch TEXT NOT NULL,        -- of the relay that wrote here last
      seen INTEGER NOT NULL       -- the journal's last entry that it knew of by then
    ) STRICT;
    -- Stretches of the journal whose identities are kept together; see Tail.IndexSegment.
    CREATE TABLE segments (
      number INTEGER PRIMARY KEY,
      base INTEGER NOT NULL,         -- the position before the first
      last INTEGER NOT NULL,         -- the last position
      entries INTEGER NOT NULL,      -- how many have a posting
      kept INTEGER NOT NULL,         -- how many of these are kept
      bucket_bits INTEGER NOT NULL,
      distance_bits INTEGER NOT NULL
    ) STRICT;
    -- Shelves that are being made, or deleted.
    CREATE TABLE unfinished (number INTEGER PRIMARY KEY) STRICT;
    -- Where the entries of a room lie: rows of up to 256 that follow each other.
    CREATE TABLE runs (
      room INTEGER NOT NULL,
      first_seq INTEGER NOT NULL,
      last_seq INTEGER NOT NULL,
      positions BLOB NOT NULL,       -- see Places
      PRIMARY KEY (room, first_seq)
    ) STRICT, WITHOUT ROWID;
    -- See Tail.IndexSegment.
    CREATE TABLE identities (
      place INTEGER PRIMARY KEY,     -- indexSegment << 20 | bucket
      postings BLOB NOT NULL
    ) STRICT;
    -- The last entry of each sender in a room.
    CREATE TABLE senders (
      room INTEGER NOT NULL,
      user TEXT NOT NULL,
      seq INTEGER NOT NULL,
      PRIMARY KEY (room, user)
    ) STRICT, WITHOUT ROWID;
    """

  /// How many entries a row of `runs` has at most.
  static let runEntries = 256
  /// How many entries a bucket is to have.
  static let bucketEntries = 64
  static let bucketBitsLimit: Int64 = 20
  /// How far apart the first and the last entry of a segment are at most, in positions.
  static let segmentPositions: Int64 = 1 << 23

  /// How far an index has come.
  struct Progress: Equatable {
    var position: Int64 = 0
    var epoch = ""
    var seen: Int64 = 0
  }

  /// Opens the index of a journal for writing, and makes it where there is none that can be used.
  /// - Parameter reason: why an index that was there was not used.
  static func open(
    _ directory: DataDirectory, journal: borrowing Database, vfs: String?, _ reason: inout String?
  ) throws(SQLiteError) -> Database {
    let path = directory.indexPath
    try Database.writeLogAgain(path: path, vfs: vfs)
    do throws(SQLiteError) {
      let database = try Database(path: path, mode: .create, vfs: vfs)
      if try database.integer("SELECT count(*) FROM sqlite_schema") > 0 {
        let misfit = try misfit(of: database, to: journal)
        if misfit == nil {
          try configure(database)
          return database
        }
        reason = misfit
      }
    } catch {
      guard error.isCorruption || error.code == SQLITE_ERROR else { throw error }
      reason = "it is damaged: \(error.message)"
    }
    try Database.remove(path: path, vfs: vfs)
    let database = try Database(path: path, mode: .create, vfs: vfs)
    try database.execute("PRAGMA page_size = \(pageBytes)")
    try database.execute("PRAGMA auto_vacuum = INCREMENTAL")
    try configure(database)
    try database.execute("BEGIN IMMEDIATE; \(tables); COMMIT")
    try database.execute("PRAGMA application_id = \(applicationID)")
    // The last: an index without it was not finished.
    try database.execute("PRAGMA user_version = \(version)")
    return database
  }

  static func configure(_ database: borrowing Database) throws(SQLiteError) {
    try database.execute("PRAGMA journal_mode = WAL")
    // What a loss of power takes away is indexed again.
    try database.execute("PRAGMA synchronous = NORMAL")
    try database.execute("PRAGMA wal_autocheckpoint = 0")
    try database.execute("PRAGMA journal_size_limit = \(Checkpointer.hardLimitBytes)")
    try database.execute("PRAGMA cache_size = -16384")
  }

  /// The index segments with what of them is kept, in the order of the journal.
  static func indexSegments(
    of index: borrowing Database
  ) throws(SQLiteError) -> [(indexSegment: Tail.IndexSegment, kept: Int)] {
    var select = try Statement(
      """
      SELECT number, base, last, entries, kept, bucket_bits, distance_bits FROM segments ORDER BY base
      """, on: index)
    var indexSegments: [(indexSegment: Tail.IndexSegment, kept: Int)] = []
    while try select.step() {
      let indexSegment = Tail.IndexSegment(
        number: select.integer(0), bucketBits: select.integer(5),
        distanceBits: select.integer(6), base: select.integer(1), last: select.integer(2),
        entries: Int(clamping: select.integer(3)))
      guard indexSegment.isValid else {
        throw SQLiteError(
          extendedCode: SQLITE_CORRUPT, message: "indexSegment \(indexSegment.number) is not one")
      }
      indexSegments.append((indexSegment, Int(clamping: select.integer(4))))
    }
    return indexSegments
  }

  static func progress(of index: borrowing Database) throws(SQLiteError) -> Progress {
    var select = try Statement("SELECT position, epoch, seen FROM progress", on: index)
    guard try select.step() else { return Progress() }
    return Progress(
      position: select.integer(0), epoch: select.text(1), seen: select.integer(2))
  }

  /// Why an index cannot be that of a journal; `nil` if it is.
  ///
  /// Whatever was indexed in an epoch, or taken out since it was no longer kept, was in the journal by
  /// then, or no longer kept. So a journal that has the epoch, and in it or before it the last position
  /// that was seen, begins with what the index knows, and keeps nothing that the index has forgotten.
  static func misfit(
    of index: borrowing Database, to journal: borrowing Database
  ) throws(SQLiteError) -> String? {
    guard try index.integer("PRAGMA application_id") == applicationID,
      try index.integer("PRAGMA user_version") == version
    else { return "it is not of this relay's version" }
    let progress = try progress(of: index)
    if progress.position == 0 { return nil }
    var select = try Statement(
      """
      SELECT coalesce(
        (SELECT position FROM epochs AS next WHERE next.number = epochs.number + 1),
        (SELECT max(position) FROM entries), 0)
      FROM epochs WHERE name = ?1
      """, on: journal)
    try select.bind(1, progress.epoch)
    guard try select.step() else { return "it belongs to another store" }
    guard progress.seen <= select.integer(0) else { return "it is ahead of the store" }
    return nil
  }
}
