internal import CLinux
internal import Glibc

/// A file in memory, without a name, for a child process to read or write. Closed with the value.
public struct MemoryFile: ~Copyable {
  public let descriptor: Int32

  /// Creates a file with a content, at its beginning.
  public init(_ bytes: [UInt8] = []) throws(SystemError) {
    descriptor = clinux_memory_file()
    guard descriptor >= 0 else { throw .last("memfd_create") }
    guard WholeFile.write(bytes.span, to: descriptor), lseek(descriptor, 0, SEEK_SET) == 0 else {
      throw .last("write a file in memory")
    }
  }

  deinit { close(descriptor) }

  /// Returns the content; throws `EFBIG` if it is larger than the limit.
  public func read(limitBytes: Int) throws(SystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: limitBytes + 1)
    let count = unsafe pread(descriptor, &bytes, bytes.count, 0)
    guard count >= 0 else { throw .last("read a file in memory") }
    guard count <= limitBytes else { throw SystemError("read a file in memory", code: EFBIG) }
    return Array(bytes[..<count])
  }
}
