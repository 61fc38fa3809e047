import Glibc

/// The command itself, run to its end with a scenario of its own.
struct SwarmProcess {
  private(set) var exitCode: Int32
  /// Standard output and standard error together.
  private(set) var output: String

  /// Void means that this machine was too busy to tell, which says nothing: such a run is repeated.
  private static let attempts = 3

  /// - Parameters:
  ///   - arguments: after `swarm run FILE`.
  ///   - command: what is done with the scenario.
  ///   - through: what the command is begun by, for a shell.
  init(
    playing scenario: String, _ arguments: [String] = [], command: String = "run",
    through: String = ""
  ) throws {
    for _ in 1..<Self.attempts {
      self = try SwarmProcess(playingOnce: scenario, arguments, command, through)
      if exitCode != 4 { return }
    }
    self = try SwarmProcess(playingOnce: scenario, arguments, command, through)
  }

  private init(
    playingOnce scenario: String, _ arguments: [String], _ command: String, _ through: String
  ) throws {
    var template = Array("/tmp/swarm-test.XXXXXX".utf8CString)
    let descriptor = unsafe mkstemp(&template)
    guard descriptor >= 0 else { throw Unexpected("mkstemp: \(errno)") }
    let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { unsafe unlink(path) }
    let bytes = Array(scenario.utf8)
    guard unsafe write(descriptor, bytes, bytes.count) == bytes.count else {
      throw Unexpected("write \(path): \(errno)")
    }
    fchmod(descriptor, 0o644)
    close(descriptor)
    let words = [Programs.swarm, command, path] + arguments
    (exitCode, output) = try Shell.run(
      through + " " + words.map { "'\($0)'" }.joined(separator: " "))
  }

  /// Whether a user who is nobody here may run the command at all.
  static func mayBeRun(by user: uid_t) -> Bool {
    unsafe system("\(becoming(user)) test -x '\(Programs.swarm)'") == 0
  }

  /// For `through`.
  static func becoming(_ user: uid_t) -> String {
    "setpriv --reuid \(user) --regid \(user) --clear-groups"
  }
}

/// Commands of the shell.
enum Shell {
  /// Runs one to its end.
  ///
  /// - Returns: its exit code, or minus the signal that ended it; what it wrote, errors too.
  static func run(_ command: String) throws -> (exitCode: Int32, output: String) {
    // Its standard error last: redirected before, it would go where this test's goes.
    guard let pipe = unsafe popen("\(command) 2>&1", "re") else {
      throw Unexpected("popen: \(errno)")
    }
    var output: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = unsafe fread(&chunk, 1, chunk.count, pipe)
      if count == 0 { break }
      output += chunk[..<count]
    }
    let status = unsafe pclose(pipe)
    let exitCode = status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
    return (exitCode, String(decoding: output, as: UTF8.self))
  }
}

/// What ends a test that cannot go on.
struct Unexpected: Error, CustomStringConvertible {
  var description: String
  init(_ description: String) { self.description = description }
}

/// Where the commands are.
enum Programs {
  static var swarm: String { "\(directory)/swarm" }
  static var relay: String { "\(directory)/relay" }
  static var wrongRelay: String { peer("wrong-relay") }
  static func peer(_ name: String) -> String { "\(parent(of: #filePath))/Peers/\(name)" }
  static var package: String { parent(of: parent(of: parent(of: #filePath))) }

  /// `TEST_BIN_DIR`, or where the tests themselves were built.
  private static let directory: String = {
    if let named = unsafe getenv("TEST_BIN_DIR") { return unsafe String(cString: named) }
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
    let own = String(decoding: buffer.prefix(max(0, count)).map(UInt8.init), as: UTF8.self)
    // Some toolchains load the bundle into a runner of theirs, and say which.
    let candidates = [own] + CommandLine.arguments.filter { $0.contains(".xctest") }
    let folders = candidates.map(parent)
    guard let folder = folders.first(where: { unsafe access("\($0)/swarm", X_OK) == 0 }) else {
      fatalError("no command \"swarm\" beside the tests; name its folder in TEST_BIN_DIR")
    }
    return folder
  }()

  private static func parent(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
  }
}
