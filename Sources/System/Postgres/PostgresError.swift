/// A failure of PostgreSQL, or of the connection to it.
package struct PostgresError: Error, Equatable, CustomStringConvertible {
  /// What the server or libpq says, without a line break at the end.
  package var message: String
  /// The five characters of SQLSTATE; `nil` if the server did not answer.
  package var sqlState: String?
  /// Whether the connection can no longer be used. Then it is unknown whether a `COMMIT` without an
  /// answer was carried out.
  package var isConnectionLost: Bool
  /// Whether the same attempt may succeed later without a change by an operator.
  package var isTransient: Bool

  /// - Parameter isTransient: `nil` = as the other parameters say.
  package init(
    _ message: String, sqlState: String? = nil, isConnectionLost: Bool = false,
    isTransient: Bool? = nil
  ) {
    self.message = message
    self.sqlState = sqlState
    self.isConnectionLost = isConnectionLost
    self.isTransient =
      isTransient ?? sqlState.map { Self.mayPass($0) } ?? isConnectionLost
  }

  /// Whether an error of this SQLSTATE may pass: connections (08), resources (53), intervention, such
  /// as a server that starts or shuts down (57), conflicts (40), locks (55), and a server that was not
  /// promoted yet (25006). Passwords, names, rights and SQL do not mend themselves.
  private static func mayPass(_ sqlState: String) -> Bool {
    ["08", "53", "57", "40", "55"].contains { sqlState.hasPrefix($0) } || sqlState == "25006"
  }

  package var description: String {
    sqlState.map { "\(message) (SQLSTATE \($0))" } ?? message
  }
}
