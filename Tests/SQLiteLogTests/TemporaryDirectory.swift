import Glibc

/// A directory for one test, removed with everything in it when the test is done.
final class TemporaryDirectory: Sendable {
  let path: String

  init() throws {
    var template = Array("/tmp/sqlitelog.XXXXXX".utf8CString)
    path = try unsafe template.withUnsafeMutableBufferPointer { characters in
      guard let start = characters.baseAddress, let made = unsafe mkdtemp(start) else {
        throw SystemCallFailed()
      }
      return unsafe String(cString: made)
    }
  }

  deinit { try? run("rm", "-rf", path) }

  /// What lies in it.
  subscript(name: String) -> String { "\(path)/\(name)" }

  /// Copies a data directory as it lies there, as a backup does, or the death of its process.
  func copy(_ name: String, to other: String) throws {
    try run("cp", "-r", self[name], self[other])
  }

  func write(_ bytes: [UInt8], to name: String) throws {
    let descriptor = unsafe open(self[name], O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    guard descriptor >= 0 else { throw SystemCallFailed() }
    defer { close(descriptor) }
    guard unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
      throw SystemCallFailed()
    }
  }

  func permissions(of name: String) throws -> mode_t {
    var status = stat()
    guard unsafe stat(self[name], &status) == 0 else { throw SystemCallFailed() }
    return status.st_mode & 0o777
  }

  func bytes(of name: String) -> Int {
    var status = stat()
    return unsafe stat(self[name], &status) == 0 ? Int(status.st_size) : 0
  }
}

struct SystemCallFailed: Error {
  var code = errno
}
