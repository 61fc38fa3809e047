internal import Glibc

/// `flock(2)` on a file beside the database: shared for as long as a process has that open, and
/// exclusive while the files themselves are made or moved. SQLite does not bear a database that is
/// moved while another process has it open: that one's end would delete the new one's log.
struct LocationLock: ~Copyable {
  private let descriptor: Int32
  /// Whether nobody else has the database open.
  private(set) var isExclusive: Bool

  /// How long another process may take to open the file.
  private static let patienceMilliseconds = 2000

  /// Takes it exclusively if nobody has the database open, and shared otherwise.
  init(_ location: Location) throws(ArchiveError) {
    descriptor = unsafe open(location.lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    isExclusive = false
    guard descriptor >= 0 else {
      throw Location.refusal("The file \(location.lockPath)", errno)
    }
    isExclusive = flock(descriptor, LOCK_EX | LOCK_NB) == 0
    if !isExclusive { try share(location) }
  }

  /// Lets others open the database as well.
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
      "The history \(location.path) is being opened by another wschat, which does not come to an "
        + "end. Close that one.")
  }

  /// - Returns: whether nobody else has the database open, and nobody can open it now.
  mutating func takeExclusively() -> Bool {
    isExclusive = flock(descriptor, LOCK_EX | LOCK_NB) == 0
    // The system lets go of the shared one before it tries.
    if !isExclusive { _ = flock(descriptor, LOCK_SH) }
    return isExclusive
  }

  /// A child that is just being spawned may hold a copy of the descriptor for a moment: unlocking
  /// lets go for all copies.
  deinit {
    guard descriptor >= 0 else { return }
    _ = flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}
