internal import SQLite

/// Operations on a store while no relay runs on it: verify, export and import.
///
/// `verify` and `export` also work while a relay runs, and block nothing. `export` reads page by page;
/// `verify` reads one snapshot, and the write-ahead log grows until it is done. `import` needs
/// exclusive use of the store.
public enum Store {
  /// Whether a relay or an import has the store in a folder open.
  public static func isInUse(folder path: String) -> Bool { DataFolder(path).isLocked }

  /// Throws if this relay could not open the store in a folder: a newer relay wrote it, or another program. A
  /// relay may use it.
  public static func check(folder path: String) throws(StoreError) {
    let folder = DataFolder(path)
    try folder.checkJournal()
    guard folder.hasDatabase else { return }
    do {
      try Schema.check(
        Database(path: folder.databasePath, mode: .readOnly), path: folder.databasePath)
    } catch let error as SQLiteError {
      throw StoreError(error, "open", path: folder.databasePath)
    } catch let error as StoreError {
      throw error
    } catch {
      preconditionFailure("no other error is thrown above: \(error)")
    }
  }

  /// Throws if a folder has files of a store, but not its entries.
  public static func checkJournal(folder path: String) throws(StoreError) {
    try DataFolder(path).checkJournal()
  }

  /// Creates a data folder, or closes an existing one to other users.
  /// - Parameter report: receives what was changed, as a sentence.
  public static func prepare(folder path: String, report: (String) -> Void) throws(StoreError) {
    try DataFolder(path).create(report)
  }
}
