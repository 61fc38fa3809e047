internal import CSQLite
internal import SQLite

// What the log has to know of SQLite besides what is the same for everyone.

extension Database {
  /// Moves pages from the write-ahead log to the database file; unless told otherwise what it can,
  /// without waiting for anyone.
  /// - Returns: `nil` if that failed and can be tried again.
  func syncedCheckpoint(
    _ mode: CheckpointMode = .passive
  ) throws(UnsyncedCheckpoint) -> CheckpointProgress? {
    do throws(SQLiteError) {
      return try checkpoint(mode)
    } catch {
      if error.isFailedSync { throw UnsyncedCheckpoint(path: path, "\(error)") }
      return nil
    }
  }
}

extension Statement {
  /// The positions that a blob of `Places` has.
  func positions(_ column: Int32) -> [Int64] {
    unsafe withBytes(column) { unsafe Places.decode($0) }
  }
}

extension SQLiteError {
  /// Whether an index is the trouble: it is damaged, or holds what a sound one could not.
  var isFaultOfIndex: Bool { isCorruption || code == SQLITE_CONSTRAINT }
}
