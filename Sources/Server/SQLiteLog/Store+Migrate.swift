internal import SQLite

extension Store {
  /// Creates a store, or brings its schema up to date. No relay may use it.
  /// - Parameter report: receives messages for the operator.
  /// - Returns: the version of the schema before and now; 0 if there was none.
  public static func migrate(
    directory path: String, report: (String) -> Void = { _ in }
  ) throws(StoreError) -> (from: Int, to: Int) {
    let directory = DataDirectory(path)
    try directory.create(report)
    let lock = try directory.lock()
    defer { withExtendedLifetime(lock) {} }
    var version: Int64 = 0
    do throws(SQLiteError) {
      if directory.hasDatabase {
        version = try Database(path: directory.databasePath, mode: .readOnly)
          .integer("PRAGMA user_version")
      }
    } catch {
      throw StoreError(error, "open", path: directory.databasePath)
    }
    _ = try Schema.openForWriting(directory, durability: .fsync)
    return (Int(version), Schema.steps.count)
  }
}
