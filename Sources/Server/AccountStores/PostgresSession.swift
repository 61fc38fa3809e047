import Accounts
import Postgres
import PostgresLog

/// The accounts in the schema of the log that several relays share. Connects when it is first used, and
/// again after the connection was lost.
final class PostgresSession: SQLSession {
  private let url: String
  private let options: PostgresLog.Options
  private var connection: PostgresConnection?

  init(url: String, options: PostgresLog.Options) {
    self.url = url
    self.options = options
  }

  private static let begin = SQLStatement("BEGIN")
  private static let commit = SQLStatement("COMMIT")
  private static let rollback = SQLStatement("ROLLBACK")
  private static let lock = SQLStatement(
    "SELECT pg_advisory_xact_lock(hashtextextended('relay accounts ' || $1::text, 0))")
  private static let createVersion = SQLStatement(
    "CREATE TABLE IF NOT EXISTS account_schema (version bigint NOT NULL)")
  private static let selectVersion = SQLStatement(
    "SELECT coalesce(max(version), 0) FROM account_schema")
  private static let deleteVersion = SQLStatement("DELETE FROM account_schema")
  private static let insertVersion = SQLStatement(
    "INSERT INTO account_schema (version) VALUES ($1::bigint)")
  private static let selectHasTables = SQLStatement(
    "SELECT to_regclass('account_schema') IS NOT NULL")

  /// Creates the tables, or migrates them.
  func migrate() throws(AccountError) {
    try transaction { () throws(AccountError) in
      if try !hasTables { _ = try run(Self.createVersion, [], []) }
      let version = try run(Self.selectVersion, [], [.int]).first?[0].int ?? 0
      guard version <= AccountSchema.steps.count else {
        throw .unavailable(
          "The accounts in PostgreSQL have version \(version), and this relay knows versions up to "
            + "\(AccountSchema.steps.count); use the newer relay that has migrated them.")
      }
      guard version < AccountSchema.steps.count else { return }
      for step in AccountSchema.steps[Int(version)...] {
        for statement in step { _ = try run(SQLStatement(statement), [], []) }
      }
      _ = try run(Self.deleteVersion, [], [])
      _ = try run(Self.insertVersion, [.int(Int64(AccountSchema.steps.count))], [])
    }
  }

  private func connected() throws(PostgresError) -> PostgresConnection {
    if let connection { return connection }
    let made = try PostgresLog.connect(url: url, options: options, for: "accounts")
    connection = made
    return made
  }

  var hasTables: Bool {
    get throws(AccountError) { try run(Self.selectHasTables, [], [.int]).first?[0].flag == true }
  }

  func run(
    _ statement: SQLStatement, _ values: [SQLValue], _ columns: [SQLColumn]
  ) throws(AccountError) -> [[SQLValue]] {
    do throws(PostgresError) {
      let connection = try connected()
      let call = PostgresStatement(once: statement.postgres).call(
        values.map { value in
          switch value {
          case .null: .null
          case .int(let number): .int(number)
          case .text(let text): .text(text)
          case .bytes(let bytes): .bytes(bytes)
          }
        })
      let rows = try connection.run(call)[0]
      return (0..<rows.count).map { row in
        columns.enumerated().map { index, column in
          if rows.isNull(row, index) { return .null }
          return switch column {
          case .int: .int(rows.int(row, index))
          case .text: .text(rows.text(row, index))
          case .bytes: .bytes(rows.byteString(row, index))
          }
        }
      }
    } catch {
      if error.isConnectionLost { connection = nil }
      throw .unavailable("The accounts in PostgreSQL failed: \(error).")
    }
  }

  /// Old rows are the server's: a vacuum removes them.
  func eraseLog() {}

  /// The lock orders the transactions of all relays, so that changes are numbered without gaps.
  func transaction<Result>(
    _ body: () throws(AccountError) -> Result
  ) throws(AccountError) -> Result {
    _ = try run(Self.begin, [], [])
    do throws(AccountError) {
      _ = try run(Self.lock, [.text(options.schema)], [])
      let result = try body()
      _ = try run(Self.commit, [], [])
      return result
    } catch {
      // A transaction that cannot be rolled back ends with its connection.
      do throws(AccountError) { _ = try run(Self.rollback, [], []) } catch { connection = nil }
      throw error
    }
  }
}
