internal import CSQLite
internal import SQLite

/// The schema of the index file, and the check whether an index belongs to a journal.
///
/// The index is derived: if it is missing, damaged, of another store or of another version, it is
/// removed and rebuilt from the journal. So it has no migrations.
enum IndexSchema {
  /// "RELI".
  static let applicationID: Int64 = 0x5245_4C49
  static let version: Int64 = 4
  static let pageBytes = 16_384

  static let tables = """
    -- How far the journal is indexed. One row.
    CREATE TABLE progress (
      position INTEGER NOT NULL,  -- position of the last indexed entry
      epoch TEXT NOT NULL,        -- epoch of the relay that last wrote the index
      seen INTEGER NOT NULL       -- last position in the journal at that time
    ) STRICT;
    -- Segments of the journal whose identities are stored together; see Tail.IndexSegment.
    CREATE TABLE segments (
      number INTEGER PRIMARY KEY,
      base INTEGER NOT NULL,         -- the position before the first entry
      last INTEGER NOT NULL,         -- the position of the last entry
      entries INTEGER NOT NULL,      -- how many postings there are
      kept INTEGER NOT NULL,         -- how many of these entries are kept
      bucket_bits INTEGER NOT NULL,
      distance_bits INTEGER NOT NULL
    ) STRICT;
    -- Segments that are being written or deleted.
    CREATE TABLE unfinished (number INTEGER PRIMARY KEY) STRICT;
    -- The positions of a room's entries: rows of up to 256 consecutive entries.
    CREATE TABLE runs (
      room INTEGER NOT NULL,
      first_seq INTEGER NOT NULL,
      last_seq INTEGER NOT NULL,
      positions BLOB NOT NULL,       -- see Places
      PRIMARY KEY (room, first_seq)
    ) STRICT, WITHOUT ROWID;
    -- See Tail.IndexSegment.
    CREATE TABLE identities (
      place INTEGER PRIMARY KEY,     -- segment number << 20 | bucket
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

  /// The maximum number of entries in a row of `runs`.
  static let runEntries = 256
  /// The target number of entries in a bucket.
  static let bucketEntries = 64
  static let bucketBitsLimit: Int64 = 20
  /// The maximum distance between the first and last entry of a segment, in positions.
  static let segmentPositions: Int64 = 1 << 23

  /// How far a journal is indexed.
  struct Progress: Equatable {
    var position: Int64 = 0
    var epoch = ""
    var seen: Int64 = 0
  }

  /// Opens the index of a journal for writing, and creates a new one if none is usable.
  /// - Parameter reason: set if an existing index was discarded.
  static func open(
    _ folder: DataFolder, journal: borrowing Database, vfs: String?, _ reason: inout String?
  ) throws(SQLiteError) -> Database {
    let path = folder.indexPath
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
    database.addPageChecksums()
    try database.execute("PRAGMA auto_vacuum = INCREMENTAL")
    try configure(database)
    try database.execute("BEGIN IMMEDIATE; \(tables); COMMIT")
    try database.execute("PRAGMA application_id = \(applicationID)")
    // Set last: an index without it is incomplete.
    try database.execute("PRAGMA user_version = \(version)")
    return database
  }

  static func configure(_ database: borrowing Database) throws(SQLiteError) {
    try database.execute("PRAGMA journal_mode = WAL")
    // Writes lost in a power failure are indexed again.
    try database.execute("PRAGMA synchronous = NORMAL")
    try database.execute("PRAGMA wal_autocheckpoint = 0")
    try database.execute("PRAGMA journal_size_limit = \(Checkpointer.hardLimitBytes)")
    try database.execute("PRAGMA cache_size = -16384")
  }

  /// Returns the index segments and how many of their entries are kept, in journal order.
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
          extendedCode: SQLITE_CORRUPT, message: "index segment \(indexSegment.number) is invalid"
        )
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

  /// Returns why an index cannot belong to a journal; `nil` if it can.
  ///
  /// Every entry that was indexed, or removed from the index because it was no longer kept, in an
  /// epoch was by then in the journal, or no longer kept there. So if a journal has this epoch, and
  /// has the last seen position in or before it, it begins with all entries that the index has, and
  /// keeps none that the index has removed.
  static func misfit(
    of index: borrowing Database, to journal: borrowing Database
  ) throws(SQLiteError) -> String? {
    guard try index.integer("PRAGMA application_id") == applicationID,
      try index.integer("PRAGMA user_version") == version
    else { return "it has another version" }
    let progress = try progress(of: index)
    if progress.position == 0 { return nil }
    var select = try Statement(
      """
      SELECT coalesce(
        (SELECT position FROM epochs AS next WHERE next.number = epochs.number + 1),
        \(Schema.lastPosition))
      FROM epochs WHERE name = ?1
      """, on: journal)
    try select.bind(1, progress.epoch)
    guard try select.step() else { return "it belongs to another store" }
    guard progress.seen <= select.integer(0) else { return "it is ahead of the store" }
    return nil
  }
}
