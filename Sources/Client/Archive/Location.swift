internal import Glibc
internal import Platform

/// The path of an account's file and of the files next to it.
struct Location: Sendable {
  let path: String

  var logPath: String { "\(path)-wal" }
  var sharedMemoryPath: String { "\(path)-shm" }
  var lockPath: String { "\(path).lock" }
  /// See `InstanceLock`.
  var instancesPath: String { "\(path).instances" }
  /// The name that a damaged file is given; its log is given the same name with `-wal`.
  var damagedPath: String { "\(path).damaged" }
  /// A new file with the outbox of a damaged one, while it is being written and when it is
  /// complete.
  var partialPath: String { "\(path).partial" }
  var rescuedPath: String { "\(path).rescued" }

  private var folder: String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.utf8.startIndex ? "/" : String(path[..<slash])
  }

  /// Creates the folder and its missing parents, accessible to the owner only; an existing folder of
  /// this program is closed to others as well.
  func createFolder() throws(ArchiveError) {
    do throws(SystemError) {
      try PrivateFiles.createFolder(folder)
    } catch {
      throw Self.refusal("The folder \(folder)", error.code)
    }
    if folder.hasSuffix("/wschat") { _ = try? PrivateFiles.takeFromOthers(folder) }
  }

  /// Creates an empty file, accessible to the owner only, if there is none; SQLite gives its
  /// additional files the same permissions.
  func createFile() throws(ArchiveError) {
    do throws(SystemError) {
      try PrivateFiles.createFile(path)
    } catch {
      throw Self.refusal("The history \(path)", error.code)
    }
  }

  func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  func rename(_ from: String, to: String) throws(ArchiveError) {
    guard unsafe Glibc.rename(from, to) == 0 || errno == ENOENT else {
      throw Self.refusal("The file \(to)", errno)
    }
  }

  func remove(_ path: String) { _ = unsafe unlink(path) }

  /// Makes the creation and renaming of files durable.
  func syncFolder() {
    let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }

  static func refusal(_ what: String, _ reason: Int32) -> ArchiveError {
    ArchiveError(
      .environment,
      "\(what) cannot be created: \(unsafe String(cString: strerror(reason))). Give yourself write "
        + "permission to its parent folder, or set XDG_STATE_HOME to another; until then "
        + "nothing is saved.")
  }
}
