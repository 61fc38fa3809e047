internal import Glibc

/// Where an account's file is, and what lies beside it.
struct Location: Sendable {
  let path: String

  var logPath: String { "\(path)-wal" }
  var sharedMemoryPath: String { "\(path)-shm" }
  var lockPath: String { "\(path).lock" }
  /// What a damaged file is called from then on; its log takes the same name with `-wal`.
  var damagedPath: String { "\(path).damaged" }
  /// A new file with what was read from a damaged one: being made, and complete.
  var partialPath: String { "\(path).partial" }
  var rescuedPath: String { "\(path).rescued" }

  private var folder: String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.utf8.startIndex ? "/" : String(path[..<slash])
  }

  /// Makes the folder, and those above it that are missing, for their owner alone.
  func createFolder() throws(ArchiveError) {
    let folder = folder
    var end = folder.utf8.startIndex
    while end < folder.utf8.endIndex {
      let next = folder.utf8.index(after: end)
      end = folder.utf8[next...].firstIndex(of: UInt8(ascii: "/")) ?? folder.utf8.endIndex
      let part = String(folder[..<end])
      guard unsafe mkdir(part, 0o700) != 0 else { continue }
      let reason = errno
      if unsafe access(part, F_OK) != 0 { throw Self.refusal("The folder \(part)", reason) }
    }
  }

  /// Makes an empty file where there is none, for its owner alone: SQLite gives those beside it the same
  /// permissions.
  ///
  /// Never opens a file that exists: SQLite's locks on it would be gone with the descriptor.
  func createFile() throws(ArchiveError) {
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor >= 0 {
      close(descriptor)
    } else if errno == EEXIST {
      _ = unsafe chmod(path, 0o600)
    } else {
      throw Self.refusal("The history \(path)", errno)
    }
  }

  func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  func rename(_ from: String, to: String) throws(ArchiveError) {
    guard unsafe Glibc.rename(from, to) == 0 || errno == ENOENT else {
      throw Self.refusal("The file \(to)", errno)
    }
  }

  func remove(_ path: String) { _ = unsafe unlink(path) }

  /// Makes it last which files there are.
  func syncFolder() {
    let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }

  fileprivate static func refusal(_ what: String, _ reason: Int32) -> ArchiveError {
    ArchiveError(
      .environment,
      "\(what) cannot be made: \(unsafe String(cString: strerror(reason))). Give yourself write "
        + "permission to the folder above it, or name another with XDG_STATE_HOME; until then "
        + "nothing is kept.")
  }
}

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
