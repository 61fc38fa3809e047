import Gateway
import Glibc
import Platform
import TLS

/// The folder that has the bytes of files: those of uploads by their ids in `uploads`, and stored ones by their SHA-256 in
/// folders named by its first two digits; in `png` what was made of thumbnails. Only the relay's user may access it. Every call blocks.
struct FileFolder: Sendable {
  let path: String

  init(path: String) { self.path = path }

  /// That of a store.
  init(inDataFolder folder: String) { self.init(path: "\(folder)/files") }

  var uploads: String { "\(path)/uploads" }
  func upload(_ id: String) -> String { "\(uploads)/\(id)" }
  func record(_ id: String) -> String { "\(uploads)/\(id).json" }
  func subfolder(of hash: String) -> String { "\(path)/\(hash.prefix(2))" }
  func stored(_ hash: String) -> String { "\(subfolder(of: hash))/\(hash)" }
  var pngs: String { "\(path)/png" }
  func png(of thumbnail: String) -> String { "\(pngs)/\(thumbnail)" }

  /// The hashes of all stored bytes whose first two digits these are.
  func hashes(in name: String) -> [String] {
    (PrivateFiles.names(in: "\(path)/\(name)") ?? []).filter {
      $0.utf8.count == 64 && $0.hasPrefix(name)
    }
  }

  /// The folders of stored bytes.
  var folders: [String] {
    (PrivateFiles.names(in: path) ?? []).filter { $0.utf8.count == 2 }
  }

  func prepare() throws(SystemError) {
    try PrivateFiles.createSecretFolder(path)
    try PrivateFiles.createFolder(uploads)
  }

  /// Removes everything.
  func clear() {
    clear(uploads)
    clear(pngs)
    for name in folders { for hash in hashes(in: name) { remove(stored(hash)) } }
  }

  /// Removes the files of a folder.
  func clear(_ folder: String) {
    for name in PrivateFiles.names(in: folder) ?? [] { remove("\(folder)/\(name)") }
  }

  func remove(_ path: String) { _ = unsafe unlink(path) }

  /// What this user may still use of the disk; `nil` = unknown.
  var freeBytes: Int64? {
    var facts = statvfs()
    guard unsafe statvfs(path, &facts) == 0 else { return nil }
    let (bytes, isOver) = UInt64(facts.f_bavail).multipliedReportingOverflow(
      by: UInt64(facts.f_frsize))
    return isOver ? .max : Int64(clamping: bytes)
  }

  /// Returns the size of a file and when it was last written, in milliseconds since 1970; `nil` if there is
  /// none.
  func status(of path: String) -> (size: Int64, writtenAt: Int64)? {
    var status = stat()
    guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return (Int64(status.st_size), Int64(status.st_mtim.tv_sec) * 1000)
  }

  /// Writes into a file, which it does not create.
  ///
  /// Files are opened for each block: so no upload holds a descriptor, however its connection ends.
  func write(_ bytes: [UInt8], to path: String, at offset: Int64) throws(SystemError) {
    try withFile(path, O_WRONLY) { descriptor throws(SystemError) in
      guard lseek(descriptor, off_t(offset), SEEK_SET) == off_t(offset),
        WholeFile.write(bytes.span, to: descriptor)
      else { throw .last("write \(path)") }
      // Lets the disk begin: what is not written yet at the sync of a whole file would hold up the log's own syncs for as long as
      // it takes (LoadTests/results/files.md).
      posix_fadvise(descriptor, off_t(offset), off_t(bytes.count), POSIX_FADV_DONTNEED)
    }
  }

  /// Reads at most that many bytes; fewer at the end of the file.
  func read(
    _ path: String, at offset: Int64, bytes limit: Int
  ) throws(SystemError) -> (bytes: [UInt8], size: Int64) {
    try withFile(path, O_RDONLY) { descriptor throws(SystemError) in
      var status = stat()
      guard unsafe fstat(descriptor, &status) == 0 else { throw .last("stat \(path)") }
      var bytes = [UInt8](repeating: 0, count: limit)
      let count = unsafe pread(descriptor, &bytes, limit, off_t(offset))
      guard count >= 0 else { throw .last("read \(path)") }
      bytes.removeLast(limit - count)
      return (bytes, Int64(status.st_size))
    }
  }

  func truncate(_ path: String, to size: Int64) throws(SystemError) {
    guard unsafe Glibc.truncate(path, off_t(size)) == 0 else { throw .last("truncate \(path)") }
  }

  /// Syncs a file or a folder.
  func sync(_ path: String) throws(SystemError) {
    try withFile(path, O_RDONLY) { descriptor throws(SystemError) in
      guard fsync(descriptor) == 0 else { throw .last("fsync \(path)") }
    }
  }

  /// Makes a file the stored bytes with a hash. It keeps its first name: were the relay killed now, the upload would
  /// still be there, and complete.
  /// - Returns: whether there were none with this hash.
  func store(_ path: String, as hash: String) throws(SystemError) -> Bool {
    let isNew = status(of: stored(hash)) == nil
    let isFirst = unsafe access(subfolder(of: hash), F_OK) != 0
    if isFirst { try PrivateFiles.createFolder(subfolder(of: hash)) }
    try sync(path)
    // Replaces what may be there: a disk may have damaged it. A rename of a file to another name of its own does
    // nothing, so the draft is removed in any case.
    let draft = "\(stored(hash)).new"
    remove(draft)
    defer { remove(draft) }
    guard unsafe link(path, draft) == 0 else { throw .last("link \(draft)") }
    guard unsafe rename(draft, stored(hash)) == 0 else { throw .last("rename \(draft)") }
    try sync(subfolder(of: hash))
    if isFirst { try sync(self.path) }
    return isNew
  }

  /// Returns the digest of a file from an offset on.
  func digest(
    of path: String, from start: Int64 = 0, _ algorithm: UploadChecksum.Algorithm = .sha256
  ) throws(SystemError) -> [UInt8] {
    var digest = DigestStream(algorithm == .sha1 ? .sha1 : .sha256)
    try withFile(path, O_RDONLY) { descriptor throws(SystemError) in
      var block = [UInt8](repeating: 0, count: 1 << 18)
      var offset = start
      while true {
        let count = unsafe pread(descriptor, &block, block.count, off_t(offset))
        guard count >= 0 else { throw .last("read \(path)") }
        if count == 0 { return }
        digest.add(block, count: count)
        offset += Int64(count)
      }
    }
    return digest.finish()
  }

  private func withFile<Result>(
    _ path: String, _ flags: Int32, _ body: (Int32) throws(SystemError) -> Result
  ) throws(SystemError) -> Result {
    let descriptor = unsafe open(path, flags | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw .last("open \(path)") }
    defer { close(descriptor) }
    return try body(descriptor)
  }
}

extension SystemError {
  /// Whether the disk takes no more.
  var isFullDisk: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }
}
