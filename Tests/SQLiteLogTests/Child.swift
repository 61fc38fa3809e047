import Glibc

/// Runs a program to its end. Files are copied by a process of its own, since SQLite's locks on a
/// file are gone once the process that holds them closes any descriptor of that file.
func run(_ arguments: String...) throws {
  let id = try spawn(arguments)
  var status: Int32 = 0
  guard unsafe waitpid(id, &status, 0) == id, status == 0 else { throw SystemCallFailed() }
}

/// A program that runs beside the test until it is ended.
final class Child {
  private let id: pid_t
  private let output: Int32
  private var isRunning = true

  init(_ arguments: String...) throws {
    var ends: [Int32] = [0, 0]
    guard unsafe pipe(&ends) == 0 else { throw SystemCallFailed() }
    output = ends[0]
    defer { close(ends[1]) }
    id = try spawn(arguments, output: ends[1])
  }

  func readLine() -> String {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while unsafe read(output, &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
    return String(decoding: line, as: UTF8.self)
  }

  /// Kills the program and waits for its end.
  func end() {
    guard isRunning else { return }
    isRunning = false
    kill(id, SIGKILL)
    var status: Int32 = 0
    unsafe waitpid(id, &status, 0)
    close(output)
  }
}

private func spawn(_ arguments: [String], output: Int32 = 1) throws -> pid_t {
  var actions = unsafe posix_spawn_file_actions_t()
  unsafe posix_spawn_file_actions_init(&actions)
  defer { unsafe posix_spawn_file_actions_destroy(&actions) }
  unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
  var pointers = unsafe arguments.map { unsafe strdup($0) } + [nil]
  defer { unsafe pointers.forEach { unsafe free($0) } }
  var id = pid_t()
  let code = unsafe posix_spawnp(&id, arguments[0], &actions, nil, &pointers, environ)
  guard code == 0 else { throw SystemCallFailed(code: code) }
  return id
}
