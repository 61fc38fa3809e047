internal import SQLite

extension Archive {
  /// The part of a room's state that is this machine's own, and that another process may change.
  public struct SharedState: Equatable, Sendable {
    public var room: String
    public var read: Int64
    public var unread: Int64
    /// See `Room.notifications`.
    public var notifications: Int64
    public var isPinned: Bool
    public var isMarkedUnread: Bool

    init(_ room: Room) {
      self.init(
        room: room.room, read: room.read, unread: room.unread, notifications: room.notifications,
        isPinned: room.isPinned, isMarkedUnread: room.isMarkedUnread)
    }

    public init(
      room: String, read: Int64, unread: Int64, notifications: Int64, isPinned: Bool,
      isMarkedUnread: Bool
    ) {
      self.room = room
      self.read = read
      self.unread = unread
      self.notifications = notifications
      self.isPinned = isPinned
      self.isMarkedUnread = isMarkedUnread
    }

    /// Returns what is to be stored: the changes since `base` of this state, and otherwise what is
    /// stored by now.
    func merged(with stored: SharedState, since base: SharedState) -> SharedState {
      var merged = stored
      if notifications != base.notifications { merged.notifications = notifications }
      if isPinned != base.isPinned { merged.isPinned = isPinned }
      if isMarkedUnread != base.isMarkedUnread { merged.isMarkedUnread = isMarkedUnread }
      // A count belongs to its mark. A mark goes back only where the log has lost its end.
      let isChanged = (read, unread) != (base.read, base.unread)
      if isChanged, read >= stored.read || read < base.read {
        (merged.read, merged.unread) = (read, unread)
      }
      return merged
    }
  }
}

extension Archive {
  /// Returns the states of rooms that were changed since the last call or the start.
  public func changedStates() throws(ArchiveError) -> [SharedState] {
    var revision = known.revision
    let states = try read { (store) throws(SQLiteError) in
      try store.sharedStates(after: &revision)
    }
    known.revision = revision
    for state in states { bases[state.room] = state }
    return states
  }

  /// Whether another process has written since the last call.
  public func isChangedByOthers() throws(ArchiveError) -> Bool {
    let version: Int64
    let session = try open()
    do throws(SQLiteError) {
      version = try session.store.database.integer("PRAGMA data_version")
    } catch {
      throw explain(error)
    }
    defer { known.dataVersion = version }
    return version != known.dataVersion
  }
}

extension Store {
  /// Stores the part of a room's state that processes share.
  func save(_ state: Archive.SharedState, since base: Archive.SharedState?) throws(SQLiteError) {
    guard let stored = try sharedState(of: state.room) else { return }
    // Another process may have added the room, too.
    let start = Archive.SharedState(
      room: state.room, read: 0, unread: 0, notifications: 0, isPinned: false,
      isMarkedUnread: false)
    let merged = state.merged(with: stored, since: base ?? start)
    if merged == stored { return }
    try statements.shared.update.bind(1, merged.room)
    try statements.shared.update.bind(2, merged.read)
    try statements.shared.update.bind(3, merged.unread)
    try statements.shared.update.bind(4, merged.notifications)
    try statements.shared.update.bind(5, merged.isPinned)
    try statements.shared.update.bind(6, merged.isMarkedUnread)
    try statements.shared.update.bind(7, try nextRevision())
    try statements.shared.update.run()
  }

  private func sharedState(of room: String) throws(SQLiteError) -> Archive.SharedState? {
    try statements.shared.select.bind(1, room)
    defer { statements.shared.select.reset() }
    guard try statements.shared.select.step() else { return nil }
    return Archive.SharedState(row: statements.shared.select)
  }

  /// Returns the states that were changed after a revision, and raises it to the last one.
  func sharedStates(after revision: inout Int64) throws(SQLiteError) -> [Archive.SharedState] {
    try statements.shared.selectChanged.bind(1, revision)
    defer { statements.shared.selectChanged.reset() }
    var states: [Archive.SharedState] = []
    while try statements.shared.selectChanged.step() {
      states.append(Archive.SharedState(row: statements.shared.selectChanged))
      revision = statements.shared.selectChanged.integer(6)
    }
    return states
  }

  func lastRevision() throws(SQLiteError) -> Int64 {
    defer { statements.shared.selectLast.reset() }
    return try statements.shared.selectLast.step() ? statements.shared.selectLast.integer(0) : 0
  }

  /// Returns a number that is higher than every earlier one, for a change that other processes are
  /// to find.
  func nextRevision() throws(SQLiteError) -> Int64 {
    try statements.shared.count.run()
    return try lastRevision()
  }
}

extension Archive.SharedState {
  fileprivate init(row: borrowing Statement) {
    self.init(
      room: row.text(0), read: row.integer(1), unread: row.integer(2),
      notifications: row.integer(3), isPinned: row.flag(4), isMarkedUnread: row.flag(5))
  }
}

/// The prepared statements of the state that processes share.
struct SharedStatements: ~Copyable {
  var select: Statement
  var selectChanged: Statement
  var selectLast: Statement
  var count: Statement
  var update: Statement

  private static let columns =
    "name, read, unread, is_muted, is_pinned, is_marked_unread, revision"

  static func prepare(on database: borrowing Database) throws(SQLiteError) -> SharedStatements {
    SharedStatements(
      select: try Statement(
        "SELECT \(Self.columns) FROM rooms WHERE name = ?1", on: database),
      selectChanged: try Statement(
        "SELECT \(Self.columns) FROM rooms WHERE revision > ?1 ORDER BY revision", on: database),
      selectLast: try Statement("SELECT last FROM revisions", on: database),
      count: try Statement("UPDATE revisions SET last = last + 1", on: database),
      update: try Statement(
        """
        UPDATE rooms SET read = ?2, unread = ?3, is_muted = ?4, is_pinned = ?5,
          is_marked_unread = ?6, revision = ?7
        WHERE name = ?1
        """, on: database))
  }
}
