import Archive
import Glibc
import Platform
import TestSupport

extension TemporaryFolder {
  /// The file of an account in it.
  var file: String { Archive.path(stateHome: path, relay: "ws://relay.example/ws", user: "ada") }

  /// The content of all files in its folder `wschat`, copied first: SQLite's locks on a file end
  /// when the process that holds them closes any descriptor of that file.
  func contents() throws -> [UInt8] {
    let copy = try TemporaryFolder()
    try run("sh", "-c", "cat '\(path)'/wschat/* > '\(copy.path)/all'")
    return try readBytes(copy["all"])
  }
}

/// Overwrites a part of a file, or creates it; does not truncate it.
func write(_ bytes: [UInt8], to path: String, at offset: Int = 0) throws {
  let descriptor = unsafe open(path, O_WRONLY | O_CREAT, 0o600)
  guard descriptor >= 0 else { throw SystemError.last("open \(path)") }
  defer { close(descriptor) }
  guard unsafe pwrite(descriptor, bytes, bytes.count, offset) == bytes.count else {
    throw SystemError.last("write \(path)")
  }
}

func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

extension [UInt8] {
  func contains(_ text: String) -> Bool {
    let text = [UInt8](text.utf8)
    var from = 0
    while let start = self[from...].firstIndex(of: text[0]), start + text.count <= count {
      if self[start..<start + text.count].elementsEqual(text) { return true }
      from = start + 1
    }
    return false
  }

  /// Every range that begins with `<`, ends with `>` and contains neither.
  var markers: Set<String> {
    var found: Set<String> = []
    var start: Int?
    for index in indices {
      if self[index] == UInt8(ascii: "<") { start = index }
      if self[index] == UInt8(ascii: ">"), let from = start {
        if index - from < 40 { found.insert(String(decoding: self[from...index], as: UTF8.self)) }
        start = nil
      }
    }
    return found
  }
}

/// Writes a line to standard error immediately.
func say(_ line: String) {
  let bytes = Array("\(line)\n".utf8)
  _ = unsafe Glibc.write(STDERR_FILENO, bytes, bytes.count)
}
