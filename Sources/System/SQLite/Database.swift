internal import CSQLite
internal import Glibc
internal import Platform

/// A connection that something else keeps open, for statements on it.
@safe package struct SQLiteConnection {
  let handle: OpaquePointer
}

/// A connection to a database file (`sqlite3 *`), closed when it is deinitialized.
///
/// Opened without SQLite's own mutex: one thread at a time may use it and its statements.
@safe package struct Database: ~Copyable {
  package enum Mode {
    case readOnly
    case readWrite
    case create

    fileprivate var flags: Int32 {
      switch self {
      case .readOnly: SQLITE_OPEN_READONLY
      case .readWrite: SQLITE_OPEN_READWRITE
      case .create: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      }
    }
  }

  package let handle: OpaquePointer

  /// The connection, without its ownership.
  package var connection: SQLiteConnection { unsafe SQLiteConnection(handle: handle) }

  /// To be read before any function of SQLite is called, because most of them initialize it.
  private static let configured: Void = csqlite_forgo_memory_statistics()

  /// Returns a VFS (`sqlite3_vfs_find`).
  /// - Parameter name: `nil` = the system's.
  static func vfs(_ name: String?) -> UnsafeMutablePointer<sqlite3_vfs>? {
    configured
    guard let name else { return unsafe sqlite3_vfs_find(nil) }
    return unsafe sqlite3_vfs_find(name)
  }

  /// Opens a connection (`sqlite3_open_v2`).
  /// - Parameter vfs: the name of the SQLite VFS; `nil` = `PageFileSystem`.
  package init(
    path: String, mode: Mode, vfs: String? = nil, busyTimeoutMilliseconds: Int32 = 2000
  ) throws(SQLiteError) {
    Self.configured
    if mode == .create, vfs == nil { Self.prepareFiles(path) }
    var handle: OpaquePointer?
    var flags = mode.flags | SQLITE_OPEN_NOMUTEX
    var name = path
    if mode == .readOnly, vfs == nil, Self.isImmutable(path) {
      flags |= SQLITE_OPEN_URI
      name = Self.immutable(path)
    }
    let code =
      if let vfs = vfs ?? PageFileSystem.name {
        unsafe sqlite3_open_v2(name, &handle, flags, vfs)
      } else {
        unsafe sqlite3_open_v2(name, &handle, flags, nil)
      }
    guard code == SQLITE_OK, let opened = unsafe handle else {
      let error = unsafe SQLiteError(code, connection: handle)
      unsafe sqlite3_close_v2(handle)
      throw error
    }
    unsafe self.handle = opened
    unsafe sqlite3_extended_result_codes(opened, 1)
    unsafe sqlite3_busy_timeout(opened, busyTimeoutMilliseconds)
  }

  /// Whether a database is complete without a write-ahead log, in a folder that cannot be written to: SQLite reads
  /// it only if it is told that nothing changes it, because it cannot create the files that readers share.
  private static func isImmutable(_ path: String) -> Bool {
    guard let found = unsafe realpath(path, nil) else { return false }
    defer { unsafe free(found) }
    let file = unsafe String(cString: found)
    let folder = String(file[...(file.lastIndex(of: "/") ?? file.startIndex)])
    var log = stat()
    return unsafe access(folder, W_OK) != 0 && access("\(file)-shm", F_OK) != 0
      && (stat("\(file)-wal", &log) != 0 || log.st_size == 0)
  }

  /// Returns the URI of a file that nothing changes (<https://sqlite.org/uri.html>).
  private static func immutable(_ path: String) -> String {
    var uri = path.hasPrefix("/") ? "file://" : "file:"
    for character in path {
      switch character {
      case "%": uri += "%25"
      case "?": uri += "%3f"
      case "#": uri += "%23"
      default: uri.append(character)
      }
    }
    return uri + "?immutable=1"
  }

  /// Makes a file accessible to its owner only: SQLite itself creates files that every user can read,
  /// and gives its additional files the permissions of the database. An error shows when SQLite opens
  /// the file.
  private static func prepareFiles(_ path: String) {
    try? PrivateFiles.createFile(path)
    for added in ["-wal", "-shm"] { _ = try? PrivateFiles.takeFromOthers(path + added) }
  }

  /// `sqlite3_close_v2`: statements that outlive the connection keep it open until they are
  /// finalized.
  deinit { unsafe sqlite3_close_v2(handle) }

  /// Removes a database with its write-ahead log (`xDelete`).
  ///
  /// The database file is deleted first, and durably, before the log: without its log it could be a
  /// mixture of old and new pages, while a log without its file is never applied to a new one.
  package static func remove(path: String, vfs: String?) throws(SQLiteError) {
    guard let vfs = unsafe Self.vfs(vfs), let delete = unsafe vfs.pointee.xDelete else { return }
    for name in [path, "\(path)-wal", "\(path)-journal"] {
      let code = unsafe delete(vfs, name, 1)
      // SQLITE_IOERR_DELETE_NOENT is a macro that Swift does not import.
      let isAbsent = code == SQLITE_IOERR | (23 << 8)
      guard code == SQLITE_OK || isAbsent else {
        throw SQLiteError(extendedCode: code, message: "\(name) cannot be removed")
      }
    }
  }

  /// Runs statements without results (`sqlite3_exec`).
  package func execute(_ sql: String) throws(SQLiteError) {
    let code = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw unsafe SQLiteError(code, connection: handle) }
  }

  /// Returns the integer result of a query; 0 if there is no row.
  package func integer(_ sql: String) throws(SQLiteError) -> Int64 {
    var statement = try Statement(sql, on: self)
    return try statement.step() ? statement.integer(0) : 0
  }

  /// The page size of the file.
  package var pageBytes: Int {
    get throws(SQLiteError) { try Int(integer("PRAGMA page_size")) }
  }

  /// Has each page of a new file end with a checksum (`PageChecksum`), if the connection uses
  /// `PageFileSystem` (`SQLITE_FCNTL_RESERVE_BYTES`). To be called before anything is stored.
  package func addPageChecksums() {
    var bytes = Int32(PageChecksum.bytes)
    guard unsafe PageFileSystem.tolerance(of: connection) != nil else { return }
    unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes)
  }

  /// Whether the pages have checksums.
  package var hasPageChecksums: Bool {
    var bytes: Int32 = -1
    unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes)
    return bytes == PageChecksum.bytes
  }

  /// Whether a transaction is open (`sqlite3_get_autocommit`).
  package var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

  /// Rolls the open transaction back, unless SQLite has already done so.
  package func rollback() {
    if isInTransaction { unsafe sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
  }

  /// Runs `body` in a transaction that may write from its start; rolls back if it throws.
  package func transaction<Result>(
    _ body: () throws(SQLiteError) -> Result
  ) throws(SQLiteError) -> Result {
    try execute("BEGIN IMMEDIATE")
    do throws(SQLiteError) {
      let result = try body()
      try execute("COMMIT")
      return result
    } catch {
      rollback()
      throw error
    }
  }

  /// Migrates a file in one transaction: step *n* migrates from version *n* - 1 (`PRAGMA
  /// user_version`) to version *n*.
  /// - Parameter applicationID: identifies the application of the file (`PRAGMA application_id`).
  package func migrate(
    by steps: [String], applicationID: Int64
  ) throws(SQLiteError) {
    try transaction { () throws(SQLiteError) in
      let found = try integer("PRAGMA user_version")
      guard found < steps.count else { return }
      for step in steps[Int(found)...] { try execute(step) }
      try execute("PRAGMA application_id = \(applicationID)")
      try execute("PRAGMA user_version = \(steps.count)")
    }
  }

  /// The minimum share of free pages for `vacuum`, as a fraction: new rows reuse free pages, too.
  private static let freeShare: Int64 = 4

  /// Truncates up to this many free pages (`PRAGMA incremental_vacuum`) if at least a quarter of
  /// the file is free; only for files created with `auto_vacuum`.
  /// - Returns: whether there was something to do.
  package func vacuum(pages: Int) throws(SQLiteError) -> Bool {
    guard
      try integer("PRAGMA freelist_count") * Self.freeShare > integer("PRAGMA page_count")
    else { return false }
    let before = try integer("PRAGMA page_count")
    try execute("PRAGMA incremental_vacuum(\(pages))")
    return try integer("PRAGMA page_count") < before
  }

  /// Whether writing is impossible, regardless of the mode (`sqlite3_db_readonly`).
  package var isReadOnly: Bool { unsafe sqlite3_db_readonly(handle, "main") != 0 }

  /// Sets how long a call waits for a lock of another connection (`sqlite3_busy_timeout`).
  package func setBusyTimeout(milliseconds: Int32) {
    unsafe sqlite3_busy_timeout(handle, milliseconds)
  }

  /// Frees cached pages that are not in use (`sqlite3_db_release_memory`).
  package func releaseMemory() { unsafe sqlite3_db_release_memory(handle) }

  /// The number of rows that the last statement inserted, changed or deleted (`sqlite3_changes64`).
  package var changes: Int64 { unsafe sqlite3_changes64(handle) }

  /// The number of rows that all statements together changed, including those of virtual tables
  /// (`sqlite3_total_changes64`).
  package var totalChanges: Int64 { unsafe sqlite3_total_changes64(handle) }

  package enum CheckpointMode {
    /// Moves as many pages as possible without waiting.
    case passive
    /// Waits until no connection writes or reads from the log, moves all pages, and truncates the
    /// log's file to zero.
    case truncate

    fileprivate var code: Int32 {
      switch self {
      case .passive: SQLITE_CHECKPOINT_PASSIVE
      case .truncate: SQLITE_CHECKPOINT_TRUNCATE
      }
    }
  }

  /// The progress of a checkpoint, in pages of the write-ahead log.
  package struct CheckpointProgress {
    package var pages: Int
    package var checkpointedPages: Int
    /// Whether another connection prevented its completion.
    package var isHeldUp: Bool
  }

  /// Moves pages from the write-ahead log to the database file (`sqlite3_wal_checkpoint_v2`). The
  /// other pages stay in the log.
  package func checkpoint(
    _ mode: CheckpointMode = .passive
  ) throws(SQLiteError) -> CheckpointProgress {
    var pages: Int32 = 0
    var checkpointed: Int32 = 0
    let code = unsafe sqlite3_wal_checkpoint_v2(handle, nil, mode.code, &pages, &checkpointed)
    guard code == SQLITE_OK || code == SQLITE_BUSY else {
      throw unsafe SQLiteError(code, connection: handle)
    }
    return CheckpointProgress(
      pages: Int(pages), checkpointedPages: Int(checkpointed), isHeldUp: code == SQLITE_BUSY)
  }

  /// The path that it was opened with.
  package var path: String {
    guard let path = unsafe sqlite3_db_filename(handle, "main") else { return "" }
    return unsafe String(cString: path)
  }
}
