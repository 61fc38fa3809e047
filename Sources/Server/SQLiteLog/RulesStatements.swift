internal import CSQLite
internal import Moderation
internal import Relay
internal import SQLite
internal import Wire

/// The statements on what entries have made of rooms and of users in them.
struct RulesStatements: ~Copyable {
  private var selectStanding: Statement
  private var upsertRules: Statement
  private var upsertStanding: Statement
  private var deleteStanding: Statement

  /// The columns that `Statement.rules` reads.
  static let columns = "settings, owners, members, barred"
  /// The columns that `Statement.standing` reads.
  static let standingColumns = "role, ban, mute, since, inviter"

  static func prepare(on database: borrowing Database) throws(SQLiteError) -> RulesStatements {
    RulesStatements(
      selectStanding: try Statement(selectStandingText, on: database),
      upsertRules: try Statement(
        """
        INSERT INTO rules (room, settings, owners, members, barred) VALUES (?1, ?2, ?3, ?4, ?5)
        ON CONFLICT DO UPDATE SET settings = excluded.settings, owners = excluded.owners,
          members = excluded.members, barred = excluded.barred
        """, on: database),
      upsertStanding: try Statement(
        """
        INSERT INTO standings (room, user, role, ban, mute, since, inviter)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
        ON CONFLICT DO UPDATE SET role = excluded.role, ban = excluded.ban, mute = excluded.mute,
          since = excluded.since, inviter = excluded.inviter
        """, on: database),
      deleteStanding: try Statement(
        "DELETE FROM standings WHERE room = ?1 AND user = ?2", on: database))
  }

  static let selectStandingText =
    "SELECT \(standingColumns) FROM standings WHERE room = ?1 AND user = ?2"

  mutating func standing(
    of user: String, inRoom number: Int64
  ) throws(SQLiteError) -> Standing {
    try selectStanding.standing(of: user, inRoom: number)
  }

  mutating func store(_ rules: RoomRules, ofRoom number: Int64) throws(SQLiteError) {
    try upsertRules.bind(1, number)
    try upsertRules.bind(2, rules.settingsBody)
    try upsertRules.bind(3, Int64(rules.counts.owners))
    try upsertRules.bind(4, Int64(rules.counts.members))
    try upsertRules.bind(5, Int64(rules.counts.barred))
    try upsertRules.run()
  }

  mutating func store(
    _ standing: Standing, of user: String, inRoom number: Int64
  ) throws(SQLiteError) {
    guard standing != .unnamed else {
      try deleteStanding.bind(1, number)
      try deleteStanding.bind(2, user)
      try deleteStanding.run()
      return
    }
    try upsertStanding.bind(1, number)
    try upsertStanding.bind(2, user)
    try upsertStanding.bind(3, standing.base.rawValue)
    try upsertStanding.bind(4, standing.banNumber)
    try upsertStanding.bind(5, standing.muteNumber)
    try upsertStanding.bind(6, standing.since)
    try upsertStanding.bind(7, standing.inviter ?? "")
    try upsertStanding.run()
  }
}

extension Statement {
  /// Reads what a user is in a room, by `RulesStatements.selectStandingText`.
  mutating func standing(
    of user: String, inRoom number: Int64
  ) throws(SQLiteError) -> Standing {
    try bind(1, number)
    try bind(2, user)
    defer { reset() }
    return try step() ? standing(from: 0, ofRoom: number) : .unnamed
  }

  /// - Parameter column: that of the first of `RulesStatements.standingColumns`.
  func standing(from column: Int32, ofRoom number: Int64) throws(SQLiteError) -> Standing {
    guard
      let standing = Standing(
        role: text(column), ban: integer(column + 1), mute: integer(column + 2),
        since: integer(column + 3), inviter: text(column + 4))
    else { throw Self.invalidRules(ofRoom: number) }
    return standing
  }

  /// Returns the rules of a room; `nil` if it has none.
  /// - Parameter column: that of the first of `RulesStatements.columns`.
  func rules(from column: Int32, ofRoom number: Int64) throws(SQLiteError) -> RoomRules? {
    if isNull(column) { return nil }
    let counts = RoomRules.Counts(
      owners: Int(integer(column + 1)), members: Int(integer(column + 2)),
      barred: Int(integer(column + 3)))
    guard let rules = RoomRules(settings: blob(column), counts) else {
      throw Self.invalidRules(ofRoom: number)
    }
    return rules
  }

  private static func invalidRules(ofRoom number: Int64) -> SQLiteError {
    SQLiteError(
      extendedCode: SQLITE_CORRUPT,
      message:
        "the settings or members of room \(number) are invalid; run `relay verify` for details")
  }
}
