internal import CSQLite
internal import Relay
internal import SQLite

/// The statements on blocks, direct rooms and reports.
struct BlockStatements: ~Copyable {
  private var upsertDirect: Statement
  private var deleteDirect: Statement
  private var insertBlock: Statement
  private var deleteBlock: Statement
  private var insertBan: Statement
  private var deleteBan: Statement
  private var deleteStandings: Statement
  private var deleteUser: Statement
  private var insertReport: Statement
  private var updateReport: Statement
  private var deleteReports: Statement
  private var selectCopies: Statement
  private var selectOldCopies: Statement

  static func prepare(on database: borrowing Database) throws(SQLiteError) -> BlockStatements {
    BlockStatements(
      upsertDirect: try Statement(
        """
        INSERT INTO directs (room, state) VALUES (?1, ?2)
        ON CONFLICT DO UPDATE SET state = excluded.state
        """, on: database),
      deleteDirect: try Statement("DELETE FROM directs WHERE room = ?1", on: database),
      insertBlock: try Statement(
        "INSERT OR REPLACE INTO blocks (user, blocked, at) VALUES (?1, ?2, ?3)", on: database),
      deleteBlock: try Statement(
        "DELETE FROM blocks WHERE user = ?1 AND blocked = ?2", on: database),
      insertBan: try Statement(
        "INSERT OR REPLACE INTO bans (user, until) VALUES (?1, ?2)", on: database),
      deleteBan: try Statement("DELETE FROM bans WHERE user = ?1", on: database),
      deleteStandings: try Statement("DELETE FROM standings WHERE room = ?1", on: database),
      deleteUser: try Statement("DELETE FROM users WHERE name = ?1", on: database),
      insertReport: try Statement(
        "INSERT INTO reports (report, room, seq, at, copied) VALUES (?1, ?2, ?3, ?4, 1)",
        on: database),
      updateReport: try Statement(
        "UPDATE reports SET copied = 0 WHERE report = ?1", on: database),
      deleteReports: try Statement("DELETE FROM reports WHERE report < ?1", on: database),
      selectCopies: try Statement(
        """
        SELECT report FROM reports WHERE room = ?1 AND seq BETWEEN ?2 AND ?3 AND copied = 1
        """, on: database),
      selectOldCopies: try Statement(
        "SELECT report FROM reports WHERE copied = 1 AND at < ?1 ORDER BY at LIMIT ?2",
        on: database))
  }

  /// Stores what `StoreChanges.hasRareChanges` is about.
  mutating func store(_ changes: StoreChanges) throws(SQLiteError) {
    for room in changes.cleared { try removeStandings(ofRoom: room) }
    for change in changes.bans { try store(change) }
    for (room, state) in changes.directs { try store(state, ofRoom: room) }
    for change in changes.blocks { try store(change) }
    for change in changes.reports { try store(change) }
    if let first = changes.firstReport { try forgetReports(before: first) }
    for user in changes.erasedUsers {
      try deleteUser.bind(1, user)
      try deleteUser.run()
    }
  }

  mutating func store(_ state: DirectState, ofRoom number: Int64) throws(SQLiteError) {
    if state.isEmpty {
      try deleteDirect.bind(1, number)
      try deleteDirect.run()
    } else {
      try upsertDirect.bind(1, number)
      try upsertDirect.bind(2, state.text)
      try upsertDirect.run()
    }
  }

  mutating func store(_ change: BlockChange) throws(SQLiteError) {
    if let at = change.at {
      try insertBlock.bind(1, change.user)
      try insertBlock.bind(2, change.blocked)
      try insertBlock.bind(3, at)
      try insertBlock.run()
    } else {
      try deleteBlock.bind(1, change.user)
      try deleteBlock.bind(2, change.blocked)
      try deleteBlock.run()
    }
  }

  mutating func store(_ change: BanChange) throws(SQLiteError) {
    if change.isBanned {
      try insertBan.bind(1, change.user)
      try insertBan.bind(2, change.until ?? 0)
      try insertBan.run()
    } else {
      try deleteBan.bind(1, change.user)
      try deleteBan.run()
    }
  }

  mutating func removeStandings(ofRoom number: Int64) throws(SQLiteError) {
    try deleteStandings.bind(1, number)
    try deleteStandings.run()
  }

  static func bans(in database: borrowing Database) throws(SQLiteError) -> [BanChange] {
    var select = try Statement("SELECT user, until FROM bans", on: database)
    var bans: [BanChange] = []
    while try select.step() {
      let until = select.integer(1)
      bans.append(
        BanChange(user: select.text(0), isBanned: true, until: until == 0 ? nil : until))
    }
    return bans
  }

  mutating func store(_ change: ReportChange) throws(SQLiteError) {
    if change.hasCopy {
      try insertReport.bind(1, change.report)
      try insertReport.bind(2, change.room)
      try insertReport.bind(3, change.seq)
      try insertReport.bind(4, change.at)
      try insertReport.run()
    } else {
      try updateReport.bind(1, change.report)
      try updateReport.run()
    }
  }

  mutating func forgetReports(before first: Int64) throws(SQLiteError) {
    try deleteReports.bind(1, first)
    try deleteReports.run()
  }

  mutating func copies(
    ofRoom number: Int64, in seqs: ClosedRange<Int64>
  ) throws(SQLiteError) -> [Int64] {
    try selectCopies.bind(1, number)
    try selectCopies.bind(2, seqs.lowerBound)
    try selectCopies.bind(3, seqs.upperBound)
    return try selectCopies.integers()
  }

  mutating func copies(before at: Int64, limit: Int) throws(SQLiteError) -> [Int64] {
    try selectOldCopies.bind(1, at)
    try selectOldCopies.bind(2, Int64(limit))
    return try selectOldCopies.integers()
  }

  /// Returns all blocks, each as the change that began it.
  static func changes(in database: borrowing Database) throws(SQLiteError) -> [BlockChange] {
    var select = try Statement(
      "SELECT user, blocked, at FROM blocks ORDER BY user, blocked", on: database)
    var changes: [BlockChange] = []
    while try select.step() {
      changes.append(
        BlockChange(user: select.text(0), blocked: select.text(1), at: select.integer(2)))
    }
    return changes
  }
}

extension Statement {
  /// Returns the first column of all rows, and resets the statement.
  mutating func integers() throws(SQLiteError) -> [Int64] {
    defer { reset() }
    var integers: [Int64] = []
    while try step() { integers.append(integer(0)) }
    return integers
  }

  /// Returns what a direct room has; empty if the column is `NULL`.
  func direct(_ column: Int32, ofRoom number: Int64) throws(SQLiteError) -> DirectState {
    if isNull(column) { return DirectState() }
    guard let state = DirectState(text: text(column)) else {
      throw SQLiteError(
        extendedCode: SQLITE_CORRUPT,
        message: "the state of the direct room \(number) is invalid; run `relay verify` for details"
      )
    }
    return state
  }
}
