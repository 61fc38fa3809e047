/// Operations on a store while no relay runs on it: verify, export and import.
///
/// `verify` and `export` also work while a relay runs, and block nothing. `export` reads page by page;
/// `verify` reads one snapshot, and the write-ahead log grows until it is done. `import` needs
/// exclusive use of the store.
public enum Store {
  /// Whether a relay or an import has the store in a folder open.
  public static func isInUse(folder path: String) -> Bool { DataFolder(path).isLocked }

  /// Creates a data folder, or closes an existing one to other users.
  /// - Parameter report: receives what was changed, as a sentence.
  public static func prepare(folder path: String, report: (String) -> Void) throws(StoreError) {
    try DataFolder(path).create(report)
  }
}
