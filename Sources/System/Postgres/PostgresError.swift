/// A failure of PostgreSQL, or of the connection to it.
package struct PostgresError: Error, Equatable, CustomStringConvertible {
  /// What the server or libpq says, without a line break at the end.
  package var message: String
  /// The five characters of SQLSTATE; `nil` if the server did not answer.
  package var sqlState: String?
  /// Whether the connection can no longer be used. Then it is unknown whether a `COMMIT` without an
  /// answer was carried out.
  package var isConnectionLost: Bool

  package init(_ message: String, sqlState: String? = nil, isConnectionLost: Bool = false) {
    self.message = message
    self.sqlState = sqlState
    self.isConnectionLost = isConnectionLost
  }

  package var description: String {
    sqlState.map { "\(message) (SQLSTATE \($0))" } ?? message
  }
}
