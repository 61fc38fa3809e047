internal import Glibc
internal import Platform
internal import Synchronization

/// Objects as files of a folder that only their owner can access.
public final class FolderStorage: ObjectStorage {
  public let description: String
  private let path: String
  private let lock = Mutex<Int32>(-1)

  /// That of a file that is being written: see `WholeFile.replace`.
  private static let draftSuffix = ".new"

  public init(_ path: String) {
    self.path = path
    description = path
  }

  /// Unlocks explicitly: a child that is being spawned may hold a copy of the descriptor for a moment.
  deinit {
    lock.withLock { descriptor in
      guard descriptor >= 0 else { return }
      _ = flock(descriptor, LOCK_UN)
      close(descriptor)
    }
  }

  public func folder(_ name: String) -> any ObjectStorage { FolderStorage("\(path)/\(name)") }

  public func claim() throws(StorageError) {
    do throws(SystemError) { try PrivateFiles.createFolder(path) } catch {
      throw failure("be created", error)
    }
    let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("be opened", .last("open")) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let error = SystemError.last("flock")
      close(descriptor)
      guard error.code == EWOULDBLOCK else { throw failure("be locked", error) }
      throw StorageError(
        .refused,
        "The folder \(path) is being written by another backup. Wait until it has ended, or use another "
          + "folder.")
    }
    lock.withLock { $0 = descriptor }
    // Those of a program that was killed.
    for name in PrivateFiles.names(in: path) ?? [] where name.hasSuffix(Self.draftSuffix) {
      try delete(name)
    }
  }

  public func put(_ bytes: [UInt8], as name: String) throws(StorageError) {
    do throws(SystemError) {
      try WholeFile.replace("\(path)/\(name)", with: bytes)
      let folder = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard folder >= 0 else { throw .last("open") }
      defer { close(folder) }
      guard fsync(folder) == 0 else { throw .last("fsync") }
    } catch {
      throw failure("be written", error, name)
    }
  }

  public func get(_ name: String, _ range: Range<Int>?) throws(StorageError) -> [UInt8] {
    do throws(SystemError) {
      guard let range else { return try WholeFile.read("\(path)/\(name)") }
      let descriptor = unsafe open("\(path)/\(name)", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { throw .last("open") }
      defer { close(descriptor) }
      var bytes = [UInt8](repeating: 0, count: range.count)
      let count = unsafe pread(descriptor, &bytes, bytes.count, off_t(range.lowerBound))
      guard count >= 0 else { throw .last("read") }
      return Array(bytes[..<count])
    } catch {
      throw failure("be read", error, name)
    }
  }

  public func list() throws(StorageError) -> [String] {
    guard let names = PrivateFiles.names(in: path) else {
      throw failure("be read", SystemError.last("opendir"))
    }
    return names.filter { !$0.hasPrefix(".") && !$0.hasSuffix(Self.draftSuffix) }.sorted()
  }

  public func names(
    startingWith start: String, after name: String, limit: Int
  ) throws(StorageError) -> [String] {
    Array(try list().filter { $0.hasPrefix(start) && $0 > name }.prefix(limit))
  }

  public func delete(_ name: String) throws(StorageError) {
    if unsafe unlink("\(path)/\(name)") != 0, errno != ENOENT {
      throw failure("be deleted", .last("unlink"), name)
    }
  }

  private func failure(
    _ action: String, _ error: SystemError, _ name: String? = nil
  ) -> StorageError {
    let what = name.map { "The object \(path)/\($0)" } ?? "The folder \(path)"
    let sentence = "\(what) cannot \(action): \(error.reason)."
    switch error.code {
    case ENOENT:
      return StorageError(.missing, "\(sentence) Check the path.")
    case ENOSPC, EDQUOT:
      return StorageError(.unavailable, "\(sentence) Free some space there.")
    case EACCES, EPERM, EROFS, ENOTDIR:
      return StorageError(
        .refused, "\(sentence) Give the user that runs this command access, or use another folder.")
    default:
      return StorageError(.unavailable, sentence)
    }
  }
}
