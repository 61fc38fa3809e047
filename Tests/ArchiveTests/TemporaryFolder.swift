import Archive
import Glibc

/// A folder for one test, removed with everything in it when the test is done.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    var template = Array("/tmp/archive.XXXXXX".utf8CString)
    path = try unsafe template.withUnsafeMutableBufferPointer { characters in
      guard let start = characters.baseAddress, let made = unsafe mkdtemp(start) else {
        throw SystemCallFailed()
      }
      return unsafe String(cString: made)
    }
  }

  deinit { try? run("rm", "-rf", path) }

  /// An account's file in it.
  var file: String { Archive.path(stateHome: path, relay: "ws://relay.example/ws", user: "ada") }

  /// Everything that lies in the folder `wschat` of it, copied first: SQLite's locks on a file are gone
  /// once the process that holds them closes any descriptor of that file.
  func contents() throws -> [UInt8] {
    let copy = try TemporaryFolder()
    try run("sh", "-c", "cat '\(path)'/wschat/* > '\(copy.path)/all'")
    return try read("\(copy.path)/all")
  }

  func permissions(of path: String) throws -> mode_t {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { throw SystemCallFailed() }
    return status.st_mode & 0o777
  }
}

func read(_ path: String) throws -> [UInt8] {
  let descriptor = unsafe open(path, O_RDONLY)
  guard descriptor >= 0 else { throw SystemCallFailed() }
  defer { close(descriptor) }
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 1 << 20)
  while true {
    let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
    if count <= 0 { return bytes }
    bytes += chunk[..<count]
  }
}

func write(_ bytes: [UInt8], to path: String, at offset: Int = 0) throws {
  let descriptor = unsafe open(path, O_WRONLY | O_CREAT, 0o600)
  guard descriptor >= 0 else { throw SystemCallFailed() }
  defer { close(descriptor) }
  guard unsafe pwrite(descriptor, bytes, bytes.count, offset) == bytes.count else {
    throw SystemCallFailed()
  }
}

func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

/// Runs a program to its end.
func run(_ arguments: String...) throws {
  var pointers = unsafe arguments.map { unsafe strdup($0) } + [nil]
  defer { unsafe pointers.forEach { unsafe free($0) } }
  var id = pid_t()
  guard unsafe posix_spawnp(&id, arguments[0], nil, nil, &pointers, environ) == 0 else {
    throw SystemCallFailed()
  }
  var status: Int32 = 0
  guard unsafe waitpid(id, &status, 0) == id, status == 0 else { throw SystemCallFailed() }
}

/// Waits until something is so, for as long as a slow machine may take.
func wait(until condition: () throws -> Bool) throws -> Bool {
  let end = ContinuousClock.now + .seconds(300)
  repeat {
    if try condition() { return true }
    usleep(10_000)
  } while ContinuousClock.now < end
  return false
}

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

  /// Every stretch that begins with `<`, ends with `>` and has neither within.
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

struct SystemCallFailed: Error {
  var code = errno
}

/// Writes a line to standard error at once.
func say(_ line: String) {
  let bytes = Array("\(line)\n".utf8)
  _ = unsafe Glibc.write(STDERR_FILENO, bytes, bytes.count)
}
