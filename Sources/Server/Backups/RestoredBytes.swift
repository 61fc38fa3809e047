internal import Glibc
internal import ObjectStorage
internal import Platform
internal import SQLite
internal import TLS

/// The bytes of files that a restore writes, after the store that names them.
struct RestoredBytes {
  private let storage: any ObjectStorage

  init(_ storage: any ObjectStorage) { self.storage = storage.folder(FileObjects.folder) }

  /// Writes the bytes of all files of the store in a folder.
  /// - Returns: the hashes of those that the backup lacks or has damaged: a picture less must not keep back everything else.
  func write(into folder: String) throws -> [String] {
    let hashes = try Database(path: "\(folder)/\(DataFiles.store)", mode: .readOnly).fileHashes()
    if hashes.isEmpty { return [] }
    let names = Dictionary(grouping: try FileObjectName.all(in: storage), by: \.hash)
    let lost = try hashes.sorted().filter { hash in
      guard let count = names[hash].flatMap(FileObjectName.wholeCount) else { return true }
      return try !write(hash, count, to: FileObjectName.path(of: hash, inDataFolder: folder))
    }
    let files = "\(folder)/\(FileObjects.folder)"
    for name in PrivateFiles.names(in: files) ?? [] { Restore.sync("\(files)/\(name)") }
    Restore.sync(files)
    return lost
  }

  /// - Returns: `false` if the pieces are not what they were, and nothing is written.
  private func write(_ hash: String, _ count: Int, to path: String) throws -> Bool {
    var digest = DigestStream()
    let isWhole = try Self.changing(path) { descriptor throws in
      for number in 1...count {
        let piece: [UInt8]
        do throws(StorageError) {
          piece = try storage.get(FileObjectName.piece(number, of: count, hash).text, nil)
        } catch {
          if error.kind == .missing { return false }
          throw BackupError(error)
        }
        digest.add(piece, count: piece.count)
        guard WholeFile.write(piece.span, to: descriptor) else { throw SystemError.last("write") }
      }
      return true
    }
    if isWhole, SHA256Digest.hex(digest.finish()) == hash { return true }
    _ = unsafe unlink(path)
    return false
  }

  private static func changing(_ path: String, _ body: (Int32) throws -> Bool) throws -> Bool {
    do {
      let folder = String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
      try PrivateFiles.createFolder(folder)
      let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw SystemError.last("open") }
      defer { close(descriptor) }
      let isWhole = try body(descriptor)
      guard fsync(descriptor) == 0 else { throw SystemError.last("fsync") }
      return isWhole
    } catch let error as SystemError {
      throw BackupError.unwritable(path, error)
    }
  }
}
