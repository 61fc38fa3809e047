internal import Glibc
public import Platform

/// Reads and writes texts.
public enum TextFile {
  /// Larger than any scenario; stops the reading of a device that was named by mistake.
  static let limitBytes = 16 * 1024 * 1024

  /// Reads a whole file. Blocks.
  public static func read(_ path: String) throws(SystemError) -> [UInt8] {
    try WholeFile.read(path, limitBytes: limitBytes)
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
    try WholeFile.write(Array(text.utf8), to: path)
  }
}
