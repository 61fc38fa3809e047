internal import Glibc
internal import Platform
internal import Relay

/// The folder of a store.
struct DataFolder: Sendable {
  let path: String

  init(_ path: String) {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    self.path = path
  }

  /// The journal, the only source of truth.
  var databasePath: String { "\(path)/\(Self.databaseName)" }
  static let databaseName = "relay.db"
  /// The index, derived from the journal.
  var indexPath: String { "\(path)/index.db" }
  /// See `DiskReserve`.
  var reservePath: String { "\(path)/reserve" }
  private var lockPath: String { "\(path)/lock" }

  /// The existing files of the store, by their names in the folder.
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

  /// What is in a folder only after `relay.db` has content, and what a restore that was interrupted has left.
  private static let laterNames = ["index.db", "\(databaseName)-wal", "restoring"]

  /// Throws if the journal is missing or empty beside other files of its store: a new store would hide that the
  /// messages are lost. A first start that is interrupted leaves none of these files.
  func checkJournal() throws(StoreError) {
    var status = stat()
    let isMissing = unsafe stat(databasePath, &status) != 0
    guard isMissing ? errno == ENOENT : status.st_size == 0 else { return }
    let others = Self.laterNames.filter { unsafe access("\(path)/\($0)", F_OK) == 0 }
      .joined(separator: ", ")
    if others.isEmpty { return }
    throw StoreError(
      .broken,
      "The store in \(path) is incomplete: \(Self.databaseName), which has the messages, is "
        + "\(isMissing ? "missing" : "empty"), but the folder has \(others). Check that the disk of \(Self.databaseName) is "
        + "mounted, or restore a backup into an empty folder. To begin with an empty store instead, move \(others) away."
    )
  }

  /// Files that show that a folder is a relay's.
  private static let ownNames = ["lock", "relay.db", "directory.json", "operator.sock"]

  /// Creates the folder, accessible to its owner only, and its missing parents. Takes the
  /// permissions of other users from an existing one, since the files in it contain all messages.
  /// - Parameter report: receives what was changed, as a sentence.
  func create(_ report: (String) -> Void) throws(StoreError) {
    do throws(SystemError) {
      try PrivateFiles.createFolder(path)
    } catch {
      throw StoreError(
        error.code == ENOSPC || error.code == EIO ? .environment : .configuration,
        "The data folder \(path) cannot be created: \(error.reason). Create it "
          + "for the user that runs the relay, or use another one.")
    }
    var status = stat()
    guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      throw StoreError(
        .configuration,
        "The data folder \(path) is not a folder. Use another one, or move that file away.")
    }
    guard PrivateFiles.isOpenToOthers(path) else { return }
    // A folder of something else, such as /tmp or a home, may have to stay as it is.
    let names = (PrivateFiles.names(in: path) ?? []).filter { $0 != "lost+found" }
    guard names.isEmpty || names.contains(where: Self.ownNames.contains) else {
      throw StoreError(
        .configuration,
        "The data folder \(path) can be accessed by other users and contains files that are not a "
          + "relay's. Use a folder for the relay alone, such as \(path)/relay, or run chmod 700 "
          + "\(path).")
    }
    do throws(SystemError) {
      guard let mode = try PrivateFiles.takeFromOthers(path) else { return }
      report(
        "Other users could access the data folder \(path) (mode \(String(mode, radix: 8))), which "
          + "contains all messages; its mode is now 700.")
    } catch {
      throw StoreError(
        .configuration,
        "The data folder \(path) can be accessed by other users, and the relay cannot change that: "
          + "\(error.reason). Run chmod 700 \(path), or use a folder in it, such as \(path)/relay."
      )
    }
  }

  /// Locks the folder for this process, until the lock is released or the process ends in any
  /// way.
  func lock() throws(StoreError) -> FolderLock {
    let descriptor = unsafe open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      let reason = errno
      throw StoreError(
        reason == EACCES ? .configuration : .environment,
        "The data folder \(path) cannot be written: \(Self.meaning(of: reason)). Give the user "
          + "that runs the relay write permission, or use another folder.")
    }
    fchmod(descriptor, 0o600)
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let reason = errno
      close(descriptor)
      throw reason == EWOULDBLOCK
        ? StoreError(
          .environment,
          "The data folder \(path) is in use by another process. Stop that relay, or use "
            + "another data folder.")
        : StoreError(
          .environment,
          "The file \(lockPath) cannot be locked: \(Self.meaning(of: reason)). The data folder "
            + "must be on a file system that supports locks.")
    }
    return FolderLock(descriptor: descriptor)
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
