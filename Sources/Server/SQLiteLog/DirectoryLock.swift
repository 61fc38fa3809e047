internal import Glibc
internal import Relay

/// Holds `flock(2)` on a data directory's lock file. The file is never removed: that would let two
/// processes lock two files of the same name.
struct DirectoryLock: ~Copyable, Sendable {
  let descriptor: Int32

  /// The lock of a directory in a file system that is private to this process.
  static var none: DirectoryLock { DirectoryLock(descriptor: -1) }

  /// Unlocks explicitly: a child that is being spawned may briefly hold a copy of the descriptor,
  /// and unlocking releases the lock of all copies.
  deinit {
    guard descriptor >= 0 else { return }
    _ = flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}
