internal import Glibc

/// A `flock(2)` lock on a file next to the database: shared while a process has the database open,
/// exclusive while the files are created or moved. SQLite does not support moving a database that
/// another process has open: when that process closes it, it would delete the new database's log.
struct LocationLock: ~Copyable {
  private let descriptor: Int32
  /// Whether no other process has the database open.
  private(set) var isExclusive: Bool

  /// How long another process may take to open the file.
  private static let patienceMilliseconds = 2000

  /// Takes the lock exclusively if no other process has the database open, and shared otherwise.
  init(_ location: Location) throws(ArchiveError) {
    descriptor = unsafe open(location.lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    isExclusive = false
    guard descriptor >= 0 else {
      throw Location.refusal("The file \(location.lockPath)", errno)
    }
    isExclusive = flock(descriptor, LOCK_EX | LOCK_NB) == 0
    if !isExclusive { try share(location) }
  }

  /// Downgrades the lock, so that other processes can open the database.
  mutating func share(_ location: Location) throws(ArchiveError) {
    for _ in 0..<Self.patienceMilliseconds {
      if flock(descriptor, LOCK_SH | LOCK_NB) == 0 {
        isExclusive = false
        return
      }
      usleep(1000)
    }
    throw ArchiveError(
      .environment,
      "The history \(location.path) is being opened by another wschat, which does not finish. "
        + "Close that one.")
  }

  /// - Returns: Whether no other process has the database open or can open it now.
  mutating func takeExclusively() -> Bool {
    isExclusive = flock(descriptor, LOCK_EX | LOCK_NB) == 0
    // The kernel releases the shared lock before it tries to take the exclusive one.
    if !isExclusive { _ = flock(descriptor, LOCK_SH) }
    return isExclusive
  }

  /// Unlocks explicitly, which releases the lock for all copies of the descriptor: a child that is
  /// being spawned may hold one for a moment.
  deinit {
    guard descriptor >= 0 else { return }
    _ = flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}
