internal import CSQLite
internal import SQLite

/// An error of an archive: what happened, to which file, and what to do. The messenger continues
/// without the archive.
public struct ArchiveError: Error, Equatable, Sendable, CustomStringConvertible {
  public enum Kind: Sendable {
    /// The file is damaged.
    case damaged
    /// A newer wschat wrote the file, or it does not belong to wschat.
    case foreign
    /// Caused by the environment: permissions, disk space, another process.
    case environment
  }
  public var kind: Kind
  public var description: String

  init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }

  /// Translates SQLite's error for the user.
  init(_ error: SQLiteError, path: String) {
    switch error.code {
    case _ where error.isCorruption:
      self.init(.damaged, "The history \(path) is damaged: \(error.message).")
    case SQLITE_FULL:
      self.init(
        .environment,
        "The history \(path) cannot be written: \(error.message). Free space on the disk; until "
          + "then nothing more is saved.")
    case SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM:
      self.init(
        .environment,
        "The history \(path) cannot be opened for writing: \(error.message). Give yourself write "
          + "permission to the file and its folder; until then nothing is saved.")
    case SQLITE_BUSY, SQLITE_LOCKED:
      self.init(
        .environment,
        "The history \(path) is locked by another program. Close that program.")
    default:
      self.init(
        .environment,
        "The history \(path) cannot be used: \(error). Check the disk's space and health.")
    }
  }
}
