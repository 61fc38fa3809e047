import Glibc

/// A folder for one test, removed with everything in it when the test is done.
final class Folder {
  let path: String

  init() throws {
    var template = Array("/tmp/relay-test.XXXXXX".utf8CString)
    path = try unsafe template.withUnsafeMutableBufferPointer { characters in
      guard let start = characters.baseAddress, let made = unsafe mkdtemp(start) else {
        throw Unexpected("mkdtemp: \(errno)")
      }
      return unsafe String(cString: made)
    }
  }

  deinit { _ = try? Folder.run("rm", "-rf", path) }

  /// What lies in it.
  subscript(name: String) -> String { "\(path)/\(name)" }

  func write(_ text: String, to name: String) throws {
    let descriptor = unsafe open(self[name], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Unexpected("open \(name): \(errno)") }
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    guard unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
      throw Unexpected("write \(name): \(errno)")
    }
  }

  /// Runs a program to its end.
  @discardableResult
  static func run(_ arguments: String...) throws -> ChildProcess.Outcome {
    try ChildProcess(arguments, input: "").wait()
  }
}
