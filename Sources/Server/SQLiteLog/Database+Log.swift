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
  /// Whether a file is damaged, as opposed to an entry of the journal alone.
  var isDamagedFile: Bool { isCorruption && !isDamagedTable }

  /// Whether the index is at fault: it is damaged, or holds data that a sound index cannot hold.
  var isFaultOfIndex: Bool { isDamagedFile || code == SQLITE_CONSTRAINT }
}
