internal import CSQLite
package import Platform

/// The pages of a database, read beside the processes that use it: as of one moment, and as often as wanted those
/// that have changed since another one. No transaction is open in between.
///
/// Only for files that are written through `PageFileSystem`, which records the times of pages.
package final class DatabasePages {
  /// Selects what has changed later.
  package struct Mark: Sendable {
    fileprivate var nanoseconds: Int64
    fileprivate var salts: [UInt8]
    fileprivate var frames: Int
  }

  package let path: String
  package let pageBytes: Int
  private let database: Database
  private let times: PageTimes
  private var log = LogFrames()

  package init(path: String) throws {
    self.path = path
    times = try PageTimes(of: path)
    database = try Database(path: path, mode: .readOnly)
    pageBytes = try database.pageBytes
  }

  /// Returns the text that a query has as its result; `nil` if there is no row.
  package func text(_ query: String) throws(SQLiteError) -> String? {
    var select = try Statement(query, on: database)
    return try select.step() ? select.text(0) : nil
  }

  /// Returns what `body` reads of the database; in `atOneMoment`, as of that moment.
  package func read<Result>(
    _ body: (borrowing Database) throws(SQLiteError) -> Result
  ) throws(SQLiteError) -> Result {
    try body(database)
  }

  /// Whether the path leads to another file by now, or to none.
  package var hasMoved: Bool {
    var hasMoved: Int32 = 0
    unsafe sqlite3_file_control(database.handle, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
    return hasMoved != 0
  }

  /// Calls `body` while the pages stay as they are, and possibly again.
  ///
  /// SQLite's lock of a reader does that: a checkpoint moves only pages of commits that the reader has seen,
  /// and the log, from which newer content is read, does not begin anew. It may begin anew if all of it was
  /// moved when the transaction began; then no checkpoint moves anything, and `body` is called again.
  package func atOneMoment<Result>(_ body: (borrowing Moment) throws -> Result) throws -> Result {
    while true {
      let nanoseconds = PageTimes.now
      try database.execute("BEGIN")
      defer { database.rollback() }
      _ = try database.integer("SELECT count(*) FROM sqlite_schema")
      guard let file = OpenFile(.database, of: database.connection) else {
        throw SQLiteError(extendedCode: SQLITE_CANTOPEN, message: "\(path) is not open")
      }
      let logFile = OpenFile(.log, of: database.connection)
      try log.update(from: logFile, pageBytes: pageBytes)
      let moment = Moment(
        mark: Mark(nanoseconds: nanoseconds, salts: log.salts, frames: log.pages.count),
        hasChecksums: database.hasPageChecksums, pageBytes: pageBytes, file: file,
        logFile: logFile, log: log, times: times,
        pageCount: try log.pageCount ?? Self.pageCount(of: file))
      let result = try body(moment)
      if try log.isCurrent(in: logFile) { return result }
      log = LogFrames()
    }
  }

  /// The number of pages according to the file's header.
  private static func pageCount(of file: OpenFile) throws(SQLiteError) -> UInt32 {
    var field = [UInt8](repeating: 0, count: 4)
    return try file.read(&field, at: 28) ? LogSum.word(field, 0) : 0
  }

  /// The state of a database in one transaction.
  package struct Moment: ~Copyable {
    /// Selects what changes after this moment.
    package let mark: Mark
    fileprivate let hasChecksums: Bool
    fileprivate let pageBytes: Int
    fileprivate let file: OpenFile
    fileprivate let logFile: OpenFile?
    fileprivate let log: LogFrames
    fileprivate let times: PageTimes
    package let pageCount: UInt32
    /// SQLite locks bytes here, and never writes the page that has them: it has neither content nor checksum
    /// (<https://sqlite.org/fileformat.html#the_lock_byte_page>).
    private static let lockedOffset: Int64 = 1 << 30

    /// Returns the pages that may have changed since an earlier moment.
    package func pages(changedSince mark: Mark) throws(SystemError) -> [UInt32] {
      let start = mark.salts == log.salts ? mark.frames : 0
      let changed = Set(try times.pages(since: mark.nanoseconds)).union(log.pages[start...])
      return changed.filter { $0 <= pageCount }.sorted()
    }

    /// Returns the content of a page, with its checksum if the file has them. A page that does not have its
    /// checksum is an error.
    package func page(_ number: UInt32) throws(SQLiteError) -> [UInt8] {
      var page = [UInt8](repeating: 0, count: pageBytes)
      let offset = Int64(number - 1) * Int64(pageBytes)
      if offset == Self.lockedOffset { return page }
      if let place = log.offset(of: number, pageBytes: pageBytes) {
        guard let logFile, try logFile.read(&page, at: place) else { return page }
        unsafe page.withUnsafeMutableBytes {
          unsafe PageFileSystem.finish($0, hasChecksum: hasChecksums, at: offset)
        }
      } else if try !file.read(&page, at: offset) {
        throw SQLiteError(
          extendedCode: SQLITE_CORRUPT, message: "page \(number) is beyond the end of the file")
      }
      return page
    }
  }
}
