import Glibc
import TestSupport

/// The command itself, run to its end with a scenario of its own.
struct SwarmProcess {
  private(set) var exitCode: Int32
  /// Standard output and standard error together.
  private(set) var output: String

  /// Void means that this machine was too busy for a result: such a run is repeated.
  private static let attempts = 3

  /// - Parameters:
  ///   - arguments: after `swarm run FILE`.
  ///   - command: the command that gets the scenario.
  ///   - through: the beginning of the command line, for a shell.
  ///   - repeatsVoid: whether the test needs figures; a void run has checked the promises as well.
  init(
    playing scenario: String, _ arguments: [String] = [], command: String = "run",
    through: String = "", repeatsVoid: Bool = true
  ) throws {
    for _ in 1..<(repeatsVoid ? Self.attempts : 1) {
      self = try SwarmProcess(playingOnce: scenario, arguments, command, through)
      if exitCode != 4 { return }
    }
    self = try SwarmProcess(playingOnce: scenario, arguments, command, through)
  }

  private init(
    playingOnce scenario: String, _ arguments: [String], _ command: String, _ through: String
  ) throws {
    let folder = try TemporaryFolder()
    let path = folder["scenario.yaml"]
    try folder.write(scenario, to: "scenario.yaml")
    // Another user may have to read it, see `becoming`.
    unsafe chmod(folder.path, 0o755)
    unsafe chmod(path, 0o644)
    let words = [Programs.swarm, command, path] + arguments
    (exitCode, output) = try Shell.run(
      through + " " + words.map { "'\($0)'" }.joined(separator: " "))
  }

  /// Whether an unprivileged user may run the command at all.
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

extension Programs {
  static var swarm: String { path(of: "swarm") }
  static var relay: String { path(of: "relay") }
  static var wrongRelay: String { peer("wrong-relay") }
  static func peer(_ name: String) -> String { Project["Tests/SwarmTests/Peers/\(name)"] }
}
