internal import SQLite

extension Archive {
  /// A text that was not sent yet.
  public struct Draft: Equatable, Sendable {
    /// What distinguishes it from earlier texts of the same draft, and from other drafts.
    public struct Version: Hashable, Sendable {
      /// Stays the same while a draft is changed; never used again.
      public var branch: Int64
      /// Grows with each change of any draft.
      public var number: Int64

      public init(branch: Int64, number: Int64) {
        self.branch = branch
        self.number = number
      }
    }

    public var version: Version
    public var text: String

    public init(version: Version, text: String) {
      self.version = version
      self.text = text
    }
  }

  /// The maximum number of drafts of a room; beyond it the one that was changed first is deleted.
  /// A room has more than one only after two processes have changed its draft at the same time.
  public static let draftsLimit: Int64 = 50

  /// Returns the drafts of each room, the one that was changed last first.
  public func drafts() throws(ArchiveError) -> [String: [Draft]] {
    try read { (store) throws(SQLiteError) in try store.drafts() }
  }

  /// Stores a draft in place of the version from which it was made. If another process has changed
  /// that one meanwhile, both are kept. An empty text deletes the version.
  ///
  /// - Parameter version: `nil` for a new draft; is the stored version afterwards.
  /// - Returns: False, with nothing changed, if another process holds the lock on the file.
  public func keep(
    draft text: String, of room: String, version: inout Draft.Version?
  ) throws(ArchiveError) -> Bool {
    let session = try open()
    do throws(SQLiteError) {
      let base = version
      version = try session.store.transaction { (store) throws(SQLiteError) in
        try store.keep(draft: text, of: room, inPlaceOf: base)
      }
      return true
    } catch {
      if error.isBusy { return false }
      throw explain(error)
    }
  }
}

extension Store {
  func drafts() throws(SQLiteError) -> [String: [Archive.Draft]] {
    var drafts: [String: [Archive.Draft]] = [:]
    defer { statements.drafts.select.reset() }
    while try statements.drafts.select.step() {
      let version = Archive.Draft.Version(
        branch: statements.drafts.select.integer(1), number: statements.drafts.select.integer(2))
      drafts[statements.drafts.select.text(0), default: []]
        .append(.init(version: version, text: statements.drafts.select.text(3)))
    }
    return drafts
  }

  /// - Returns: The stored version; `nil` if the text is empty.
  func keep(
    draft text: String, of room: String, inPlaceOf base: Archive.Draft.Version?
  ) throws(SQLiteError) -> Archive.Draft.Version? {
    if text.isEmpty {
      if let base { try delete(base) }
      return nil
    }
    let number = try nextRevision()
    if let base {
      try statements.drafts.update.bind(1, base.branch)
      try statements.drafts.update.bind(2, base.number)
      try statements.drafts.update.bind(3, number)
      try statements.drafts.update.bind(4, text)
      try statements.drafts.update.run()
      if database.changes > 0 { return .init(branch: base.branch, number: number) }
    }
    try statements.drafts.insert.bind(1, room)
    try statements.drafts.insert.bind(2, number)
    try statements.drafts.insert.bind(3, text)
    try statements.drafts.insert.run()
    let branch = try branch(of: number)
    try statements.drafts.trim.bind(1, room)
    try statements.drafts.trim.bind(2, Archive.draftsLimit)
    try statements.drafts.trim.run()
    return .init(branch: branch, number: number)
  }

  /// Deletes a draft, unless it was changed since.
  func delete(_ version: Archive.Draft.Version) throws(SQLiteError) {
    try statements.drafts.delete.bind(1, version.branch)
    try statements.drafts.delete.bind(2, version.number)
    try statements.drafts.delete.run()
  }

  func deleteDrafts(of room: String) throws(SQLiteError) {
    try statements.drafts.deleteAll.bind(1, room)
    try statements.drafts.deleteAll.run()
  }

  private func branch(of number: Int64) throws(SQLiteError) -> Int64 {
    try statements.drafts.selectBranch.bind(1, number)
    defer { statements.drafts.selectBranch.reset() }
    return try statements.drafts.selectBranch.step()
      ? statements.drafts.selectBranch.integer(0) : 0
  }
}

/// The prepared statements of drafts.
struct DraftStatements: ~Copyable {
  var select: Statement
  var selectBranch: Statement
  var update: Statement
  var insert: Statement
  var trim: Statement
  var delete: Statement
  var deleteAll: Statement

  static func prepare(on database: borrowing Database) throws(SQLiteError) -> DraftStatements {
    DraftStatements(
      select: try Statement(
        "SELECT room, branch, version, text FROM drafts ORDER BY version DESC", on: database),
      selectBranch: try Statement("SELECT branch FROM drafts WHERE version = ?1", on: database),
      update: try Statement(
        "UPDATE drafts SET version = ?3, text = ?4 WHERE branch = ?1 AND version = ?2",
        on: database),
      insert: try Statement(
        "INSERT INTO drafts (room, version, text) VALUES (?1, ?2, ?3)", on: database),
      trim: try Statement(
        """
        DELETE FROM drafts WHERE room = ?1 AND branch NOT IN (
          SELECT branch FROM drafts WHERE room = ?1 ORDER BY version DESC LIMIT ?2)
        """, on: database),
      delete: try Statement(
        "DELETE FROM drafts WHERE branch = ?1 AND version = ?2", on: database),
      deleteAll: try Statement("DELETE FROM drafts WHERE room = ?1", on: database))
  }
}
