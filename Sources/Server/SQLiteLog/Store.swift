/// Operations on a store while no relay runs on it: verify, export and import.
///
/// `verify` and `export` also work while a relay runs: they read one snapshot and block nothing,
/// but the write-ahead log grows until they are done. `import` needs exclusive use of the store.
public enum Store {
  /// Whether a relay or an import has the store in a directory open.
  public static func isInUse(directory path: String) -> Bool { DataDirectory(path).isLocked }
}
