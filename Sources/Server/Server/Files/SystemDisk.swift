import Glibc
package import Platform

/// The disk of the system.
package struct SystemDisk: FolderDisk {
  package init() {}

  package func names(in folder: String) -> [String]? { PrivateFiles.names(in: folder) }

  package func isEmpty(_ folder: String) -> Bool {
    // Also a large folder is answered at once.
    guard let directory = unsafe opendir(folder) else { return true }
    defer { unsafe closedir(directory) }
    // `.` and `..` are two of its names.
    for _ in 0..<3 where unsafe readdir(directory) == nil { return true }
    return false
  }

  package func createFolder(_ path: String) throws(SystemError) {
    try PrivateFiles.createFolder(path)
  }

  package func createSecretFolder(_ path: String) throws(SystemError) {
    try PrivateFiles.createSecretFolder(path)
  }

  package func status(of path: String) -> (size: Int64, writtenAt: Int64)? {
    var status = stat()
    guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return (Int64(status.st_size), Int64(status.st_mtim.tv_sec) * 1000)
  }

  package func write(_ bytes: [UInt8], to path: String) throws(SystemError) {
    try WholeFile.write(bytes, to: path, permissions: 0o600)
  }

  package func write(_ bytes: [UInt8], to path: String, at offset: Int64) throws(SystemError) {
    try Self.withFile(path, O_WRONLY) { descriptor throws(SystemError) in
      guard lseek(descriptor, off_t(offset), SEEK_SET) == off_t(offset),
        WholeFile.write(bytes.span, to: descriptor)
      else { throw .last("write \(path)") }
      // Lets the disk begin: what is not written yet at the sync of a whole file would hold up the log's own syncs for as long as
      // it takes (LoadTests/results/files.md).
      posix_fadvise(descriptor, off_t(offset), off_t(bytes.count), POSIX_FADV_DONTNEED)
    }
  }

  package func read(
    _ path: String, at offset: Int64, bytes limit: Int
  ) throws(SystemError) -> (bytes: [UInt8], size: Int64) {
    try Self.withFile(path, O_RDONLY) { descriptor throws(SystemError) in
      var status = stat()
      guard unsafe fstat(descriptor, &status) == 0 else { throw .last("stat \(path)") }
      var bytes = [UInt8](repeating: 0, count: limit)
      let count = unsafe pread(descriptor, &bytes, limit, off_t(offset))
      guard count >= 0 else { throw .last("read \(path)") }
      bytes.removeLast(limit - count)
      return (bytes, Int64(status.st_size))
    }
  }

  package func truncate(_ path: String, to size: Int64) throws(SystemError) {
    guard unsafe Glibc.truncate(path, off_t(size)) == 0 else { throw .last("truncate \(path)") }
  }

  package func sync(_ path: String) throws(SystemError) {
    try Self.withFile(path, O_RDONLY) { descriptor throws(SystemError) in
      guard fsync(descriptor) == 0 else { throw .last("fsync \(path)") }
    }
  }

  package func link(_ path: String, to name: String) throws(SystemError) {
    guard unsafe Glibc.link(path, name) == 0 else { throw .last("link \(name)") }
  }

  package func rename(_ path: String, to name: String) throws(SystemError) {
    guard unsafe Glibc.rename(path, name) == 0 else { throw .last("rename \(path)") }
  }

  package func remove(_ path: String) { _ = unsafe unlink(path) }

  package func freeBytes(of folder: String) -> Int64? {
    var facts = statvfs()
    guard unsafe statvfs(folder, &facts) == 0 else { return nil }
    let (bytes, isOver) = UInt64(facts.f_bavail).multipliedReportingOverflow(
      by: UInt64(facts.f_frsize))
    return isOver ? .max : Int64(clamping: bytes)
  }

  /// Files are opened for each block: so no upload holds a descriptor, however its connection ends.
  static func withFile<Result>(
    _ path: String, _ flags: Int32, _ body: (Int32) throws(SystemError) -> Result
  ) throws(SystemError) -> Result {
    let descriptor = unsafe open(path, flags | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw .last("open \(path)") }
    defer { close(descriptor) }
    return try body(descriptor)
  }
}
