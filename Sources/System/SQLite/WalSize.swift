internal import CSQLite

/// The size of the write-ahead log, which SQLite reports after each commit (`sqlite3_wal_hook`).
/// The hook also replaces SQLite's automatic checkpoints.
package final class WalSize {
  private var pages: Int32 = 0
  private let pageBytes: Int

  package var bytes: Int { Int(pages) * pageBytes }

  /// The connection must not commit after this object is deinitialized.
  package init(_ database: borrowing Database) throws(SQLiteError) {
    pageBytes = try database.pageBytes
    unsafe sqlite3_wal_hook(
      database.handle,
      { context, _, _, pages in
        if let context = unsafe context {
          unsafe Unmanaged<WalSize>.fromOpaque(context).takeUnretainedValue().pages = pages
        }
        return SQLITE_OK
      }, Unmanaged.passUnretained(self).toOpaque())
  }
}
