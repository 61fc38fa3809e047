internal import Glibc
internal import Relay

/// Holds `flock(2)` on a data directory's lock file. The file stays: removing it would let two
/// processes lock two files of the same name.
struct DirectoryLock: ~Copyable, Sendable {
  let descriptor: Int32

  /// Of a directory that is in a file system of this process alone.
  static var none: DirectoryLock { DirectoryLock(descriptor: -1) }

  /// A child that is just being spawned may hold a copy of the descriptor for a moment: unlocking
  /// lets go for all copies.
  deinit {
    guard descriptor >= 0 else { return }
    _ = flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}
