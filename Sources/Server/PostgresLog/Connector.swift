internal import Cluster
internal import Postgres
internal import Relay

/// Connects to the store. Thread-safe.
struct Connector: Sendable {
  var url: String
  var schema: String
  /// Whether any server will do: nothing is written.
  var onlyReads = false

  /// The channel on which commits are announced.
  var channel: String { "\(schema)_feed" }

  private static let answerMilliseconds: Int32 = 12_000

  /// - Parameter purpose: shown in `pg_stat_activity`.
  func connect(_ purpose: String) throws(PostgresError) -> PostgresConnection {
    let connection = try PostgresConnection(
      url,
      options: [
        ("application_name", "relay \(purpose)"),
        ("connect_timeout", "5"),
        // A server that is gone is noticed within ten seconds.
        ("keepalives_idle", "3"), ("keepalives_interval", "2"), ("keepalives_count", "3"),
        ("tcp_user_timeout", "10000"),
        ("target_session_attrs", onlyReads ? "any" : "read-write"),
        ("client_encoding", "UTF8"),
      ],
      // Notices a network that delivers nothing, and says nothing. The server ends statements before.
      answerMilliseconds: Self.answerMilliseconds)
    // Each statement is the lookup of a few rows by an index. The planner, which sees tables that are
    // still empty or were never analyzed, would at times choose to read all of a table, and keep to
    // that while it grows. Without a limit to the time for which a node may hold the commit lock, a
    // stopped node would stop all.
    var settings = [
      // "already exists" is no news.
      "SET client_min_messages = warning", "SET enable_seqscan = off",
      "SET plan_cache_mode = force_generic_plan", "SET jit = off",
      "SET idle_in_transaction_session_timeout = '5s'", "SET statement_timeout = '10s'",
      // The defaults of the user or the database may differ: a transaction that holds the commit lock
      // reads what was committed before it began, and waits for as long as it takes.
      "SET default_transaction_isolation = 'read committed'", "SET lock_timeout = 0",
    ]
    settings.append("SET search_path = \(Schema.quoted(schema))")
    try connection.run(settings.map { PostgresStatement(once: $0)() })
    return connection
  }

  /// Returns the key of the lock of all commits: each schema is a store of its own, also one that was
  /// restored in the place of another.
  func lockKey(on connection: PostgresConnection) throws(PostgresError) -> Int64 {
    let rows = try connection.run(Statements.selectStore(.text(schema)))[0]
    guard !rows.isEmpty else { throw PostgresError("the schema \(schema) does not exist") }
    return 0x5265_6C61 << 32 | rows.int(0, 0)
  }

  /// Returns the key of the lock of the node that leads.
  func leadKey(on connection: PostgresConnection) throws(PostgresError) -> Int64 {
    try lockKey(on: connection) ^ 1 << 62
  }
}

/// A node that has joined the others.
struct Registration {
  var connection: PostgresConnection
  var lockKey: Int64
  var state: NodeState
  var identityKey: EntryIdentity.Key
  var lastRoom: Int64
  var blocks: BlockTable
  var bans: [BanChange]

  static let oldestVersion = 130_000

  private static let selectServer = PostgresStatement(
    once: """
      SELECT current_setting('server_encoding') = 'UTF8',
        to_regnamespace($1::text) IS NOT NULL,
        has_database_privilege(current_database(), 'CREATE'),
        current_user::text, current_database()::text,
        to_regnamespace($1::text) IS NULL OR has_schema_privilege(to_regnamespace($1::text), 'USAGE')
          AND NOT EXISTS (
            SELECT FROM pg_class
            WHERE relnamespace = to_regnamespace($1::text) AND relkind = 'r' AND NOT (
              has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
              AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE')))
      """)

  /// Connects, and checks the version, the encoding, the rights and the settings, and that no pooler
  /// is in between.
  static func check(
    _ connector: Connector, _ options: PostgresLog.Options
  ) throws(PostgresError) -> PostgresConnection {
    let connection = try connector.connect("write")
    guard connection.serverVersion >= Self.oldestVersion else {
      throw PostgresError(
        "the server has version \(connection.serverVersion / 10_000); version 13 or later is required"
      )
    }
    try Pooler.refuse(connection) { () throws(PostgresError) in try connector.connect("check") }
    let server = try connection.run(selectServer(.text(Schema.quoted(connector.schema))))[0]
    let (schema, user) = (Schema.quoted(connector.schema), Schema.quoted(server.text(0, 3)))
    let database = server.text(0, 4)
    guard server.bool(0, 0) else {
      throw PostgresError(
        "the encoding of the database \(database) is not UTF8; create one with "
          + "createdb --template template0 --encoding UTF8")
    }
    guard server.bool(0, 1) || server.bool(0, 2) else {
      throw PostgresError(
        "the schema \(connector.schema) does not exist, and \(server.text(0, 3)) may not create it; "
          + "as an administrator: GRANT CREATE ON DATABASE \(Schema.quoted(database)) TO \(user)")
    }
    guard server.bool(0, 5) else {
      throw PostgresError(
        "\(server.text(0, 3)) may not read and write all tables of the schema \(connector.schema); as "
          + "their owner: GRANT USAGE ON SCHEMA \(schema) TO \(user); "
          + "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(schema) TO \(user)")
    }
    var settings = ServerSettings(options)
    try settings.check(connection)
    return connection
  }

  /// Connects, creates or migrates the tables, and registers a node.
  init(
    _ connector: Connector, _ options: PostgresLog.Options
  ) throws(PostgresError) {
    connection = try Self.check(connector, options)
    try Schema.migrate(connection, schema: connector.schema)
    lockKey = try connector.lockKey(on: connection)
    (state, identityKey, lastRoom) = try Self.register(
      connection, lockKey: lockKey, name: options.name)
    // Changes since then are in the feed, and applied again.
    let rows = try connection.run(Statements.selectBlocks(), Statements.selectBans())
    (blocks, bans) = (rows[0].blocks, rows[1].bans)
  }

  /// Registers a node in the place where the log ends.
  /// - Parameters:
  ///   - former: a node that ends with this.
  ///   - lost: as of `Epochs.current`.
  static func register(
    _ connection: PostgresConnection, lockKey: Int64, name: String, former: Int64? = nil,
    lost: Int64? = nil
  ) throws(PostgresError) -> (state: NodeState, identityKey: EntryIdentity.Key, lastRoom: Int64) {
    let rows = try connection.run(
      Statements.begin(), Statements.takeLock(.int(lockKey)), Statements.selectSettings())[2]
    guard !rows.isEmpty, let key = EntryIdentity.Key(bytes: rows.byteString(0, 0)) else {
      throw PostgresError("the store is damaged: it has no settings")
    }
    let lineage = try Epochs.current(on: connection, lost: lost)
    let node = Int64.random(in: 1...(.max))
    let position = rows.int(0, 1)
    try connection.run(
      Statements.endNode(.int(former ?? 0)),
      Statements.insertNode(.int(node), .text(name), .int(position)), Statements.commit())
    let last = NodeState.Applied(
      position: position, mark: rows.isNull(0, 3) ? nil : rows.int(0, 3))
    return (NodeState(node: node, lineage: lineage, last: last), key, rows.int(0, 2))
  }
}
