internal import CSQLite
package import Relay
internal import SQLite
internal import Wire

/// What a store looks up of files, for its writer and for each reader.
struct FileLookups: ~Copyable {
  private var selectFile: Statement
  private var selectPlaces: Statement
  private var selectBytes: Statement
  private var selectUnused: Statement
  private var selectUsed: Statement
  private var selectUnsent: Statement

  static func prepare(on database: borrowing Database) throws(SQLiteError) -> FileLookups {
    FileLookups(
      selectFile: try Statement(
        "SELECT owner, hash, thumbnail, description, at, sent FROM files WHERE id = ?1",
        on: database),
      // Each step finds the next room in the index, however many entries name the file.
      selectPlaces: try Statement(
        """
        WITH RECURSIVE places (room) AS (
          SELECT min(room) FROM file_entries WHERE file = ?1
          UNION ALL
          SELECT (SELECT min(room) FROM file_entries WHERE file = ?1 AND room > places.room)
          FROM places WHERE room IS NOT NULL
          LIMIT \(FilePlace.limit))
        SELECT name, seq, sender FROM places CROSS JOIN rooms ON rooms.number = places.room
        CROSS JOIN file_entries ON file_entries.room = places.room AND seq = (
          SELECT max(seq) FROM file_entries WHERE file = ?1 AND room = places.room)
        """, on: database),
      selectBytes: try Statement("SELECT bytes FROM file_users WHERE user = ?1", on: database),
      selectUnused: try Statement("SELECT hash FROM unused_bytes LIMIT ?1", on: database),
      selectUsed: try Statement(
        """
        SELECT EXISTS (SELECT 1 FROM files WHERE hash = ?1)
          OR EXISTS (SELECT 1 FROM files WHERE thumbnail = ?1 AND thumbnail <> '')
        """, on: database),
      selectUnsent: try Statement(
        "SELECT id FROM files WHERE sent = 0 AND at < ?1 ORDER BY at LIMIT ?2", on: database))
  }

  mutating func file(_ id: String) throws(SQLiteError) -> StoredFile? {
    try selectFile.bind(1, id)
    defer { selectFile.reset() }
    guard try selectFile.step() else { return nil }
    guard let description = FileDescription(body: selectFile.blob(3)) else {
      throw SQLiteError(
        extendedCode: SQLITE_CORRUPT,
        message: "the description of the file \(id) is invalid; run `relay verify` for details")
    }
    let thumbnail = selectFile.text(2)
    var file = StoredFile(
      id: id, owner: selectFile.text(0), hash: selectFile.text(1),
      thumbnail: thumbnail.isEmpty ? nil : thumbnail, description: description,
      uploadedAt: selectFile.integer(4))
    file.isSent = selectFile.integer(5) != 0
    return file
  }

  mutating func places(of id: String) throws(SQLiteError) -> [FilePlace] {
    try selectPlaces.bind(1, id)
    defer { selectPlaces.reset() }
    var places: [FilePlace] = []
    while try selectPlaces.step() {
      places.append(
        FilePlace(
          room: selectPlaces.text(0), seq: selectPlaces.integer(1), sender: selectPlaces.text(2)))
    }
    return places
  }

  mutating func bytes(of user: String) throws(SQLiteError) -> Int64 {
    try selectBytes.bind(1, user)
    defer { selectBytes.reset() }
    return try selectBytes.step() ? selectBytes.integer(0) : 0
  }

  mutating func unused(limit: Int) throws(SQLiteError) -> [String] {
    try selectUnused.bind(1, Int64(limit))
    return try selectUnused.texts()
  }

  mutating func used(among hashes: [String]) throws(SQLiteError) -> [String] {
    var used: [String] = []
    for hash in hashes {
      try selectUsed.bind(1, hash)
      defer { selectUsed.reset() }
      if try selectUsed.step(), selectUsed.integer(0) != 0 { used.append(hash) }
    }
    return used
  }

  mutating func unsent(before at: Int64, limit: Int) throws(SQLiteError) -> [String] {
    try selectUnsent.bind(1, at)
    try selectUnsent.bind(2, Int64(limit))
    return try selectUnsent.texts()
  }
}

/// The statements that change what a store knows of files. Triggers of the tables do the rest (`Schema`).
struct FileStatements: ~Copyable {
  var lookups: FileLookups
  private var insertFile: Statement
  private var insertEntry: Statement
  private var deleteEntry: Statement
  private var deleteEntries: Statement
  private var deleteFile: Statement
  private var deleteUnsent: Statement
  private var updateOwner: Statement
  private var deleteUnused: Statement

