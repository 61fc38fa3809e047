import Glibc
import Platform

/// A file that is open for reading at any place, or for writing at its end.
final class OpenFile {
  let path: String
  private let descriptor: Int32
  private(set) var size: Int

  /// Opens a file; does not follow a link in its last part if `isListed`: such a name comes from a folder.
  init(_ path: String, isListed: Bool = false) throws(UnreadableExport) {
    // A pipe without a writer is not waited for: it is no file.
    let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | (isListed ? O_NOFOLLOW : 0)
    let descriptor = unsafe open(path, flags)
    guard descriptor >= 0 else {
      throw UnreadableExport(path, "cannot be opened: \(SystemError.last("open").reason)")
    }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw UnreadableExport(path, "is no file")
    }
    self.path = path
    self.descriptor = descriptor
    size = Int(status.st_size)
  }

  /// Creates a file without a name, which only this process can read and which ends with it.
  init(temporaryIn folder: String) throws(UnreadableExport) {
    var name = Array("\(folder)/relay-import.XXXXXX".utf8CString)
    descriptor = unsafe mkstemp(&name)
    path = folder
    size = 0
    guard descriptor >= 0 else {
      throw UnreadableExport(
        folder,
        "has no space for a temporary file: \(SystemError.last("open").reason). Set TMPDIR to a "
          + "folder that has")
    }
    unsafe unlink(&name)
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Reads up to `count` bytes; fewer only at the end of the file.
  func read(at offset: Int, count: Int) throws(UnreadableExport) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: max(0, min(count, size - offset)))
    var filled = 0
    while filled < bytes.count {
      let read = unsafe bytes[filled...].withUnsafeMutableBytes {
        unsafe pread(descriptor, $0.baseAddress, $0.count, off_t(offset + filled))
      }
      if read < 0, errno == EINTR { continue }
      guard read >= 0 else {
        throw UnreadableExport(path, "cannot be read: \(SystemError.last("read").reason)")
      }
      if read == 0 { break }
      filled += read
    }
    bytes.removeLast(bytes.count - filled)
    return bytes
  }

  func append(_ bytes: [UInt8]) throws(UnreadableExport) {
    guard WholeFile.write(bytes.span, to: descriptor) else {
      throw UnreadableExport(
        path,
        "cannot take a temporary file: \(SystemError.last("write").reason). Set TMPDIR to a folder "
          + "with as much space as the export has text")
    }
    size += bytes.count
  }
}
