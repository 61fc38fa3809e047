internal import Moderation
internal import Postgres
public import Relay
internal import Wire

extension Maintenance {
  /// The number of rows that are in memory at a time.
  private static let rowsAtOnce = 500

  /// Exports as `Store.export` of SQLite does, from one snapshot; relays may run. The entries of an
  /// epoch follow those of the epoch before, in the order of their times: so each room is in order, and
  /// an import meets the epochs in theirs.
  ///
  /// The cursors outlive the transaction: the server reads the whole snapshot into files of its own at
  /// the commit, so that `write` may take any time, and holds up no vacuum.
  /// - Parameter write: receives one line with its line break; an error that it throws ends the export.
  /// - Throws: `StoreFailure`, or the error of `write`.
  public static func export(
    url: String, options: PostgresLog.Options = .init(), room: String? = nil,
    write: ([UInt8]) throws -> Void
  ) throws -> StoreCount {
    let connector = Connector(url: url, schema: options.schema, onlyReads: true)
    let name = PostgresValue.text(room ?? "")
    let connection = try attempt("export") { () throws(PostgresError) in
      let connection = try connect(connector, "export")
      try connection.run(
        Statements.beginSnapshot(), declareEntries(ofOneRoom: room != nil)(name), declareEmpty(),
        declareMembers(),
        declareRules(), declareStandings(), declareDirects(), declareBlocks(), declareBans(),
        FileStatements.declareExported(name), Statements.commit())
      return connection
    }
    var rooms: Set<String> = []
    var count = StoreCount()
    var line: [UInt8] = []
    try forEachRow(of: "exported_entries", on: connection) { rows, row in
      let name = rows.text(row, 6)
      if room == nil, RoomName.isReserved(name) { return }
      line.removeAll(keepingCapacity: true)
      ExportLine(entry: rows.entry(row, in: name), epoch: rows.text(row, 7)).append(to: &line)
      try write(line)
      rooms.insert(name)
      count.entries += 1
    }
    try forEachRow(of: "exported_empty", on: connection) { rows, row in
      let line = TrimLine(room: rows.text(row, 0), first: rows.int(row, 1))
      guard room.map({ $0 == line.room }) ?? !RoomName.isReserved(line.room) else { return }
      var bytes: [UInt8] = []
      line.append(to: &bytes)
      try write(bytes)
      rooms.insert(line.room)
    }
    if let room, rooms.isEmpty {
      throw StoreFailure("the log has no room \(room); omit --room to export all rooms")
    }
    count.rooms = rooms.count
    try forEachRow(of: "exported_members", on: connection) { rows, row in
      let marks = MarksLine(
        room: rows.text(row, 0), user: rows.text(row, 1), read: rows.int(row, 2),
        received: rows.int(row, 3), since: rows.int(row, 4))
      guard rooms.contains(marks.room) else { return }
      line.removeAll(keepingCapacity: true)
      marks.append(to: &line)
      try write(line)
    }
    try forEachRow(of: "exported_rules", on: connection) { rows, row in
      let rules = RulesLine(room: rows.text(row, 0), settings: rows.byteString(row, 1))
      guard rooms.contains(rules.room) else { return }
      line.removeAll(keepingCapacity: true)
      rules.append(to: &line)
      try write(line)
    }
    try forEachRow(of: "exported_standings", on: connection) { rows, row in
      guard rooms.contains(rows.text(row, 0)) else { return }
      guard
        let standing = Standing(
          role: rows.text(row, 2), ban: rows.int(row, 3), mute: rows.int(row, 4),
          since: rows.int(row, 5), inviter: rows.text(row, 6))
      else {
        throw StoreFailure("the role of a user is invalid; run `relay verify` for details")
      }
      line.removeAll(keepingCapacity: true)
      StandingLine(room: rows.text(row, 0), user: rows.text(row, 1), standing: standing)
        .append(to: &line)
      try write(line)
    }
    try forEachRow(of: "exported_directs", on: connection) { rows, row in
      guard rooms.contains(rows.text(row, 0)) else { return }
      line.removeAll(keepingCapacity: true)
      DirectLine(room: rows.text(row, 0), state: try rows.direct(row, 1)).append(to: &line)
      try write(line)
    }
    try forEachRow(of: "exported_blocks", on: connection) { rows, row in
      let block = rows.block(row)
      // Hidden entries without their block would stay hidden.
      guard room == nil || room == RoomName.direct(block.user, block.blocked) else { return }
      line.removeAll(keepingCapacity: true)
      BlockLine(block).append(to: &line)
      try write(line)
    }
    if room == nil {
      try forEachRow(of: "exported_bans", on: connection) { rows, row in
        line.removeAll(keepingCapacity: true)
        BanLine(rows.ban(row)).append(to: &line)
        try write(line)
      }
    }
    try forEachRow(of: "exported_files", on: connection) { rows, row in
      line.removeAll(keepingCapacity: true)
      FileLine(try rows.file(row)).append(to: &line)
      try write(line)
    }
    return count
  }

