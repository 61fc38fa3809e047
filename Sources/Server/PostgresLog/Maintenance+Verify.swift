internal import Postgres
public import Relay

extension Maintenance {
  /// Checks the whole store, in one snapshot; relays may run. That each room has no gap from the oldest
  /// kept entry to its head; that each id occurs once per room and sender; that clocks never go back;
  /// that changes are about earlier entries, and counted; that marks are within their rooms; that
  /// what is known of files matches the entries that name them.
  /// - Throws: if the store cannot be read. Inconsistencies are in the result.
  public static func verify(
    url: String, options: PostgresLog.Options = .init()
  ) throws(StoreFailure) -> StoreVerification {
    try attempt("verify") { () throws(PostgresError) in
      let connector = Connector(url: url, schema: options.schema, onlyReads: true)
      let connection = try connect(connector, "verify")
      let rows = try connection.run(
        [Statements.beginSnapshot(), count()] + statements.map { $0() })
      var verification = StoreVerification()
      try FileSchema.verifyDescriptions(on: connection, &verification)
      try connection.run(Statements.rollback())
      verification.count = StoreCount(
        rooms: Int(rows[1].int(0, 0)), entries: Int(rows[1].int(0, 1)))
      for found in rows[2..<2 + statements.count] {
        for row in 0..<found.count {
          verification.add(
            found.text(row, 2), room: found.isNull(row, 0) ? nil : found.text(row, 0),
            seq: found.isNull(row, 1) ? nil : found.int(row, 1))
        }
      }
      if rows[1].text(0, 2) == "off" {
        verification.notes.append(
          "PostgreSQL has no data checksums: what changes on its disk is not found. Stop it and run "
            + "pg_checksums --enable.")
      }
      return verification
    }
  }

  private static let count = PostgresStatement(
    once: """
      SELECT count(DISTINCT room), count(*), current_setting('data_checksums')
      FROM entries JOIN rooms ON rooms.number = room AND seq >= first
      """)

  /// Each returns a room or NULL, a seq or NULL, and what is wrong.
  private static let checks = [
    """
    SELECT name, first, format('%s entries from %s to %s, expected %s from %s',
      count(seq), min(seq), max(seq), max(seq) - first + 1, first)
    FROM rooms JOIN entries ON room = rooms.number AND seq >= first
    GROUP BY rooms.number HAVING count(seq) <> max(seq) - first + 1 OR min(seq) <> first
    """,
    """
    SELECT room::text, min(seq), format('%s entries of a room that does not exist', count(*))
    FROM entries WHERE NOT EXISTS (SELECT FROM rooms WHERE rooms.number = room) GROUP BY room
    """,
    """
    SELECT name, max(seq), format('%s has the id "%s" of %s as well', min(seq), id, sender)
    FROM entries JOIN rooms ON rooms.number = room AND seq >= first
    GROUP BY rooms.number, sender, id HAVING count(*) > 1
    """,
    """
    SELECT name, seq, CASE WHEN at < before THEN 'the clock goes back'
      ELSE 'it is not counted as a change, or counted twice' END
    FROM (
      SELECT room, seq, at, entries.number, target, lag(at) OVER entry AS before,
        count(target) OVER entry + rooms.changes AS counted
      FROM entries JOIN rooms ON rooms.number = room AND seq >= first
      WINDOW entry AS (PARTITION BY room ORDER BY seq)) AS entries
    JOIN rooms ON rooms.number = room
    WHERE at < before OR (target IS NULL) <> (entries.number IS NULL)
      OR target IS NOT NULL AND entries.number <> counted
    """,
    """
    SELECT name, seq, format('it changes entry %s', target)
    FROM entries JOIN rooms ON rooms.number = room
    WHERE target >= seq OR target < CASE WHEN kind IN ('settings', 'member') THEN 0 ELSE 1 END
    """,
    """
    SELECT name, NULL::bigint, 'the numbers of owners, members and banned users do not match their list'
    FROM rules JOIN rooms ON rooms.number = rules.room
    WHERE (owners, members, barred) <> (
      SELECT count(*) FILTER (WHERE role = 'owner'), count(*) FILTER (WHERE role <> 'none'),
        count(*) FILTER (WHERE role = 'none' AND (ban >= 0 OR mute >= 0))
      FROM standings WHERE standings.room = rules.room)
    """,
    """
    SELECT name, NULL::bigint, format('%s was let in by entry %s, after the last one', username, since)
    FROM standings JOIN rooms ON rooms.number = standings.room
    WHERE since > (SELECT coalesce(max(seq), 0) FROM entries WHERE entries.room = standings.room)
    """,
    """
    SELECT name, NULL::bigint, format('the marks of %s are beyond the last entry', username)
    FROM members JOIN rooms ON rooms.number = room
    WHERE greatest(read, received, since) > (SELECT coalesce(max(seq), 0) FROM entries
      WHERE entries.room = members.room)
    """,
  ]

  private static let statements = (checks + FileSchema.checks).map {
    PostgresStatement(once: "SELECT * FROM (\($0)) AS found LIMIT \(StoreVerification.breakLimit)")
  }
}
