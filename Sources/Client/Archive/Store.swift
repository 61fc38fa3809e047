internal import CSQLite
internal import SQLite
internal import Wire

/// The connection of the drawing thread, with its prepared statements.
final class Store {
  /// The kept part of a room's log: the entries of `range` from `first` to `latest`.
  struct Extent {
    /// `nil` if the room was never begun.
    var epochs: Archive.Epochs?
    var range: Int64
    var first: Int64
    /// `first` - 1 if there are no entries.
    var latest: Int64

    var isEmpty: Bool { latest < first }
    var epoch: String? { epochs?.current }
  }

  let database: Database
  var statements: Statements
  /// Prepared when something is searched for the first time: that takes longer than opening a
  /// conversation.
  private var searcher: Searcher?
  private let walSize: WalSize

  /// How long a call waits for another wschat, whose transactions take about a millisecond.
  private static let busyTimeoutMilliseconds: Int32 = 50
  /// How long a durable transaction waits for another wschat.
  private static let patienceMilliseconds: Int32 = 2000
  private static let cacheKiB = 2048

  var walBytes: Int { walSize.bytes }

  /// Opens the file, and creates its tables if there are none.
  init(_ location: Location) throws(ArchiveError) {
    do {
      let database = try Database(
        path: location.path, mode: .readWrite,
        busyTimeoutMilliseconds: Self.busyTimeoutMilliseconds)
      if database.isReadOnly {
        throw ArchiveError(
          .environment,
          "The history \(location.path) is read-only. Give yourself write permission to it; until "
            + "then nothing is saved.")
      }
      try Schema.check(database, path: location.path)
      try Self.configure(database, cacheKiB: Self.cacheKiB)
      try database.execute("PRAGMA journal_mode = WAL")
      try Schema.migrate(database)
      try Self.look(at: database)
      walSize = try WalSize(database)
      statements = try Statements.prepare(on: database)
      self.database = database
    } catch let error as SQLiteError {
      throw ArchiveError(error, path: location.path)
    } catch let error as ArchiveError {
      throw error
    } catch {
      preconditionFailure("no other error is thrown above: \(error)")
    }
  }

  /// Applies the settings that all connections to the file share.
  static func configure(
    _ database: borrowing Database, cacheKiB: Int
  ) throws(SQLiteError) {
    // A power failure loses only what the relay has, too; the rest is written with FULL.
    try database.execute("PRAGMA synchronous = NORMAL")
    // Checkpoints wait for fsync, so the maintenance thread does them.
    try database.execute("PRAGMA wal_autocheckpoint = 0")
    try database.execute("PRAGMA journal_size_limit = \(Maintenance.logLimitBytes)")
    try database.execute("PRAGMA cache_size = -\(cacheKiB)")
    // Deleted content is overwritten.
    try database.execute("PRAGMA secure_delete = ON")
  }

  /// Detects damage that would show in every call.
  private static func look(at database: borrowing Database) throws(SQLiteError) {
    // Reads columns that are not in any index.
    _ = try database.integer("SELECT count(marks) FROM rooms")
    _ = try database.integer("SELECT count(body) FROM outbox")
    _ = try database.integer("SELECT count(text) FROM drafts")
    _ = try database.integer("SELECT max(position) FROM entries")
  }

  /// Runs `body` in a transaction of its own.
  func transaction<Result>(
    _ body: (Store) throws(SQLiteError) -> Result
  ) throws(SQLiteError) -> Result {
    try transaction(isReading: false, body)
  }

  /// Runs `body` in a transaction that is durable when this returns.
  func durableTransaction<Result>(
    _ body: (Store) throws(SQLiteError) -> Result
  ) throws(SQLiteError) -> Result {
    database.setBusyTimeout(milliseconds: Self.patienceMilliseconds)
    defer { database.setBusyTimeout(milliseconds: Self.busyTimeoutMilliseconds) }
    try database.execute("PRAGMA synchronous = FULL")
    defer { try? database.execute("PRAGMA synchronous = NORMAL") }
    return try transaction(body)
  }

