internal import Platform
internal import Postgres

/// The settings of the server on which the promises of the log rest: whether a commit that it confirms
/// survives a power loss, or the loss of the server.
///
/// They are checked on each new connection and every `checkSeconds`, since an operator may change them
/// while relays run. While one is wrong, nothing is committed. Used by one thread.
struct ServerSettings {
  /// How often they are checked on a connection that stays.
  static let checkSeconds: UInt64 = 10
  /// How often while one is wrong.
  private static let repeatSeconds: UInt64 = 1

  /// Whether a confirmed commit must survive a power loss of the server.
  private let requiresSync: Bool
  /// Whether a confirmed commit must be on a synchronous standby.
  private let requiresReplication: Bool

  private weak var checked: PostgresConnection?
  /// When the next check is due, in nanoseconds of the monotonic clock.
  private var checksAt: UInt64 = 0
  /// Why nothing may be committed.
  private(set) var failure: PostgresError?

  init(_ options: PostgresLog.Options) {
    requiresSync = options.requiresSync
    requiresReplication = options.requiresReplication
  }

  /// Checks the settings if that is due. Must be called outside of transactions.
  /// - Throws: if nothing may be committed, or if the connection is lost.
  mutating func check(_ connection: PostgresConnection) throws(PostgresError) {
    let now = Instant.now().nanoseconds
    if connection !== checked || now >= checksAt {
      failure = try violation(on: connection)
      checked = connection
      checksAt = now + (failure == nil ? Self.checkSeconds : Self.repeatSeconds) * 1_000_000_000
    }
    if let failure { throw failure }
  }

  private static let select = PostgresStatement(
    "select_server_settings",
    """
    SELECT current_setting('fsync'), current_setting('full_page_writes'),
      current_setting('synchronous_commit'), current_setting('synchronous_standby_names'),
      (SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')),
      (SELECT count(*) FROM pg_stat_replication WHERE sync_state IS NULL)
    """)

  private func violation(
    on connection: PostgresConnection
  ) throws(PostgresError) -> PostgresError? {
    let rows = try connection.run(Self.select())[0]
    let commit = rows.text(0, 2)
    if requiresSync {
      for (column, name) in [(0, "fsync"), (1, "full_page_writes")]
      where rows.text(0, column) != "on" {
        return PostgresError(
          "\(name) is off on the server, so that acknowledged entries would not survive a power "
            + "loss; turn it on, or set log.durability: os to accept that")
      }
      if commit == "off" {
        return PostgresError(
          "synchronous_commit is off on the server or for this user, so that acknowledged entries "
            + "would not survive a power loss; turn it on, or set log.durability: os to accept that"
        )
      }
    }
    guard requiresReplication else { return nil }
    if rows.text(0, 3).isEmpty {
      return PostgresError(
        "synchronous_standby_names is empty on the server, while log.require is replicated; name "
          + "the standbys, or set log.require: local to accept that a failover loses entries")
    }
    if commit != "on" && commit != "remote_apply" {
      return PostgresError(
        "synchronous_commit is \(commit) on the server or for this user, while log.require is "
          + "replicated, which needs on or remote_apply; change it, or set log.require: local to "
          + "accept that a failover loses entries")
    }
    // A user without the role pg_monitor sees that there are standbys, but not which are synchronous.
    if rows.int(0, 4) + rows.int(0, 5) == 0 {
      return PostgresError(
        "no synchronous standby is connected to the server, while log.require is replicated; start "
          + "a standby of synchronous_standby_names, or set log.require: local to accept that a "
          + "failover loses entries", isTransient: true)
    }
    return nil
  }
}
