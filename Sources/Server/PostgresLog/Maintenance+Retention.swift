internal import Postgres
public import Relay

extension Maintenance {
  private static let selectTotals = PostgresStatement(
    once: """
      SELECT name, rooms.number, count(*), sum(length(body))::bigint
      FROM entries JOIN rooms ON rooms.number = room AND seq >= first GROUP BY rooms.number, name
      """)
  private static let declareRetained = PostgresStatement(
    once: """
      DECLARE retained_entries NO SCROLL CURSOR WITH HOLD FOR
      SELECT room, seq, at, length(body)
      FROM entries JOIN rooms ON rooms.number = room AND seq >= first ORDER BY room, seq
      """)

  /// Returns what retention would remove. Reads all entries; relays may run.
  /// - Parameter now: milliseconds since 1970.
  public static func retentionPlan(
    url: String, options: PostgresLog.Options, _ retention: Retention, now: Int64
  ) throws -> RetentionPlan {
    var plan = RetentionPlan(retention, now: now)
    let connection = try attempt("plan retention") { () throws(PostgresError) in
      let connection = try connect(
        Connector(url: url, schema: options.schema, onlyReads: true), "retention")
      let totals = try connection.run(
        Statements.beginSnapshot(), selectTotals(), declareRetained(), Statements.commit())[1]
      for row in 0..<totals.count {
        plan.add(
          room: totals.text(row, 0), number: totals.int(row, 1), entries: Int(totals.int(row, 2)),
          bytes: totals.int(row, 3))
      }
      return connection
    }
    try forEachRow(of: "retained_entries", on: connection) { rows, row in
      plan.take(
        RetainedEntry(seq: rows.int(row, 1), at: rows.int(row, 2), bytes: rows.int(row, 3)),
        ofRoom: rows.int(row, 0))
    }
    return plan
  }
}
