internal import CSQLite
internal import SQLite

/// A checkpoint whose sync failed. This process cannot recover: the kernel treats pages as written
/// that may not be on the medium, and SQLite relies on that. The next process can, since everything
/// is still in the write-ahead log (see `Database.writeLogAgain`). So the owner of the store exits
/// at once, without closing it.
public struct UnsyncedCheckpoint: Error, Equatable, Sendable, CustomStringConvertible {
  public var description: String

  init(path: String, _ reason: String) {
    description =
      "\(path) could not be synced: \(reason). The relay exits, because it is unknown which of the "
      + "data is on the disk. No acknowledged entry is lost; the next start writes the data again. "
      + "Check the disk's health."
  }
}

/// A store that cannot be opened, read or imported into: what happened, to which file, and what to
/// do.
public struct StoreError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Selects the exit code of the command line.
  public enum Kind: Sendable {
    /// What the operator has to change: a folder that cannot be used, a store of a newer version,
    /// wrong input.
    case configuration
    /// What may be better at the next attempt: space, the disk, another process.
    case environment
    /// The data.
    case broken
  }
  public var kind: Kind
  /// Whether there was no space.
  public var isFull = false
  public var description: String

  public init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }

  /// A folder without a store.
  public static func absent(in folder: String) -> StoreError {
    StoreError(
      .configuration,
      "There is no store in \(folder): \(folder)/\(DataFolder.databaseName) is missing or cannot be read. Use the "
        + "folder that the relay was started with.")
  }

  /// Explains an error of SQLite to the operator.
  init(_ error: SQLiteError, _ action: String, path: String) {
    defer { isFull = error.isFull }
    switch error.code {
    case SQLITE_CORRUPT:
      self.init(
        .broken,
        "The database file \(path) is damaged: \(error.message). "
          + "Restore the data folder from a backup, or move the files of the folder away to start with an empty store."
      )
    case SQLITE_NOTADB:
      self.init(
        .broken,
        "The file \(path) is not a database, or its beginning is damaged. Restore the data "
          + "folder from a backup, or move the files of the folder away to start with an empty store."
      )
    case SQLITE_FULL, SQLITE_IOERR:
      self.init(
        .environment,
        "Could not \(action) \(path): \(error.message). Check the disk's space and health.")
    case SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PERM:
      self.init(
        .configuration,
        "Could not \(action) \(path): \(error.message). Give the user that runs the relay read "
          + "and write permission to the folder and the files in it. If the file system is read-only, copy the folder "
          + "to another one.")
    case SQLITE_BUSY, SQLITE_LOCKED:
      self.init(
        .environment,
        "Could not \(action) \(path): another program has it locked. Close that program.")
    default:
      self.init(.environment, "Could not \(action) \(path): \(error).")
    }
  }
}
