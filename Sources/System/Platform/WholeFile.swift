internal import Glibc

/// Reads and writes whole files, including those in /proc, which have no size. Every call blocks.
public enum WholeFile {
  /// Reads a file. Throws `EFBIG` if it is larger than the limit.
  /// - Parameter waits: whether to wait for input if the path names a pipe.
  public static func read(
    _ path: String, limitBytes: Int = .max, waits: Bool = true
  ) throws(SystemError) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | (waits ? 0 : O_NONBLOCK))
    guard descriptor >= 0 else { throw SystemError.last("open \(path)") }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw SystemError.last("read \(path)") }
      if count == 0 { return bytes }
      bytes += chunk[..<count]
      guard bytes.count <= limitBytes else { throw SystemError("read \(path)", code: EFBIG) }
    }
  }

  /// Creates a file or overwrites its content.
  /// - Parameter permissions: of a new file, before the umask.
  public static func write(
    _ bytes: [UInt8], to path: String, permissions: UInt32 = 0o666
  ) throws(SystemError) {
    let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC
    let descriptor = unsafe open(path, flags, permissions)
    guard descriptor >= 0 else { throw SystemError.last("open \(path)") }
    defer { close(descriptor) }
    guard write(bytes.span, to: descriptor) else { throw SystemError.last("write \(path)") }
  }

  /// Replaces a file atomically, also in case of power loss; the file is accessible to its owner
  /// only. Throws `EINVAL` if there is something else, such as a device, which would become a file.
  public static func replace(_ path: String, with bytes: [UInt8]) throws(SystemError) {
    var status = stat()
    guard unsafe stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else {
      throw SystemError("replace \(path)", code: EINVAL)
    }
    let draft = "\(path).new"
    _ = unsafe unlink(draft)
    let descriptor = unsafe open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw SystemError.last("open \(draft)") }
    do throws(SystemError) {
      defer { close(descriptor) }
      guard write(bytes.span, to: descriptor) else { throw SystemError.last("write \(draft)") }
      guard fsync(descriptor) == 0 else { throw SystemError.last("fsync \(draft)") }
    } catch {
      _ = unsafe unlink(draft)
      throw error
    }
    guard unsafe rename(draft, path) == 0 else { throw SystemError.last("rename \(draft)") }
  }

  /// Writes all bytes to a descriptor; waits if that is non-blocking, as an inherited one may be.
  /// - Returns: `false` after an error, which `errno` names.
  public static func write(_ bytes: Span<UInt8>, to descriptor: Int32) -> Bool {
    var start = 0
    while start < bytes.count {
      let count = unsafe bytes.extracting(start...)
        .withUnsafeBufferPointer { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        start += count
      } else if count < 0, errno == EAGAIN {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&request, 1, -1)
      } else if count == 0 || errno != EINTR {
        return false
      }
    }
    return true
  }
}
