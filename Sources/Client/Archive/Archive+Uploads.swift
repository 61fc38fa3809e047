internal import SQLite
public import Wire

extension Archive {
  /// A message whose file is uploaded first, so that the upload goes on after the end of the process.
  public struct Upload: Equatable, Sendable {
    public var room: String
    /// The id of the message.
    public var id: String
    /// What the message says; the id of the file is missing.
    public var content: FileContent
    /// Milliseconds since 1970.
    public var at: Int64
    /// The file's path, size, and when it was changed last, in nanoseconds since 1970.
    public var path: String
    public var sizeBytes: Int64
    public var modifiedAt: Int64
    /// The relay's id of the upload, once it has begun.
    public var file: String?

    public init(
      room: String, id: String, content: FileContent, at: Int64, path: String, sizeBytes: Int64,
      modifiedAt: Int64, file: String? = nil
    ) {
      (self.room, self.id, self.content) = (room, id, content)
      (self.at, self.path) = (at, path)
      (self.sizeBytes, self.modifiedAt, self.file) = (sizeBytes, modifiedAt, file)
    }
  }

  /// Stores an upload; it is on disk when this returns. One for the same message is replaced. `enqueue` and `discard` of the
  /// message delete it.
  public func keep(_ upload: Upload) throws(ArchiveError) {
    let owner = instance.number
    try writeDurably { (store) throws(SQLiteError) in try store.keep(upload, owner: owner) }
  }

  /// Stores the relay's id of an upload.
  public func begin(upload id: String, as file: String) throws(ArchiveError) {
    try writeDurably { (store) throws(SQLiteError) in
      try store.statements.uploads.begin.bind(1, id)
      try store.statements.uploads.begin.bind(2, file)
      try store.statements.uploads.begin.run()
    }
  }

  /// Deletes an upload that is given up.
  public func end(upload id: String) throws(ArchiveError) {
    try writeDurably { (store) throws(SQLiteError) in try store.deleteUpload(id: id) }
  }

  /// Takes over the uploads of processes that have ended.
  /// - Returns: All uploads of this process, in the order in which they were stored.
  public func takeUploads() throws(ArchiveError) -> [Upload] {
    let number = instance.number
    let owners = try read { (store) throws(SQLiteError) in try store.uploads().map(\.owner) }
    let ended = Set(owners.filter { $0 != number && !instance.isHeldByAnother($0) })
    if !ended.isEmpty {
      try writeDurably { (store) throws(SQLiteError) in
        for owner in ended { try store.adoptUploads(of: owner, by: number) }
      }
    }
    return try read { (store) throws(SQLiteError) in
      try store.uploads().filter { $0.owner == number }.map(\.upload)
    }
  }
}

extension Store {
  func keep(_ upload: Archive.Upload, owner: Int64) throws(SQLiteError) {
    try statements.uploads.insert.bind(1, upload.id)
    try statements.uploads.insert.bind(2, upload.room)
    try statements.uploads.insert.bind(3, upload.content.body)
    try statements.uploads.insert.bind(4, upload.at)
    try statements.uploads.insert.bind(5, upload.path)
    try statements.uploads.insert.bind(6, upload.sizeBytes)
    try statements.uploads.insert.bind(7, upload.modifiedAt)
    try statements.uploads.insert.bind(8, upload.file ?? "")
    try statements.uploads.insert.bind(9, owner)
    try statements.uploads.insert.run()
  }

  func uploads() throws(SQLiteError) -> [(upload: Archive.Upload, owner: Int64)] {
    var uploads: [(upload: Archive.Upload, owner: Int64)] = []
    defer { statements.uploads.select.reset() }
    while try statements.uploads.select.step() {
      uploads.append(
        (Archive.Upload(row: statements.uploads.select), statements.uploads.select.integer(8)))
    }
    return uploads
  }

  func adoptUploads(of owner: Int64, by other: Int64) throws(SQLiteError) {
    try statements.uploads.adopt.bind(1, owner)
    try statements.uploads.adopt.bind(2, other)
    try statements.uploads.adopt.run()
  }

  func deleteUpload(id: String) throws(SQLiteError) {
    try statements.uploads.delete.bind(1, id)
    try statements.uploads.delete.run()
  }
}

extension Archive.Upload {
  fileprivate init(row: borrowing Statement) {
    let (id, room, body, file) = (row.text(0), row.text(1), row.blob(2), row.text(7))
    let entry = Entry(room: room, seq: 0, id: id, from: "", at: 0, kind: .file, body: body)
    self.init(
      room: room, id: id, content: entry.file ?? FileContent(id: "", name: "file"),
      at: row.integer(3), path: row.text(4), sizeBytes: row.integer(5),
      modifiedAt: row.integer(6), file: file.isEmpty ? nil : file)
  }
}

/// The prepared statements of uploads.
struct UploadStatements: ~Copyable {
  var insert: Statement
  var begin: Statement
  var select: Statement
  var adopt: Statement
  var delete: Statement

  static func prepare(on database: borrowing Database) throws(SQLiteError) -> UploadStatements {
    UploadStatements(
      insert: try Statement(
        """
        INSERT OR REPLACE INTO uploads (id, room, body, at, path, bytes, modified_at, file, owner)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
        """, on: database),
      begin: try Statement("UPDATE uploads SET file = ?2 WHERE id = ?1", on: database),
      select: try Statement(
        """
        SELECT id, room, body, at, path, bytes, modified_at, file, owner FROM uploads
        ORDER BY position
        """, on: database),
      adopt: try Statement("UPDATE uploads SET owner = ?2 WHERE owner = ?1", on: database),
      delete: try Statement("DELETE FROM uploads WHERE id = ?1", on: database))
  }
}
