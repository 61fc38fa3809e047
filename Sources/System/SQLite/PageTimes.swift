internal import CSQLite
internal import Glibc
internal import Platform

/// When each page of a database file was last written: eight bytes for each page, in the file `…-times`
/// beside it.
///
/// A backup creates that file, and every process that writes the database keeps it up to date as long as it
/// exists (`PageFileSystem`). In WAL mode only checkpoints write pages, so that a page whose time is earlier
/// than a transaction has not changed since, unless the write-ahead log has it. The times are those of a clock
/// that begins with each start of the machine: they say nothing about the time before the backup began.
final class PageTimes {
  private static let entryBytes = 8

  private let path: String
  private let descriptor: Int32

  /// Begins with a file without times, unless another backup is using it.
  ///
  /// The file belongs to the owner of the database, whose processes have to write it. It is never removed: a
  /// backup that has just begun might have it open.
  init(of database: String) throws(SystemError) {
    path = "\(database)-times"
    descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw SystemError.last("open \(path)") }
    var owner = stat()
    if unsafe stat(database, &owner) == 0, geteuid() == 0 {
      _ = fchown(descriptor, owner.st_uid, owner.st_gid)
    }
    if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { _ = ftruncate(descriptor, 0) }
    guard flock(descriptor, LOCK_SH) == 0 else {
      let error = SystemError.last("flock \(path)")
      close(descriptor)
      throw error
    }
  }

  deinit { close(descriptor) }

  /// Returns the pages that were written at a time or later.
  func pages(since time: Int64) throws(SystemError) -> [UInt32] {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_nlink > 0 else {
      throw SystemError("read \(path)", code: ENOENT)
    }
    var times = [Int64](repeating: 0, count: Int(status.st_size) / Self.entryBytes)
    let read = unsafe times.withUnsafeMutableBytes {
      unsafe pread(descriptor, $0.baseAddress, $0.count, 0)
    }
    guard read == times.count * Self.entryBytes else { throw SystemError.last("read \(path)") }
    return times.indices.filter { times[$0] >= time }.map { UInt32($0 + 1) }
  }

  static var now: Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_BOOTTIME, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// Records that a page is being written, if there is a file for that.
  /// - Returns: a result code: a page whose time is missing must not be written.
  static func record(_ page: Int64, of database: UnsafePointer<CChar>) -> Int32 {
    let path = unsafe String(cString: database) + "-times"
    let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return errno == ENOENT ? SQLITE_OK : SQLITE_IOERR }
    defer { close(descriptor) }
    var time = now
    guard
      unsafe pwrite(descriptor, &time, entryBytes, off_t((page - 1) * Int64(entryBytes)))
        == entryBytes
    else { return errno == ENOSPC || errno == EDQUOT ? SQLITE_FULL : SQLITE_IOERR }
    return SQLITE_OK
  }
}
