import Accounts

/// A connection to a database, for the few statements of the accounts, in SQL that SQLite and PostgreSQL
/// share. Used by one thread.
protocol SQLSession: AnyObject {
  /// Runs a statement and returns its rows.
  /// - Parameter columns: the types of the result's columns.
  func run(
    _ statement: SQLStatement, _ values: [SQLValue], _ columns: [SQLColumn]
  ) throws(AccountError) -> [[SQLValue]]
  /// Runs `body` in a transaction that no other one overlaps.
  func transaction<Result>(
    _ body: () throws(AccountError) -> Result
  ) throws(AccountError) -> Result
  /// Removes what the write-ahead log has, if it is a file beside the database.
  func eraseLog() throws(AccountError)
}

enum SQLColumn { case int, text, bytes }

enum SQLValue {
  case null
  case int(Int64)
  case text(String)
  case bytes([UInt8])

  init(_ text: String?) { self = text.map { .text($0) } ?? .null }
  init(_ flag: Bool) { self = .int(flag ? 1 : 0) }
  init(_ hash: SecretHash) { self = .bytes(hash.bytes) }

  // A column has the type that was asked for, or is null.
  var int: Int64 { optionalInt ?? 0 }
  var optionalInt: Int64? { if case .int(let value) = self { value } else { nil } }
  var flag: Bool { int != 0 }
  var text: String { optionalText ?? "" }
  var optionalText: String? { if case .text(let value) = self { value } else { nil } }
  var hash: SecretHash? { if case .bytes(let value) = self { SecretHash(value) } else { nil } }
  /// A list of names, none of which has a space.
  var names: [String] { text.split(separator: " ").map(String.init) }
}

/// A statement in both forms: PostgreSQL has to be told the types of the parameters, `$1::bigint`, which
/// SQLite writes `?1`.
struct SQLStatement: Sendable {
  let postgres: String
  let sqlite: String

  init(_ postgres: String) {
    self.postgres = postgres
    var sqlite = ""
    var rest = postgres[...]
    while let dollar = rest.firstIndex(of: "$") {
      sqlite += rest[..<dollar]
      let number = rest[rest.index(after: dollar)...].prefix { $0.isNumber }
      sqlite += "?" + number
      rest = rest[number.endIndex...].drop { $0 == ":" || $0.isLetter }
    }
    self.sqlite = sqlite + rest
  }
}
