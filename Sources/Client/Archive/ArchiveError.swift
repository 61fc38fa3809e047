internal import CSQLite
internal import SQLite

/// What an archive cannot do: what happened, to which file, and what to do. The messenger goes on
/// without it.
public struct ArchiveError: Error, Equatable, Sendable, CustomStringConvertible {
  public enum Kind: Sendable {
    /// The file is damaged.
    case damaged
    /// A newer wschat wrote it, or it is not one of wschat's.
    case foreign
    /// The surroundings: permissions, space, another process.
    case environment
  }
  public var kind: Kind
  public var description: String

  init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }

  /// What SQLite's refusal means for whoever chats.
  init(_ error: SQLiteError, path: String) {
    switch error.code {
    case _ where error.isCorruption:
      self.init(.damaged, "The history \(path) is damaged: \(error.message).")
    case SQLITE_FULL:
      self.init(
        .environment,
        "The history \(path) cannot be written: \(error.message). Make space on the disk; until "
          + "then nothing more is kept.")
    case SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM:
      self.init(
        .environment,
        "The history \(path) cannot be opened for writing: \(error.message). Give yourself write "
          + "permission to the file and its folder; until then nothing is kept.")
    case SQLITE_BUSY, SQLITE_LOCKED:
      self.init(
        .environment,
        "The history \(path) is held by another program. Close that program.")
    default:
      self.init(
        .environment,
        "The history \(path) cannot be used: \(error). Look at the disk's space and health.")
    }
  }
}
