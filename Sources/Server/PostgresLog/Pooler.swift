internal import Postgres

/// Finds out whether a pooler shares the server's processes between connections: pgbouncer in
/// transaction or statement mode, and its like. Locks, notifications and settings of a session are
/// lost then; in session mode they are not.
enum Pooler {
  /// How often both connections ask.
  private static let rounds = 3

  private static let selectProcess = PostgresStatement(once: "SELECT pg_backend_pid()")

  /// - Parameters:
  ///   - connection: must not be in a transaction.
  ///   - connect: makes another connection.
  /// - Throws: if a pooler shares processes, or if a connection fails.
  static func refuse(
    _ connection: PostgresConnection, connect: () throws(PostgresError) -> PostgresConnection
  ) throws(PostgresError) {
    let other = try connect()
    // A pooler gives a statement either the process that became free last, which the other connection
    // has just used, or the one that has been free longest, so that two statements of one connection
    // use two.
    for _ in 0..<rounds {
      let first = try connection.run(selectProcess())[0].int(0, 0)
      let second = try connection.run(selectProcess())[0].int(0, 0)
      let others = try other.run(selectProcess())[0].int(0, 0)
      guard first == second, first != others else {
        throw PostgresError(
          "the connection goes through a pooler that shares the server's sessions between clients "
            + "(pgbouncer with pool_mode transaction or statement), so that locks and notifications "
            + "are lost; connect to PostgreSQL itself, or set pool_mode = session")
      }
    }
  }
}
