public import Relay
internal import SQLite

extension Store {
  /// Returns what retention would remove. Reads the whole journal; works while a relay runs.
  /// - Parameter now: milliseconds since 1970.
  public static func retentionPlan(
    folder path: String, _ retention: Retention, now: Int64
  ) throws(StoreError) -> RetentionPlan {
    let folder = DataFolder(path)
    let database = try Schema.openForReading(folder)
    do throws(SQLiteError) {
      var plan = RetentionPlan(retention, now: now)
      // Both statements read one snapshot.
      try database.execute("BEGIN")
      defer { database.rollback() }
      var selectRooms = try Statement(
        """
        SELECT name, number, count(*), sum(size)
        FROM entries JOIN rooms ON rooms.number = room AND seq >= first GROUP BY number
        """, on: database)
      while try selectRooms.step() {
        plan.add(
          room: selectRooms.text(0), number: selectRooms.integer(1),
          entries: Int(selectRooms.integer(2)), bytes: selectRooms.integer(3))
      }
      var selectEntries = try Statement(
        """
        SELECT room, seq, at, size FROM entries JOIN rooms ON rooms.number = room AND seq >= first
        ORDER BY position
        """, on: database)
      while try selectEntries.step() {
        plan.take(
          RetainedEntry(
            seq: selectEntries.integer(1), at: selectEntries.integer(2),
            bytes: selectEntries.integer(3)), ofRoom: selectEntries.integer(0))
      }
      return plan
    } catch {
      throw StoreError(error, "read", path: folder.databasePath)
    }
  }
}
