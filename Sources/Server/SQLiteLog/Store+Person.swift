package import Relay
internal import SQLite
internal import Wire

extension Store {
  /// Reads all that the store has of a person: the entries in the order of the log, then what they are in rooms,
  /// blocks, a ban, and when they were last seen. Works while a relay runs: no transaction is open for long.
  /// - Parameters:
  ///   - samples: receives pieces of the texts.
  ///   - body: an error that it throws ends the reading.
  /// - Throws: `StoreError`, or the error of `body`.
  package static func person(
    _ user: String, folder path: String, samples: ContentSamples? = nil,
    _ body: (PersonRecord) throws -> Void
  ) throws {
    let folder = DataFolder(path)
    let database = try Schema.openForReading(folder)
    do {
      var reader = try PersonReader.prepare(database, user)
      while let records = try reader.nextEntries(samples) { try records.forEach(body) }
      try reader.state().forEach(body)
    } catch let error as SQLiteError {
      throw StoreError(error, "read", path: folder.databasePath)
    }
  }
}

/// Reads what a journal has of one person, a range of positions at a time.
private struct PersonReader: ~Copyable {
  /// How many positions are read in one transaction.
  private static let positionsAtOnce: Int64 = 16_384

  private let database: Database
  private let user: String
  private let end: Int64
  private var position: Int64 = 0
  private var filter: PersonFilter
  private var select: Statement

  static func prepare(
    _ database: consuming Database, _ user: String
  ) throws(SQLiteError) -> PersonReader {
    let end = try database.integer("SELECT \(Schema.lastPosition)")
    // What a forward has of the person is found in its body.
    let select = try Statement(
      """
      SELECT seq, at, sender, id, kind, body, rooms.name, identity
      FROM entries JOIN rooms ON rooms.number = room
      WHERE entries.position > ?1 AND entries.position <= ?2 AND seq >= rooms.first
        AND (sender = ?3 OR rooms.name = '\(RoomName.reports)'
          OR kind = 'text' AND instr(CAST(body AS TEXT), '"forward":') > 0)
      ORDER BY entries.position
      """, on: database)
    return PersonReader(
      database: database, user: user, end: end, filter: PersonFilter(user), select: select)
  }

  private init(
    database: consuming Database, user: String, end: Int64, filter: PersonFilter,
    select: consuming Statement
  ) {
    self.database = database
    self.user = user
    self.end = end
    self.filter = filter
    self.select = select
  }

  /// Returns what the next entries have, possibly nothing; `nil` after the last entry.
  mutating func nextEntries(_ samples: ContentSamples?) throws(SQLiteError) -> [PersonRecord]? {
    guard position < end else { return nil }
    let last = min(end, position + Self.positionsAtOnce)
    try select.bind(1, position)
    try select.bind(2, last)
    try select.bind(3, user)
    defer { select.reset() }
    var records: [PersonRecord] = []
    while try select.step() {
      let entry = try select.entry(in: select.text(6))
      guard let record = filter.record(of: entry) else { continue }
      if record.erasure(of: user) != nil { samples?.add(entry, identity: select.integer(7)) }
      records.append(record)
    }
    position = last
    return records
  }

  /// Returns what the store has of the person besides entries.
  func state() throws(SQLiteError) -> [PersonRecord] {
    var records: [PersonRecord] = []
    try forEachRow(
      "SELECT name, read, received, since FROM members JOIN rooms ON number = room WHERE user = ?1"
    ) { row throws(SQLiteError) in
      records.append(
        .marks(
          MarksLine(
            room: row.text(0), user: user, read: row.integer(1), received: row.integer(2),
            since: row.integer(3))))
    }
    try forEachRow(
      """
      SELECT \(RulesStatements.standingColumns), number, name
      FROM standings JOIN rooms ON number = room WHERE user = ?1
      """
    ) { row throws(SQLiteError) in
      let standing = try row.standing(from: 0, ofRoom: row.integer(5))
      records.append(.standing(StandingLine(room: row.text(6), user: user, standing: standing)))
    }
    try forEachRow(
      "SELECT user, blocked, at FROM blocks WHERE user = ?1 OR blocked = ?1"
    ) { row throws(SQLiteError) in
      records.append(
        .block(
          BlockLine(BlockChange(user: row.text(0), blocked: row.text(1), at: row.integer(2)))))
    }
    for ban in try BlockStatements.bans(in: database) where ban.user == user {
      records.append(.ban(BanLine(ban)))
    }
    try forEachRow("SELECT seen FROM users WHERE name = ?1") { row throws(SQLiteError) in
      records.append(.seen(at: row.integer(0)))
    }
    return records
  }

  private func forEachRow(
    _ sql: String, _ body: (borrowing Statement) throws(SQLiteError) -> Void
  ) throws(SQLiteError) {
    var select = try Statement(sql, on: database)
    try select.bind(1, user)
    while try select.step() { try body(select) }
  }
}
