internal import CSQLite
internal import Relay
internal import SQLite
internal import Wire

extension Store {
  /// What `verify` has found.
  public struct Verification: Sendable {
    /// A place where the store is not what it should be.
    public struct Break: Equatable, Sendable, CustomStringConvertible {
      /// `nil` where it concerns the whole store.
      public var room: String?
      public var seq: Int64?
      public var problem: String

      public var description: String {
        guard let room else { return problem }
        guard let seq else { return "room \(room): \(problem)" }
        return "room \(room), seq \(seq): \(problem)"
      }
    }

    public internal(set) var count = StoreCount()
    /// At most `breakLimit`.
    public internal(set) var breaks: [Break] = []
    /// All that were found.
    public internal(set) var breakCount = 0

    public static let breakLimit = 1000
  }

  /// Reads the whole store and proves it: the files' own structure, every room gapless from the
  /// oldest kept entry to its head, every id once per room and sender, clocks and epochs that never
  /// go back, entries that say what they should, marks within their rooms, and an index that agrees
  /// with the entries as far as it has come.
  /// - Throws: if the store cannot be opened. What is wrong inside is in the result.
  public static func verify(directory path: String) throws(StoreError) -> Verification {
    try verify(directory: path, vfs: nil)
  }

  /// - Parameter vfs: the name of the file system in SQLite's sense; `nil` = the system's.
  package static func verify(
    directory path: String, vfs: String?
  ) throws(StoreError) -> Verification {
    let directory = DataDirectory(path)
    // Before the journal, which is then read in a later state: the index is behind, never ahead.
    let index = IndexVerifier.open(directory, vfs: vfs)
    let database = try Schema.openForReading(directory, vfs: vfs)
    var verifier = JournalVerifier(database: database)
    do throws(SQLiteError) {
      try verifier.run(indexedThrough: index.indexedThrough)
    } catch {
      guard error.isCorruption || error.code == SQLITE_ERROR else {
        throw StoreError(error, "read", path: directory.databasePath)
      }
      verifier.findings.add("the file \(directory.databasePath) is damaged: \(error)")
    }
    return index.run(verifier)
  }
}

extension Store.Verification {
  mutating func add(_ problem: String, room: String? = nil, seq: Int64? = nil) {
    breakCount += 1
    if breaks.count < Self.breakLimit {
      breaks.append(Break(room: room, seq: seq, problem: problem))
    }
  }
}
