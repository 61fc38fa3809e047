import Glibc

/// The beginning of a command line whose program has mounts of its own; takes root.
enum OwnMounts {
  static let command = ["unshare", "-m", "--propagation", propagation]

  /// A fresh machine has mounts of its own already, and its root is no mount that could be changed.
  private static let propagation =
    unsafe getenv("IN_FRESH_MACHINE") == nil ? "private" : "unchanged"
}
