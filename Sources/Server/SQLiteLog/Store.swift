/// What can be done with a store while no relay runs on it: prove it, write it out, fill it.
///
/// `verify` and `export` also work while a relay runs: they read one state of the store, and hold
/// up nobody; the write-ahead log grows until they are done. `import` needs the store for itself.
public enum Store {
  /// Whether a relay, or an import, has the store in a directory open.
  public static func isInUse(directory path: String) -> Bool { DataDirectory(path).isLocked }
}

/// How much a store holds, or an import has brought.
public struct StoreCount: Equatable, Sendable {
  public var rooms = 0
  public var entries = 0

  public init(rooms: Int = 0, entries: Int = 0) {
    self.rooms = rooms
    self.entries = entries
  }
}
