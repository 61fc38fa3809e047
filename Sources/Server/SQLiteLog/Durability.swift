internal import CSQLite

/// Which failures an acknowledged entry survives.
public enum Durability: Sendable {
  /// Power loss: every commit is synced.
  case fsync
  /// The death of the process, but not of the operating system: commits are not synced.
  case os

  /// With NORMAL, SQLite syncs only before and after a checkpoint, so that a power loss costs
  /// entries but does not damage the file.
  var pragma: String {
    switch self {
    case .fsync: "FULL"
    case .os: "NORMAL"
    }
  }
}