  static func prepare(on database: borrowing Database) throws(SQLiteError) -> FileStatements {
    FileStatements(
      lookups: try FileLookups.prepare(on: database),
      insertFile: try Statement(
        """
        INSERT OR IGNORE INTO files (id, owner, hash, thumbnail, bytes, description, at)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
        """, on: database),
      insertEntry: try Statement(
        "INSERT INTO file_entries (room, seq, file, sender) VALUES (?1, ?2, ?3, ?4)",
        on: database),
      deleteEntry: try Statement(
        "DELETE FROM file_entries WHERE room = ?1 AND seq = ?2", on: database),
      deleteEntries: try Statement(
        "DELETE FROM file_entries WHERE room = ?1 AND seq < ?2", on: database),
      deleteFile: try Statement("DELETE FROM files WHERE id = ?1 AND sent = 0", on: database),
      deleteUnsent: try Statement("DELETE FROM files WHERE owner = ?1 AND sent = 0", on: database),
      updateOwner: try Statement("UPDATE files SET owner = '' WHERE owner = ?1", on: database),
      deleteUnused: try Statement("DELETE FROM unused_bytes WHERE hash = ?1", on: database))
  }

  mutating func add(_ file: StoredFile) throws(SQLiteError) {
    try insertFile.bind(1, file.id)
    try insertFile.bind(2, file.owner)
    try insertFile.bind(3, file.hash)
    try insertFile.bind(4, file.thumbnail ?? "")
    try insertFile.bind(5, file.countedBytes)
    try insertFile.bind(6, file.description.body)
    try insertFile.bind(7, file.uploadedAt)
    try insertFile.run()
  }

  mutating func record(_ entry: Entry, inRoom room: Int64) throws(SQLiteError) {
    guard let file = entry.file else { return }
    try insertEntry.bind(1, room)
    try insertEntry.bind(2, entry.seq)
    try insertEntry.bind(3, file.id)
    try insertEntry.bind(4, entry.from)
    try insertEntry.run()
  }

  mutating func forget(_ seq: Int64, inRoom room: Int64) throws(SQLiteError) {
    try deleteEntry.bind(1, room)
    try deleteEntry.bind(2, seq)
    try deleteEntry.run()
  }

  mutating func forget(before first: Int64, inRoom room: Int64) throws(SQLiteError) {
    try deleteEntries.bind(1, room)
    try deleteEntries.bind(2, first)
    try deleteEntries.run()
  }

  /// Forgets files that no entry names, users, and bytes that were removed.
  mutating func forget(_ changes: StoreChanges) throws(SQLiteError) {
    for id in changes.expiredFiles {
      try deleteFile.bind(1, id)
      try deleteFile.run()
    }
    for user in changes.erasedUsers {
      try deleteUnsent.bind(1, user)
      try deleteUnsent.run()
      try updateOwner.bind(1, user)
      try updateOwner.run()
    }
    for hash in changes.removedBytes {
      try deleteUnused.bind(1, hash)
      try deleteUnused.run()
    }
  }
}

extension Statement {
  /// Returns the first column of all rows, and resets the statement.
  fileprivate mutating func texts() throws(SQLiteError) -> [String] {
    defer { reset() }
    var texts: [String] = []
    while try step() { texts.append(text(0)) }
    return texts
  }
}

extension SQLiteStore {
  package func file(_ id: String) throws(StoreFailure) -> StoredFile? {
    try lookUp { (files) throws(SQLiteError) in try files.file(id) }
  }

  package func places(ofFile id: String) throws(StoreFailure) -> [FilePlace] {
    try lookUp { (files) throws(SQLiteError) in try files.places(of: id) }
  }

  package func fileBytes(of user: String) throws(StoreFailure) -> Int64 {
    try lookUp { (files) throws(SQLiteError) in try files.bytes(of: user) }
  }

  package func unusedBytes(limit: Int) throws(StoreFailure) -> [String] {
    try lookUp { (files) throws(SQLiteError) in try files.unused(limit: limit) }
  }

  package func usedBytes(among hashes: [String]) throws(StoreFailure) -> [String] {
    try lookUp { (files) throws(SQLiteError) in try files.used(among: hashes) }
  }

  package func unsentFiles(before at: Int64, limit: Int) throws(StoreFailure) -> [String] {
    try lookUp { (files) throws(SQLiteError) in try files.unsent(before: at, limit: limit) }
  }
}

extension SQLiteReader {
  package func file(_ id: String) throws(StoreFailure) -> StoredFile? {
    try lookUp { (files) throws(SQLiteError) in try files.file(id) }
  }

  package func places(ofFile id: String) throws(StoreFailure) -> [FilePlace] {
    try lookUp { (files) throws(SQLiteError) in try files.places(of: id) }
  }

  package func fileBytes(of user: String) throws(StoreFailure) -> Int64 {
    try lookUp { (files) throws(SQLiteError) in try files.bytes(of: user) }
  }

  package func unusedBytes(limit: Int) throws(StoreFailure) -> [String] {
    try lookUp { (files) throws(SQLiteError) in try files.unused(limit: limit) }
  }

  package func usedBytes(among hashes: [String]) throws(StoreFailure) -> [String] {
    try lookUp { (files) throws(SQLiteError) in try files.used(among: hashes) }
  }

  package func unsentFiles(before at: Int64, limit: Int) throws(StoreFailure) -> [String] {
    try lookUp { (files) throws(SQLiteError) in try files.unsent(before: at, limit: limit) }
  }
}
