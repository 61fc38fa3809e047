internal import Glibc
internal import Relay

/// Holds `flock(2)` on a data folder's lock file. The file is never removed: that would let two
/// processes lock two files of the same name.
struct FolderLock: ~Copyable, Sendable {
  let descriptor: Int32

  /// The lock of a folder in a file system that is private to this process.
  static var none: FolderLock { FolderLock(descriptor: -1) }

  /// Unlocks explicitly: a child that is being spawned may briefly hold a copy of the descriptor,
  /// and unlocking releases the lock of all copies.
  deinit {
    guard descriptor >= 0 else { return }
    _ = flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}
