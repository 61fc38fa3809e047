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
      ])
    // Each statement is the lookup of a few rows by an index. The planner, which sees tables that are
    // still empty or were never analyzed, would at times choose to read all of a table, and keep to
    // that while it grows. Without a limit to the time that a node keeps its turn, one that is stopped
    // would stop all.
    var settings = [
      // "already exists" is no news.
      "SET client_min_messages = warning", "SET enable_seqscan = off",
      "SET plan_cache_mode = force_generic_plan", "SET jit = off",
      "SET idle_in_transaction_session_timeout = '5s'", "SET statement_timeout = '30s'",
    ]
    settings.append("SET search_path = \(Schema.quoted(schema))")
    try connection.run(settings.map { PostgresStatement(once: $0)() })
    return connection
  }

  /// Returns the key of the lock of all commits: each schema is a store of its own, also one that was
  /// restored in the place of another.
  func turnKey(on connection: PostgresConnection) throws(PostgresError) -> Int64 {
    let rows = try connection.run(Statements.selectStore(.text(schema)))[0]
    guard !rows.isEmpty else { throw PostgresError("the schema \(schema) does not exist") }
    return 0x5265_6C61 << 32 | rows.int(0, 0)
  }

  /// Returns the key of the lock of the node that leads.
  func leadKey(on connection: PostgresConnection) throws(PostgresError) -> Int64 {
    try turnKey(on: connection) ^ 1 << 62
  }
}

/// A node that has joined the others.
struct Registration {
  var connection: PostgresConnection
  var turnKey: Int64
  var state: NodeState
  var identityKey: EntryIdentity.Key
  var lastRoom: Int64

  static let oldestVersion = 130_000

  private static let selectServer = PostgresStatement(
    once: """
      SELECT current_setting('fsync') = 'on', current_setting('synchronous_commit') <> 'off',
        to_regnamespace($1::text) IS NOT NULL
          OR has_database_privilege(current_database(), 'CREATE'),
        current_user::text, current_database()::text
      """)

  /// Checks the version, the settings and the rights.
  static func check(
    _ connection: PostgresConnection, schema: String, requiresSync: Bool
  ) throws(PostgresError) {
    guard connection.serverVersion >= Self.oldestVersion else {
      throw PostgresError(
        "the server has version \(connection.serverVersion / 10_000); version 13 or later is required"
      )
    }
    let server = try connection.run(selectServer(.text(Schema.quoted(schema))))[0]
    if requiresSync, !server.bool(0, 0) || !server.bool(0, 1) {
      let setting = server.bool(0, 0) ? "synchronous_commit" : "fsync"
      throw PostgresError(
        "\(setting) is off on the server, so that acknowledged entries would not survive a power "
          + "loss; turn it on, or set log.durability: os to accept that")
    }
    if !server.bool(0, 2) {
      throw PostgresError(
        "the schema \(schema) does not exist, and \(server.text(0, 3)) may not create it; as an "
          + "administrator: GRANT CREATE ON DATABASE \(Schema.quoted(server.text(0, 4))) "
          + "TO \(Schema.quoted(server.text(0, 3)))")
    }
  }

  /// Connects, creates or migrates the tables, and registers a node.
  init(
    _ connector: Connector, name: String, requiresSync: Bool
  ) throws(PostgresError) {
    var random = SystemRandomNumberGenerator()
    connection = try connector.connect("write")
    try Self.check(connection, schema: connector.schema, requiresSync: requiresSync)
    try Schema.migrate(
      connection, schema: connector.schema,
      identityKey: EntryIdentity.Key.random(using: &random).bytes,
      epoch: Lineage.randomName(using: &random))
    turnKey = try connector.turnKey(on: connection)
    (state, identityKey, lastRoom) = try Self.register(connection, turnKey: turnKey, name: name)
  }

  /// Registers a node in the place where the log ends.
  /// - Parameter former: a node that ends with this.
  static func register(
    _ connection: PostgresConnection, turnKey: Int64, name: String, former: Int64? = nil
  ) throws(PostgresError) -> (state: NodeState, identityKey: EntryIdentity.Key, lastRoom: Int64) {
    let rows = try connection.run(
      Statements.begin(), Statements.takeTurn(.int(turnKey)), Statements.selectSettings())[2]
    guard !rows.isEmpty, let key = EntryIdentity.Key(bytes: rows.byteString(0, 0)) else {
      throw PostgresError("the store is damaged: it has no settings")
    }
    let lineage = try Epochs.current(on: connection)
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
