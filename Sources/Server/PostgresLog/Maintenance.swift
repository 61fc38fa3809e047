internal import Postgres
public import Relay

/// Work on a store in PostgreSQL that no relay does: migrations, exports, imports, checks.
public enum Maintenance {
  /// Creates the schema and its tables, or migrates them. Relays may run.
  /// - Returns: the version of the schema before and now; 0 if there was none.
  public static func migrate(
    url: String, options: PostgresLog.Options = .init()
  ) throws(StoreFailure) -> (from: Int, to: Int) {
    try attempt("migrate the log") { () throws(PostgresError) in
      let connector = Connector(url: url, schema: options.schema)
      let connection = try Registration.check(connector, options)
      let version = try Schema.version(on: connection)
      try Schema.migrate(connection, schema: options.schema)
      return (Int(version), Int(Schema.version))
    }
  }

  /// Connects for a transaction that takes as long as it needs, and in which the planner is to expect
  /// whole tables.
  static func connect(
    _ connector: Connector, _ purpose: String
  ) throws(PostgresError) -> PostgresConnection {
    let connection = try connector.connect(purpose)
    let settings = [
      "SET idle_in_transaction_session_timeout = 0", "SET statement_timeout = 0",
      "SET enable_seqscan = on", "SET plan_cache_mode = auto",
    ]
    try connection.run(settings.map { PostgresStatement(once: $0)() })
    let version = try Schema.version(on: connection)
    guard version == Schema.version else {
      throw PostgresError(
        version == 0
          ? "there is no log in the schema \(connector.schema); relay migrate creates one"
          : "the schema \(connector.schema) has version \(version), and this relay needs "
            + "\(Schema.version); relay migrate brings an older one up to date")
    }
    return connection
  }

  static func attempt<Result>(
    _ action: String, _ body: () throws(PostgresError) -> Result
  ) throws(StoreFailure) -> Result {
    do throws(PostgresError) { return try body() } catch {
      throw StoreFailure("could not \(action) in PostgreSQL: \(error)")
    }
  }
}
