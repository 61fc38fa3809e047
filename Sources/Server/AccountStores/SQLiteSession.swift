import Accounts
import SQLite

/// The accounts in a file of their own beside the log: the log's thread, which alone writes `relay.db`, has
/// no part in signing in, and programs of operators may write beside a running relay.
final class SQLiteSession: SQLSession {
  private let database: Database

  /// - Parameters:
  ///   - path: `nil` = in memory.
  ///   - isReadOnly: whether the file is neither created nor changed.
  init(path: String?, isReadOnly: Bool = false) throws(AccountError) {
    var isCurrent = true
    do throws(SQLiteError) {
      database =
        if let path {
          try Database(
            path: path, mode: isReadOnly ? .readOnly : .create, busyTimeoutMilliseconds: 5000)
        } else {
          try Database(path: "accounts", mode: .create, vfs: "memdb")
        }
      if isReadOnly {
        isCurrent = try database.integer("PRAGMA user_version") == AccountSchema.steps.count
      } else {
        try Self.prepare(database)
      }
    } catch {
      throw .unavailable("The file of accounts \(path ?? "in memory") cannot be opened: \(error).")
    }
    guard isCurrent else {
      throw .unavailable(
        "The file of accounts \(path ?? "in memory") was written by another version of the relay. Start this one on it "
          + "once.")
    }
  }

  private static func prepare(_ database: borrowing Database) throws(SQLiteError) {
    database.addPageChecksums()
    // A removed hash is overwritten. Signing in is rare, and has to survive a loss of power.
    try database.execute("PRAGMA secure_delete = ON")
    _ = try database.integer("PRAGMA journal_mode = WAL")
    try database.execute("PRAGMA synchronous = FULL")
    try database.migrate(
      by: AccountSchema.steps.map { $0.joined(separator: ";\n") + ";" },
      applicationID: AccountSchema.applicationID)
  }

  func run(
    _ statement: SQLStatement, _ values: [SQLValue], _ columns: [SQLColumn]
  ) throws(AccountError) -> [[SQLValue]] {
    do throws(SQLiteError) {
      var prepared = try Statement(statement.sqlite, on: database)
      for (index, value) in values.enumerated() {
        let place = Int32(index + 1)
        switch value {
        case .null: try prepared.bindNull(place)
        case .int(let number): try prepared.bind(place, number)
        case .text(let text): try prepared.bind(place, text)
        case .bytes(let bytes): try prepared.bind(place, bytes)
        }
      }
      var rows: [[SQLValue]] = []
      while try prepared.step() {
        var row: [SQLValue] = []
        for (index, column) in columns.enumerated() {
          let place = Int32(index)
          guard !prepared.isNull(place) else {
            row.append(.null)
            continue
          }
          switch column {
          case .int: row.append(.int(prepared.integer(place)))
          case .text: row.append(.text(prepared.text(place)))
          case .bytes: row.append(.bytes(prepared.blob(place)))
          }
        }
        rows.append(row)
      }
      return rows
    } catch {
      throw Self.failure(error)
    }
  }

  func transaction<Result>(
    _ body: () throws(AccountError) -> Result
  ) throws(AccountError) -> Result {
    do throws(SQLiteError) { try database.execute("BEGIN IMMEDIATE") } catch {
      throw Self.failure(error)
    }
    do throws(AccountError) {
      let result = try body()
      do throws(SQLiteError) { try database.execute("COMMIT") } catch { throw Self.failure(error) }
      return result
    } catch {
      database.rollback()
      throw error
    }
  }

  func eraseLog() throws(AccountError) {
    let isHeldUp: Bool
    do throws(SQLiteError) { isHeldUp = try database.checkpoint(.truncate).isHeldUp } catch {
      throw Self.failure(error)
    }
    guard !isHeldUp else {
      throw .unavailable(
        "The write-ahead log of the file of accounts is in use, and still has what was removed. Try again."
      )
    }
  }

  private static func failure(_ error: SQLiteError) -> AccountError {
    .unavailable("The file of accounts failed: \(error).")
  }
}
