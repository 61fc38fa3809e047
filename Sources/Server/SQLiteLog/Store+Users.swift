internal import SQLite

extension Store {
  /// Whether a user has come online or belongs to a room. May be called beside a relay that has the
  /// store open.
  package static func knows(_ user: String, folder path: String) throws(StoreError) -> Bool {
    let folder = DataFolder(path)
    do throws(SQLiteError) {
      let database = try Database(path: folder.databasePath, mode: .readOnly)
      var select = try Statement(
        """
        SELECT EXISTS (SELECT 1 FROM users WHERE name = ?1)
          OR EXISTS (SELECT 1 FROM members WHERE user = ?1)
        """, on: database)
      try select.bind(1, user)
      return try select.step() && select.integer(0) == 1
    } catch {
      throw StoreError(error, "read", path: folder.databasePath)
    }
  }
}
