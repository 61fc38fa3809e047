import Glibc

/// What ends a test that cannot go on.
struct Unexpected: Error, CustomStringConvertible {
  var description: String
  init(_ description: String) { self.description = description }
}

/// A point in time after which something is not waited for any more: generous, since it passes only
/// where something is wrong.
struct Deadline {
  private let end: ContinuousClock.Instant

  init(seconds: Int = 120) { end = .now + .seconds(seconds) }

  var milliseconds: Int32 {
    Int32(max(0, ContinuousClock.now.duration(to: end) / .milliseconds(1)))
  }
  var hasPassed: Bool { milliseconds == 0 }
}

/// Whether a call ends by itself, and does not wait for what goes on in the background: that is given
/// at least 10 seconds in these tests.
func returnsSoon(_ call: () -> Void) -> Bool { ContinuousClock().measure(call) < .seconds(9) }

/// A folder for one test, removed with everything in it when the test is done.
final class Folder: Sendable {
  let path: String

  init() throws {
    var template = Array("/tmp/directories-test.XXXXXX".utf8CString)
    path = try unsafe template.withUnsafeMutableBufferPointer { characters in
      guard let start = characters.baseAddress, let made = unsafe mkdtemp(start) else {
        throw Unexpected("mkdtemp: \(errno)")
      }
      return unsafe String(cString: made)
    }
  }

  deinit {
    for name in names { _ = unsafe unlink(self[name]) }
    _ = unsafe rmdir(path)
  }

  subscript(name: String) -> String { "\(path)/\(name)" }

  var names: [String] {
    guard let folder = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(folder) }
    var names: [String] = []
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// Replaces a file at once, as editors do.
  func write(_ text: String, to name: String) throws {
    let bytes = Array(text.utf8)
    let descriptor = unsafe open(self["\(name)~"], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0, unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count,
      close(descriptor) == 0, unsafe rename(self["\(name)~"], self[name]) == 0
    else { throw Unexpected("write \(name): \(errno)") }
  }

  func read(_ name: String) throws -> String {
    guard let file = unsafe fopen(self[name], "r") else {
      throw Unexpected("open \(name): \(errno)")
    }
    defer { unsafe fclose(file) }
    var bytes: [UInt8] = []
    while case let byte = unsafe getc(file), byte != EOF { bytes.append(UInt8(byte)) }
    return String(decoding: bytes, as: UTF8.self)
  }

  func permissions(of name: String) -> mode_t {
    var status = stat()
    return unsafe stat(self[name], &status) == 0 ? status.st_mode & 0o777 : 0
  }
}
