internal import Moderation
internal import Postgres
package import Relay
internal import Wire

extension Maintenance {
  /// Reads all that the log has of a person, from one snapshot, as `Store.person` of SQLite does. Relays may
  /// run.
  /// - Throws: `StoreFailure`, or the error of `body`.
  package static func person(
    _ user: String, url: String, options: PostgresLog.Options,
    _ body: (PersonRecord) throws -> Void
  ) throws {
    let connector = Connector(url: url, schema: options.schema, onlyReads: true)
    let name = PostgresValue.text(user)
    let (connection, state) = try attempt("read") { () throws(PostgresError) in
      let connection = try connect(connector, "person")
      let rows = try connection.run(
        [Statements.beginSnapshot(), declareEntriesOfPerson(name)]
          + [selectMarks, selectStandings, selectBlocks, selectBan, selectSeen].map { $0(name) }
          + [Statements.commit()])
      return (connection, rows)
    }
    var filter = PersonFilter(user)
    try forEachRow(of: "entries_of_person", on: connection) { rows, row in
      if let record = filter.record(of: rows.entry(row, in: rows.text(row, 6))) { try body(record) }
    }
    for row in 0..<state[2].count {
      try body(
        .marks(
          MarksLine(
            room: state[2].text(row, 0), user: user, read: state[2].int(row, 1),
            received: state[2].int(row, 2), since: state[2].int(row, 3))))
    }
    for row in 0..<state[3].count {
      let standing = try state[3].standing(row)
      try body(
        .standing(StandingLine(room: state[3].text(row, 5), user: user, standing: standing)))
    }
    for row in 0..<state[4].count { try body(.block(BlockLine(state[4].block(row)))) }
    for row in 0..<state[5].count { try body(.ban(BanLine(state[5].ban(row)))) }
    for row in 0..<state[6].count { try body(.seen(at: state[6].int(row, 0))) }
  }

  private static let declareEntriesOfPerson = PostgresStatement(
    once: """
      DECLARE entries_of_person NO SCROLL CURSOR WITH HOLD FOR
      SELECT seq, at, sender, id, kind, body, rooms.name
      FROM entries JOIN rooms ON rooms.number = entries.room AND entries.seq >= rooms.first
      WHERE sender = $1::text OR rooms.name = '\(RoomName.reports)'
        OR kind = 'text' AND position(convert_to('"forward":', 'UTF8') IN body) > 0
      ORDER BY at, entries.room, seq
      """)
  private static let selectMarks = PostgresStatement(
    once: """
      SELECT rooms.name, read, received, since FROM members
      JOIN rooms ON rooms.number = members.room WHERE username = $1::text
      """)
  private static let selectStandings = PostgresStatement(
    once: """
      SELECT role, ban, mute, since, inviter, rooms.name FROM standings
      JOIN rooms ON rooms.number = standings.room WHERE username = $1::text
      """)
  private static let selectBlocks = PostgresStatement(
    once: "SELECT username, blocked, at FROM blocks WHERE username = $1::text OR blocked = $1::text"
  )
  private static let selectBan = PostgresStatement(
    once: "SELECT username, until FROM bans WHERE username = $1::text")
  private static let selectSeen = PostgresStatement(
    once: "SELECT seen FROM users WHERE name = $1::text")
}
