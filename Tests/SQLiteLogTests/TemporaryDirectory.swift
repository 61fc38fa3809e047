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

  func bytes(of name: String) -> Int {
    var status = stat()
    return unsafe stat(self[name], &status) == 0 ? Int(status.st_size) : 0
  }
}

struct SystemCallFailed: Error {
  var code = errno
}

/// Runs a program to its end. Files are copied by a process of its own, since SQLite's locks on a
/// file are gone once the process that holds them closes any descriptor of that file.
func run(_ arguments: String...) throws {
  var id = pid_t()
  var pointers = unsafe arguments.map { unsafe strdup($0) } + [nil]
  defer { for unsafepointer in unsafe pointers { unsafe free(pointer) } }
  guard unsafe posix_spawnp(&id, arguments[0], nil, nil, &pointers, environ) == 0 else {
    throw SystemCallFailed()
  }
  var status: Int32 = 0
  guard unsafe waitpid(id, &status, 0) == id, status == 0 else { throw SystemCallFailed() }
}
