internal import Postgres
internal import Relay

/// The epochs of the log. A new one begins whenever the database may have lost its last commits: after
/// a promotion, a recovery to an earlier time, or a restored dump. A client that has seen lost entries
/// is told so then; for one that has not, nothing changes. Whichever node connects first begins it,
/// before any node commits.
enum Epochs {
  /// The identifier of the cluster, its current timeline, and the schema, which is another one after
  /// it was restored from a dump.
  private static let server = """
    (SELECT system_identifier FROM pg_control_system()) AS system,
    ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::bigint AS timeline,
    (SELECT oid::bigint FROM pg_namespace WHERE nspname = current_schema()) AS store
    """

  /// Columns: number, name, whether it began on this server and timeline.
  static let select = PostgresStatement(
    once: """
      SELECT number, name, epochs.system = server.system AND epochs.timeline = server.timeline
        AND epochs.store = server.store
      FROM epochs, (SELECT \(server)) AS server ORDER BY number
      """)

  static let insert = PostgresStatement(
    once: """
      INSERT INTO epochs (number, name, position, started_at, system, timeline, store)
      SELECT (SELECT coalesce(max(number), 0) + 1 FROM epochs), $1::text,
        (SELECT coalesce(max(position), 0) FROM feed),
        (extract(epoch FROM clock_timestamp()) * 1000)::bigint, system, timeline, store
      FROM (SELECT \(server)) AS server
      """)

  /// Returns the lineage. Begins an epoch if the server is another one than that of the last.
  /// To be called with the commit lock held.
  /// - Parameter lost: the number of the epoch in which batches were lost for certain; it cannot be
  ///   the current one then.
  static func current(
    on connection: PostgresConnection, lost: Int64? = nil
  ) throws(PostgresError) -> Lineage {
    var rows = try connection.run(select())[0]
    let last = rows.count - 1
    if last < 0 || !rows.bool(last, 2) || lost == rows.int(last, 0) {
      var random = SystemRandomNumberGenerator()
      rows =
        try connection.run(insert(.text(Lineage.randomName(using: &random))), select())[1]
    }
    return Lineage(
      (0..<rows.count).map { Lineage.Epoch(number: rows.int($0, 0), name: rows.text($0, 1)) })
  }
}
