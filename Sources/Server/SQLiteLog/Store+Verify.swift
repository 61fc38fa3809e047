internal import CSQLite
public import Relay
internal import SQLite
internal import Wire

extension Store {
  /// The result of `verify`.
  public typealias Verification = StoreVerification

  /// Checks the whole store: the structure of the files; that each room has no gap from the oldest
  /// kept entry to its head; that each id occurs once per room and sender; that clocks and epochs
  /// never go back; that entries are well-formed, and marks within their rooms; and that the index
  /// agrees with the indexed entries.
  /// - Throws: if the store cannot be opened. Inconsistencies are in the result.
  public static func verify(folder path: String) throws(StoreError) -> Verification {
    try verify(folder: path, vfs: nil)
  }

  /// - Parameter vfs: the name of the SQLite VFS; `nil` = the system's.
  package static func verify(
    folder path: String, vfs: String?
  ) throws(StoreError) -> Verification {
    let folder = DataFolder(path)
    // Opened before the journal, which is then read in a later state: the index never has more
    // entries.
    let index = IndexVerifier.open(folder, vfs: vfs)
    let database = try Schema.openForReading(folder, vfs: vfs)
    var verifier = JournalVerifier(database: database)
    // That of a relay that runs is being written.
    if vfs == nil, !folder.isLocked, Database.hasLostCommits(path: folder.databasePath) {
      verifier.findings.add(
        "the write-ahead log \(folder.databasePath)-wal is damaged: commits in it cannot be read")
    }
    if vfs == nil, !verifier.database.hasPageChecksums {
      verifier.findings.notes.append(
        "The pages of \(folder.databasePath) have no checksums, because an older relay made it: damage of "
          + "anything but entries may not be found. An import of its export makes a store that has them."
      )
    }
    do throws(SQLiteError) {
      try verifier.run(indexedThrough: index.indexedThrough)
    } catch {
      guard error.isCorruption || error.code == SQLITE_ERROR else {
        throw StoreError(error, "read", path: folder.databasePath)
      }
      verifier.findings.add("the file \(folder.databasePath) is damaged: \(error)")
    }
    return verifier.hasReadAll ? index.run(verifier) : verifier.findings
  }
}
