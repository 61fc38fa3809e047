package import Relay
internal import SQLite

/// What a store knows of files, read beside a relay: no transaction is open for long.
package struct StoredFiles: ~Copyable {
  private static let hashesAtOnce: Int64 = 256

  private let path: String
  private let database: Database
  private var lookups: FileLookups

  package init(folder: String) throws(StoreError) {
    let folder = DataFolder(folder)
    path = folder.databasePath
    let database = try Schema.openForReading(folder)
    do throws(SQLiteError) { lookups = try FileLookups.prepare(on: database) } catch {
      throw StoreError(error, "read", path: path)
    }
    self.database = database
  }

  /// Calls `body` with each hash that a file has, or a thumbnail, and such a file.
  package mutating func forEach(
    _ body: (_ hash: String, _ file: String, _ isThumbnail: Bool) throws -> Void
  ) throws {
    for column in ["hash", "thumbnail"] {
      var last = ""
      while case let page = try self.page(of: column, after: last), let end = page.last {
        for (hash, file) in page { try body(hash, file, column == "thumbnail") }
        last = end.hash
      }
    }
  }

  private mutating func page(
    of column: String, after last: String
  ) throws(StoreError) -> [(hash: String, file: String)] {
    try reading { (_, database) throws(SQLiteError) in
      var select = try Statement(
        """
        SELECT \(column), min(id) FROM files WHERE \(column) > ?1 AND \(column) <> ''
        GROUP BY \(column) ORDER BY \(column) LIMIT \(Self.hashesAtOnce)
        """, on: database)
      try select.bind(1, last)
      var page: [(String, String)] = []
      while try select.step() { page.append((select.text(0), select.text(1))) }
      return page
    }
  }

  /// Returns which of these hashes a file has.
  package mutating func used(among hashes: [String]) throws(StoreError) -> [String] {
    try reading { (files, _) throws(SQLiteError) in try files.used(among: hashes) }
  }

  /// Returns the rooms whose kept entries name a file: see `FileLookup`.
  package mutating func places(of file: String) throws(StoreError) -> [FilePlace] {
    try reading { (files, _) throws(SQLiteError) in try files.places(of: file) }
  }

  /// Returns a file; `nil` if there is none.
  package mutating func file(_ id: String) throws(StoreError) -> StoredFile? {
    try reading { (files, _) throws(SQLiteError) in try files.file(id) }
  }

  /// Returns the files that a user has uploaded and not sent.
  package mutating func unsent(of user: String) throws(StoreError) -> [String] {
    try reading { (_, database) throws(SQLiteError) in
      var select = try Statement(
        "SELECT id FROM files WHERE owner = ?1 AND sent = 0", on: database)
      try select.bind(1, user)
      var ids: [String] = []
      while try select.step() { ids.append(select.text(0)) }
      return ids
    }
  }

  private mutating func reading<Result>(
    _ body: (inout FileLookups, borrowing Database) throws(SQLiteError) -> Result
  ) throws(StoreError) -> Result {
    do throws(SQLiteError) { return try body(&lookups, database) } catch {
      throw StoreError(error, "read", path: path)
    }
  }
}
