internal import Glibc
internal import Platform

/// A part of an open file, that is read once from its start to its end.
package struct FilePart: Sendable {
  private let file: OpenFile
  private var offset: Int64
  private let end: Int64
  /// Called with the offset up to which the network has taken the file.
  private let progress: @Sendable (Int64) -> Void

  init(
    of file: OpenFile, from offset: Int64, to end: Int64,
    progress: @escaping @Sendable (Int64) -> Void
  ) {
    self.file = file
    self.offset = offset
    self.end = end
    self.progress = progress
  }

  /// The bytes that are not read yet.
  var count: Int64 { end - offset }
  var isEmpty: Bool { offset == end }

  mutating func read(atMost limitBytes: Int) throws(SystemError) -> [UInt8] {
    let bytes = try file.read(at: offset, count: Int(min(count, Int64(limitBytes))))
    offset += Int64(bytes.count)
    return bytes
  }

  func report(unsent count: Int) { progress(offset - Int64(count)) }
}

/// A file of the user that is open for reading.
final class OpenFile: Sendable {
  private let path: String
  private let descriptor: Int32
  let size: Int64

  /// Throws for whatever is no file: a folder, a pipe, a device.
  init(_ path: String) throws(SystemError) {
    self.path = path
    descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw SystemError.last("open \(path)") }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else {
      let error = SystemError.last("stat \(path)")
      close(descriptor)
      throw error
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw SystemError(
        "open \(path)", code: status.st_mode & S_IFMT == S_IFDIR ? EISDIR : EINVAL)
    }
    size = Int64(status.st_size)
  }

  deinit { close(descriptor) }

  /// Returns exactly this number of bytes; throws if the file has become shorter (`ENODATA`).
  func read(at offset: Int64, count: Int) throws(SystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let result = unsafe bytes[filled...].withUnsafeMutableBytes {
        unsafe pread(descriptor, $0.baseAddress, $0.count, off_t(offset) + off_t(filled))
      }
      if result < 0, errno == EINTR { continue }
      guard result >= 0 else { throw SystemError.last("read \(path)") }
      if result == 0 { throw SystemError("read \(path)", code: ENODATA) }
      filled += result
    }
    return bytes
  }
}
