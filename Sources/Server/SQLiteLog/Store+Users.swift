internal import SQLite

extension Store {
  /// Whether a user has come online or belongs to a room. May be called beside a relay that has the
  /// store open.
  /// - Parameter byTakingPart: whether direct messages to the user do not count. Direct messages by the user
  ///   cannot be told from them, where the user was never online and has marked nothing.
  package static func knows(
    _ user: String, byTakingPart: Bool = false, folder path: String
  ) throws(StoreError) -> Bool {
    let folder = DataFolder(path)
    do throws(SQLiteError) {
      let database = try Database(path: folder.databasePath, mode: .readOnly)
      var select = try Statement(
        """
        SELECT EXISTS (SELECT 1 FROM users WHERE name = ?1)
          OR EXISTS (
            SELECT 1 FROM members JOIN rooms ON rooms.number = members.room
            WHERE user = ?1
              AND (?2 = 0 OR rooms.name NOT LIKE 'dm:%' OR read > 0 OR received > 0))
        """, on: database)
      try select.bind(1, user)
      try select.bind(2, byTakingPart ? 1 : 0)
      return try select.step() && select.integer(0) == 1
    } catch {
      throw StoreError(error, "read", path: folder.databasePath)
    }
  }
}