  /// Runs `body` on one snapshot of the file, even if other processes write.
  func reading<Result>(
    _ body: (Store) throws(SQLiteError) -> Result
  ) throws(SQLiteError) -> Result {
    try transaction(isReading: true, body)
  }

  private func transaction<Result>(
    isReading: Bool, _ body: (Store) throws(SQLiteError) -> Result
  ) throws(SQLiteError) -> Result {
    do throws(SQLiteError) {
      if isReading { try statements.beginReading.run() } else { try statements.begin.run() }
      let result = try body(self)
      try statements.commit.run()
      return result
    } catch {
      database.rollback()
      throw error
    }
  }

  func advance(
    _ search: inout Archive.Search, wanted: Int, where accept: (Entry) -> Bool
  ) throws(SQLiteError) {
    let searcher = if let searcher { searcher } else { try Searcher(on: database) }
    self.searcher = searcher
    try searcher.advance(&search, wanted: wanted, where: accept, in: self)
  }

  func limit(pages: Int64) {
    _ = try? database.integer("PRAGMA max_page_count = \(pages == 0 ? 0xFFFF_FFFE : pages)")
  }

  /// Returns the kept part of a room's log; `nil` if the room is unknown.
  func extent(of room: String) throws(SQLiteError) -> Extent? {
    try statements.selectRoom.bind(1, room)
    defer { statements.selectRoom.reset() }
    guard try statements.selectRoom.step() else { return nil }
    return Extent(
      epochs: Archive.Epochs(
        current: statements.selectRoom.optionalText(0), lineage: statements.selectRoom.text(4)),
      range: statements.selectRoom.integer(1), first: statements.selectRoom.integer(2),
      latest: statements.selectRoom.integer(3))
  }

  func set(_ extent: Extent, of room: String) throws(SQLiteError) {
    try statements.updateRange.bind(1, room)
    try statements.updateRange.bind(2, extent.epoch)
    try statements.updateRange.bind(3, extent.range)
    try statements.updateRange.bind(4, extent.first)
    try statements.updateRange.bind(5, extent.latest)
    try statements.updateRange.bind(6, extent.epochs?.lineage.query ?? "")
    try statements.updateRange.run()
  }

  func insert(_ entry: Entry, range: Int64) throws(SQLiteError) {
    try statements.insertEntry.bind(1, range)
    try statements.insertEntry.bind(2, entry.seq)
    try statements.insertEntry.bind(3, entry.kind.isContent ? nil : entry.target)
    try statements.insertEntry.bind(4, entry.at)
    try statements.insertEntry.bind(
      from: 5, texts: entry.from, entry.id, entry.kind.rawValue, blob: entry.body)
    do throws(SQLiteError) {
      try statements.insertEntry.run()
    } catch {
      // An entry that is no longer kept has the place.
      guard error.code == SQLITE_CONSTRAINT, try clear(entry.seq, range: range) else { throw error }
      try statements.insertEntry.run()
    }
  }

  /// Overwrites the text of a deleted entry, and the texts of its edits.
  /// - Returns: Whether there was something to overwrite.
  func redact(_ target: Int64, range: Int64) throws(SQLiteError) -> Bool {
    try unindex(target, range: range)
    try statements.redactContent.bind(1, range)
    try statements.redactContent.bind(2, target)
    try statements.redactContent.bind(3, Entry.deletedTextBody)
    try statements.redactContent.bind(4, Entry.deletedDataBody)
    try statements.redactContent.run()
    var count = database.changes
    try statements.redactEdits.bind(1, range)
    try statements.redactEdits.bind(2, target)
    try statements.redactEdits.bind(3, Entry.deletedEditBody(of: target))
    try statements.redactEdits.run()
    count += database.changes
    return count > 0
  }
}
