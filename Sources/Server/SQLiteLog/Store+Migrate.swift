internal import SQLite

extension Store {
  /// Creates a store, or brings its schema up to date. No relay may use it.
  /// - Parameter report: receives messages for the operator.
  /// - Returns: the version of the schema before and now; 0 if there was none.
  public static func migrate(
    folder path: String, report: (String) -> Void = { _ in }
  ) throws(StoreError) -> (from: Int, to: Int) {
    let folder = DataFolder(path)
    try folder.create(report)
    let lock = try folder.lock()
    defer { withExtendedLifetime(lock) {} }
    var version: Int64 = 0
    do throws(SQLiteError) {
      if folder.hasDatabase {
        version = try Database(path: folder.databasePath, mode: .readOnly)
          .integer("PRAGMA user_version")
      }
    } catch {
      throw StoreError(error, "open", path: folder.databasePath)
    }
    _ = try Schema.openForWriting(folder, durability: .fsync)
    return (Int(version), Schema.steps.count)
  }
}
