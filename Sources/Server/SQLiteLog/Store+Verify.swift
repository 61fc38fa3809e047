internal import CSQLite
internal import Relay
internal import SQLite
internal import Wire

extension Store {
  /// The result of `verify`.
  public struct Verification: Sendable {
    /// An inconsistency in the store.
    public struct Break: Equatable, Sendable, CustomStringConvertible {
      /// `nil` if it concerns the whole store.
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
    /// The number of all inconsistencies.
    public internal(set) var breakCount = 0

    public static let breakLimit = 1000
  }

  /// Checks the whole store: the structure of the files; that each room has no gap from the oldest
  /// kept entry to its head; that each id occurs once per room and sender; that clocks and epochs
  /// never go back; that entries are well-formed, and marks within their rooms; and that the index
  /// agrees with the indexed entries.
  /// - Throws: if the store cannot be opened. Inconsistencies are in the result.
  public static func verify(directory path: String) throws(StoreError) -> Verification {
    try verify(directory: path, vfs: nil)
  }

  /// - Parameter vfs: the name of the SQLite VFS; `nil` = the system's.
  package static func verify(
    directory path: String, vfs: String?
  ) throws(StoreError) -> Verification {
    let directory = DataDirectory(path)
    // Opened before the journal, which is then read in a later state: the index never has more
    // entries.
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
