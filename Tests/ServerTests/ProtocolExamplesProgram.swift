import Glibc

/// A program of an article, run as its reader runs it.
struct Program {
  /// How it is started, the file's name left out.
  var command: [String]
  var source: String
  /// Variables besides our own.
  var environment: [String: String] = [:]

  /// Runs it to its end, no longer than 30 s.
  /// - Returns: what it wrote to its standard output.
  /// - Throws: where it does not end by itself, and well; with what it wrote to its standard error.
  func run(_ arguments: [String], input: String) throws -> String {
    let folder = try Folder()
    try folder.write(source, to: "program")
    try folder.write(input, to: "input")
    let words =
      ["/usr/bin/env"] + environment.map { "\($0)=\($1)" }
      + ["/usr/bin/timeout", "30"] + command + [folder["program"]] + arguments
    let status = try spawn(
      words, input: folder["input"], output: folder["output"], errors: folder["errors"])
    guard status == 0 else {
      throw Unexpected("status \(status): \(try readFile(folder["errors"]))")
    }
    return try readFile(folder["output"])
  }

  /// - Returns: as wait(2) has it.
  private func spawn(
    _ words: [String], input: String, output: String, errors: String
  ) throws -> Int32 {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
    unsafe posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT, 0o600)
    unsafe posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT, 0o600)
    var pointers = unsafe words.map { unsafe strdup($0) } + [nil]
    defer { unsafe pointers.forEach { unsafe free($0) } }
    var id = pid_t()
    guard unsafe posix_spawn(&id, words[0], &actions, nil, &pointers, environ) == 0 else {
      throw Unexpected("\(words[0]) cannot be started")
    }
    var status: Int32 = 0
    while unsafe waitpid(id, &status, 0) != id {
      guard errno == EINTR else { throw Unexpected("waitpid: \(errno)") }
    }
    return status
  }
}

/// A folder for one run, gone with it.
private final class Folder {
  private let path: String
  private var names: [String] = ["output", "errors"]

  init() throws {
    var template = Array("/tmp/relay-example.XXXXXX".utf8CString)
    path = try unsafe template.withUnsafeMutableBufferPointer { characters in
      guard let start = characters.baseAddress, let made = unsafe mkdtemp(start) else {
        throw Unexpected("no temporary folder: \(errno)")
      }
      return unsafe String(cString: made)
    }
  }

  deinit {
    for name in names { unsafe unlink(self[name]) }
    unsafe rmdir(path)
  }

  subscript(name: String) -> String { "\(path)/\(name)" }

  func write(_ text: String, to name: String) throws {
    names.append(name)
    guard let file = unsafe fopen(self[name], "w") else { throw Unexpected("\(self[name])") }
    defer { unsafe fclose(file) }
    guard unsafe fputs(text, file) >= 0 else { throw Unexpected("\(self[name])") }
  }
}
