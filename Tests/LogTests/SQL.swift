import SQLite

@testable import SQLiteLog

/// The database file, changed by statements that bypass the relay. In a file with the current schema they
/// see the entries as a table.
final class SQL {
  private let database: Database

  init(_ path: String) throws {
    database = try Database(path: path, mode: .create)
    if try database.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'packs'") == 1 {
      try EntryTable.add(to: database)
    }
  }

  func run(_ statements: String) throws { try database.execute(statements) }

  func integer(_ query: String) throws -> Int64 { try database.integer(query) }
}
