internal import CSQLite

/// What an acknowledged entry survives.
public enum Durability: Sendable {
  /// A loss of power: every commit is synced.
  case fsync
  /// The death of the process, but not of the system: nothing is synced on commit.
  case os

  /// With NORMAL, SQLite syncs before and after a checkpoint only, so that a loss of power costs
  /// entries, but not the file.
  var pragma: String {
    switch self {
    case .fsync: "FULL"
    case .os: "NORMAL"
    }
  }
}
