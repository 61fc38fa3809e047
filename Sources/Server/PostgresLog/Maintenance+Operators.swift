internal import Postgres
public import Relay

/// What operators list. Relays may run.
extension Maintenance {
  private static let selectListed = PostgresStatement(
    once: """
      SELECT name, (SELECT count(*) FROM members WHERE room = rooms.number), count(seq),
        coalesce(sum(length(body)), 0)::bigint, max(at)
      FROM rooms LEFT JOIN entries ON entries.room = rooms.number AND seq >= first
      GROUP BY rooms.number, name ORDER BY name
      """)

  /// Returns all rooms, in the order of their names. Reads all entries.
  public static func rooms(
    url: String, options: PostgresLog.Options
  ) throws(StoreFailure) -> [RoomListing] {
    try attempt("list rooms") { () throws(PostgresError) in
      let rows = try connect(Connector(url: url, schema: options.schema), "rooms")
        .run(selectListed())[0]
      return (0..<rows.count).map {
        RoomListing(
          name: rows.text($0, 0), members: Int(rows.int($0, 1)), entries: Int(rows.int($0, 2)),
          bytes: rows.int($0, 3), lastAt: rows.isNull($0, 4) ? nil : rows.int($0, 4))
      }
    }
  }

  /// Returns the users that operators have banned.
  public static func bans(
    url: String, options: PostgresLog.Options
  ) throws(StoreFailure) -> [BanChange] {
    try attempt("list bans") { () throws(PostgresError) in
      try Connector(url: url, schema: options.schema).connect("bans")
        .run(Statements.selectBans())[0].bans
    }
  }
}
