internal import Postgres
public import Relay

extension Maintenance {
  private static let selectKnown = PostgresStatement(
    once: """
      SELECT EXISTS (SELECT FROM users WHERE name = $1::text)
        OR EXISTS (SELECT FROM members WHERE username = $1::text)
      """)

  /// Whether a user has come online or belongs to a room. Relays may run.
  public static func knows(
    _ user: String, url: String, options: PostgresLog.Options
  ) throws(StoreFailure) -> Bool {
    try attempt("look a user up") { () throws(PostgresError) in
      let connection = try Connector(url: url, schema: options.schema).connect("users")
      return try connection.run(selectKnown(.text(user)))[0].bool(0, 0)
    }
  }
}
