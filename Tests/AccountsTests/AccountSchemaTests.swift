import Accounts
import PostgresLog
import TestSupport
import Testing

@testable import AccountStores

@Suite struct `The tables of accounts` {
  private static let ada = Account(user: "ada", name: "Ada", createdAt: 1)

  /// To version 1.
  private static let downgrade = [
    "ALTER TABLE accounts DROP COLUMN picture", "DROP TABLE account_provider_tokens",
  ]

  @Test func `of a file without pictures get them`() throws {
    let folder = try TemporaryFolder()
    let path = folder["accounts.db"]
    try SQLAccountStore.sqlite(path: path).put(Self.ada)
    do {
      let session = try SQLiteSession(path: path)
      for change in Self.downgrade { _ = try session.run(SQLStatement(change), [], []) }
      _ = try session.run(SQLStatement("PRAGMA user_version = 1"), [], [])
    }
    try check(try SQLAccountStore.sqlite(path: path))
  }

  @Test func `of PostgreSQL without pictures get them, also from an export`() throws {
    let server = try PostgresServer.shared.get()
    var options = PostgresLog.Options()
    options.schema = server.newSchema()
    options.requiresSync = false
    _ = try Maintenance.migrate(url: server.url, options: options)
    #expect(try SQLAccountStore.existing(url: server.url, options: options) == nil)
    try SQLAccountStore.postgresql(url: server.url, options: options).put(Self.ada)
    let session = PostgresSession(url: server.url, options: options)
    for change in Self.downgrade { _ = try session.run(SQLStatement(change), [], []) }
    _ = try session.run(SQLStatement("UPDATE account_schema SET version = 1"), [], [])
    try check(#require(try SQLAccountStore.existing(url: server.url, options: options)))
  }

  private func check(_ store: SQLAccountStore) throws {
    var account = Self.ada
    #expect(try store.account("ada") == account)
    account.picture = "https://p.example/1"
    try store.put(account)
    #expect(try store.account("ada") == account)
  }
}
