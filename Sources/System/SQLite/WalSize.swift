internal import CSQLite

/// How long the write-ahead log is, as SQLite tells after each commit (`sqlite3_wal_hook`).
/// The hook also takes the place of SQLite's own checkpoints.
package final class WalSize {
  private var pages: Int32 = 0
  private let pageBytes: Int

  package var bytes: Int { Int(pages) * pageBytes }

  /// The connection must not outlive this object by a commit.
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
