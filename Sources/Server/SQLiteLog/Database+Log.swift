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
  /// Whether the index may be damaged, as opposed to an entry or a page of the journal.
  var mayBeDamageOfIndex: Bool { isCorruption && !isDamagedTable && !isDamagedJournal }

  /// Whether a page of the journal is damaged.
  var isDamagedJournal: Bool { damagedFile?.hasSuffix("/\(DataFolder.databaseName)") ?? false }

  /// Whether the index is at fault: it is damaged, or holds data that a sound index cannot hold.
  var isFaultOfIndex: Bool { mayBeDamageOfIndex || code == SQLITE_CONSTRAINT }

  /// What the operator can do about it, to be appended to its description.
  var advice: String {
    isCorruption ? "; run `relay verify` for details, and restore a backup of the data folder" : ""
  }
}
