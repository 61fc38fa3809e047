internal import Glibc
internal import Platform

/// Reads and writes whole files.
enum WholeFile {
  /// Blocks. Throws `EFBIG` if the file is larger than the limit.
  static func read(_ path: String, limitBytes: Int) throws(SystemError) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
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

  /// Replaces a file atomically, also in case of power loss; the file is accessible to its owner
  /// only. Blocks.
  static func replace(_ path: String, with bytes: [UInt8]) throws(SystemError) {
    let draft = "\(path).new"
    _ = unsafe unlink(draft)
    let descriptor = unsafe open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw SystemError.last("open \(draft)") }
    do throws(SystemError) {
      defer { close(descriptor) }
      try write(bytes, to: descriptor, draft)
      guard fsync(descriptor) == 0 else { throw SystemError.last("fsync \(draft)") }
    } catch {
      _ = unsafe unlink(draft)
      throw error
    }
    guard unsafe rename(draft, path) == 0 else { throw SystemError.last("rename \(draft)") }
  }

  private static func write(
    _ bytes: [UInt8], to descriptor: Int32, _ path: String
  ) throws(SystemError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes {
        unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw SystemError.last("write \(path)") }
      rest = rest.dropFirst(count)
    }
  }
}
