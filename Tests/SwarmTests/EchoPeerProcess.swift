import Glibc

/// An echo server that is not ours; it ends with the object, or with the test's process.
final class EchoPeerProcess {
  let url: String
  private let id: pid_t
  private let input: Int32

  /// - Parameter words: the interpreter, the name of its script, and the script's arguments.
  init(_ interpreter: String, _ script: String, _ arguments: [String] = []) throws {
    var (input, output): ([Int32], [Int32]) = ([0, 0], [0, 0])
    guard unsafe pipe(&input) == 0, unsafe pipe(&output) == 0 else {
      throw Unexpected("pipe: \(errno)")
    }
    for end in input + output { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    self.input = input[1]
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, input[0], 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, output[1], 1)
    let words = [interpreter, Programs.peer(script)] + arguments
    var raw = unsafe words.map { unsafe strdup($0) } + [nil]
    // Debian's packages for Node lie outside its own path.
    var environment = unsafe [strdup("NODE_PATH=/usr/share/nodejs"), strdup("PATH=/usr/bin"), nil]
    defer {
      unsafe (raw + environment).forEach { unsafe free($0) }
      close(input[0])
      close(output[0])
    }
    var id = pid_t()
    let code = unsafe posix_spawn(&id, interpreter, &actions, nil, &raw, &environment)
    close(output[1])
    guard code == 0 else { throw Unexpected("\(interpreter): \(code)") }
    self.id = id
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while unsafe read(output[0], &byte, 1) == 1, byte != 10 { line.append(byte) }
    guard let port = UInt16(String(decoding: line, as: UTF8.self)) else {
      kill(id, SIGKILL)
      throw Unexpected("\(script) says no port")
    }
    url = "ws://127.0.0.1:\(port)/"
  }

  deinit {
    close(input)
    kill(id, SIGKILL)
    var status: Int32 = 0
    _ = unsafe waitpid(id, &status, 0)
  }
}
