internal import Postgres
public import Relay

extension Maintenance {
  private static let selectKnown = PostgresStatement(
    once: """
      SELECT EXISTS (SELECT FROM users WHERE name = $1::text)
        OR EXISTS (
          SELECT FROM members JOIN rooms ON rooms.number = members.room
          WHERE username = $1::text
            AND ($2::bigint = 0 OR rooms.name NOT LIKE 'dm:%' OR read > 0 OR received > 0))
      """)

  /// Whether a user has come online or belongs to a room. Relays may run.
  /// - Parameter byTakingPart: whether direct messages to the user do not count, as in `Store.knows`.
  public static func knows(
    _ user: String, byTakingPart: Bool = false, url: String, options: PostgresLog.Options
  ) throws(StoreFailure) -> Bool {
    try attempt("look a user up") { () throws(PostgresError) in
      let connection = try Connector(url: url, schema: options.schema).connect("users")
      return try connection.run(selectKnown(.text(user), .int(byTakingPart ? 1 : 0)))[0].bool(0, 0)
    }
  }
}