  private static func declareEntries(ofOneRoom isOneRoom: Bool) -> PostgresStatement {
    PostgresStatement(
      once: """
        DECLARE exported_entries NO SCROLL CURSOR WITH HOLD FOR
        SELECT seq, at, sender, id, kind, body, rooms.name, epochs.name
        FROM entries JOIN rooms ON rooms.number = entries.room AND entries.seq >= rooms.first
        JOIN LATERAL (
          SELECT epoch FROM room_epochs WHERE room_epochs.room = entries.room AND after < seq
          ORDER BY epoch DESC LIMIT 1) AS begun ON true
        JOIN epochs ON epochs.number = begun.epoch
        WHERE \(isOneRoom ? "rooms.name = $1::text" : "$1::text = ''")
        ORDER BY epochs.number, at, entries.room, seq
        """)
  }

  /// Rooms whose entries have all gone by their age; see `Exporter.emptyRooms`.
  private static let declareEmpty = PostgresStatement(
    once: """
      DECLARE exported_empty NO SCROLL CURSOR WITH HOLD FOR
      SELECT name, first FROM rooms WHERE first > 1 AND NOT EXISTS (
        SELECT FROM entries WHERE room = rooms.number AND seq >= rooms.first)
      ORDER BY name
      """)

  private static let declareMembers = PostgresStatement(
    once: """
      DECLARE exported_members NO SCROLL CURSOR WITH HOLD FOR
      SELECT rooms.name, username, read, received, since
      FROM members JOIN rooms ON rooms.number = members.room
      ORDER BY rooms.name, username
      """)

  private static let declareRules = PostgresStatement(
    once: """
      DECLARE exported_rules NO SCROLL CURSOR WITH HOLD FOR
      SELECT rooms.name, settings FROM rules JOIN rooms ON rooms.number = rules.room
      ORDER BY rooms.name
      """)

  private static let declareStandings = PostgresStatement(
    once: """
      DECLARE exported_standings NO SCROLL CURSOR WITH HOLD FOR
      SELECT rooms.name, username, role, ban, mute, since, inviter
      FROM standings JOIN rooms ON rooms.number = standings.room
      ORDER BY rooms.name, username
      """)

  private static let declareDirects = PostgresStatement(
    once: """
      DECLARE exported_directs NO SCROLL CURSOR WITH HOLD FOR
      SELECT rooms.name, state FROM directs JOIN rooms ON rooms.number = directs.room
      ORDER BY rooms.name
      """)

  private static let declareBlocks = PostgresStatement(
    once: """
      DECLARE exported_blocks NO SCROLL CURSOR WITH HOLD FOR
      SELECT username, blocked, at FROM blocks ORDER BY username, blocked
      """)

  private static let declareBans = PostgresStatement(
    once: """
      DECLARE exported_bans NO SCROLL CURSOR WITH HOLD FOR
      SELECT username, until FROM bans ORDER BY username
      """)

  static func forEachRow(
    of cursor: String, on connection: PostgresConnection,
    _ body: (PostgresRows, Int) throws -> Void
  ) throws {
    let fetch = PostgresStatement("fetch_\(cursor)", "FETCH \(rowsAtOnce) FROM \(cursor)")
    while true {
      let rows = try attempt("export") { () throws(PostgresError) in try connection.run(fetch())[0]
      }
      if rows.isEmpty { break }
      for row in 0..<rows.count { try body(rows, row) }
    }
  }
}
