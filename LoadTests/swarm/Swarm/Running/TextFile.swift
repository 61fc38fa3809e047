internal import Glibc
public import Platform

/// Reads and writes files, including those in /proc, which have no size.
public enum TextFile {
  /// Larger than any scenario; stops the reading of a device that was named by mistake.
  static let limitBytes = 16 * 1024 * 1024

  /// Reads a whole file. Blocks.
  public static func read(_ path: String) throws(SystemError) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemError.last("open \(path)") }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe chunk.withUnsafeMutableBytes {
        unsafe Glibc.read(descriptor, $0.baseAddress, $0.count)
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw SystemError.last("read \(path)") }
      if count == 0 { return bytes }
      bytes += chunk[..<count]
      guard bytes.count <= limitBytes else { throw SystemError("read \(path)", code: EFBIG) }
    }
  }

  /// Throws if the file cannot be replaced.
  public static func checkWritable(_ path: String) throws(SystemError) {
    let exists = unsafe access(path, F_OK) == 0
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw SystemError.last("open \(path)") }
    close(descriptor)
    if !exists { unsafe unlink(path) }
  }

  /// Replaces the file. Blocks.
  public static func write(_ text: String, to path: String) throws(SystemError) {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw SystemError.last("open \(path)") }
    defer { close(descriptor) }
    guard write(Array(text.utf8), to: descriptor) else { throw SystemError.last("write \(path)") }
  }

  /// Writes all bytes, unless the reader has closed.
  @discardableResult
  public static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var start = 0
    while start < bytes.count {
      let count = unsafe bytes.span.extracting(start..<bytes.count)
        .withUnsafeBufferPointer { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      start += count
    }
    return true
  }
}
