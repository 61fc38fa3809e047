internal import CSQLite
internal import SQLite

// SQLite functions that only the log uses.

extension Database {
  /// Moves pages from the write-ahead log to the database file. The default mode moves as many as
  /// it can without waiting.
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
  /// Returns the positions in a blob that `Places` encoded.
  func positions(_ column: Int32) -> [Int64] {
    unsafe withBytes(column) { unsafe Places.decode($0) }
  }
}

extension SQLiteError {
  /// Whether the index is at fault: it is damaged, or holds data that a sound index cannot hold. A
  /// damaged entry of the journal is not its fault.
  var isFaultOfIndex: Bool { isCorruption && !isDamagedTable || code == SQLITE_CONSTRAINT }
}
