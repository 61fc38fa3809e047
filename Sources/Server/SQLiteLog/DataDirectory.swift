internal import Glibc
internal import Relay

/// The directory of a store.
struct DataDirectory: Sendable {
  let path: String

  init(_ path: String) {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    self.path = path
  }

  /// The journal, the only source of truth.
  var databasePath: String { "\(path)/relay.db" }
  /// The index, derived from the journal.
  var indexPath: String { "\(path)/index.db" }
  private var lockPath: String { "\(path)/lock" }

  /// The existing files of the store, by their names in the directory.
  var files: [LogStatistics.File] {
    [databasePath, "\(databasePath)-wal", indexPath, "\(indexPath)-wal"].compactMap { file in
      var status = stat()
      guard unsafe stat(file, &status) == 0 else { return nil }
      return LogStatistics.File(
        name: String(file.dropFirst(path.count + 1)), bytes: Int(status.st_size))
    }
  }

  var hasDatabase: Bool { unsafe access(databasePath, F_OK) == 0 }
  var hasIndex: Bool { unsafe access(indexPath, F_OK) == 0 }

  /// Creates the directory, accessible to its owner only, and its missing parents.
  func create() throws(StoreError) {
    var end = path.utf8.startIndex
    while end < path.utf8.endIndex {
      let next = path.utf8.index(after: end)
      end = path.utf8[next...].firstIndex(of: UInt8(ascii: "/")) ?? path.utf8.endIndex
      let part = String(path[..<end])
      guard unsafe mkdir(part, 0o700) != 0 else { continue }
      let reason = errno
      // An existing directory may well be inside one that is not writable.
      if unsafe access(part, F_OK) != 0 {
        throw StoreError(
          .environment,
          "The data directory \(path) cannot be created: \(Self.meaning(of: reason)). Create it "
            + "for the user that runs the relay, or use another one.")
      }
    }
    var status = stat()
    guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      throw StoreError(
        .environment,
        "The data directory \(path) is not a directory. Use another one, or move that file away.")
    }
  }

  /// Locks the directory for this process, until the lock is released or the process ends in any
  /// way.
  func lock() throws(StoreError) -> DirectoryLock {
    let descriptor = unsafe open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw StoreError(
        .environment,
        "The data directory \(path) cannot be written: \(Self.meaning(of: errno)). Give the user "
          + "that runs the relay write permission, or use another directory.")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let reason = errno
      close(descriptor)
      throw reason == EWOULDBLOCK
        ? StoreError(
          .environment,
          "The data directory \(path) is in use by another process. Stop that relay, or use "
            + "another data directory.")
        : StoreError(
          .environment,
          "The file \(lockPath) cannot be locked: \(Self.meaning(of: reason)). The data directory "
            + "must be on a file system that supports locks.")
    }
    return DirectoryLock(descriptor: descriptor)
  }

  /// Whether another process holds the lock.
  var isLocked: Bool {
    let descriptor = unsafe open(lockPath, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return flock(descriptor, LOCK_SH | LOCK_NB) != 0
  }

  static func meaning(of code: Int32) -> String { unsafe String(cString: strerror(code)) }
}
