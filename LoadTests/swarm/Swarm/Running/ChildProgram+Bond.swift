internal import Glibc
internal import Platform

/// Programs that do not outlive swarm.
extension ChildProgram {
  /// The signal that the child is sent if swarm ends first: prctl(2), `PR_SET_PDEATHSIG`.
  enum Bond: String {
    case kill = "KILL"
    case terminate = "TERM"
  }

  /// Starts a program in its own process group, so that Ctrl-C on the terminal goes to swarm only.
  ///
  /// - Parameters:
  ///   - words: The path and the arguments.
  ///   - bond: Used only if the system has setpriv(1).
  ///   - environment: Added to this process's own, such as `NAME=value`; takes precedence.
  ///   - output: A file to which standard output and standard error are appended.
  static func start(
    _ words: [String], bond: Bond, environment: [String] = [], output: String
  ) throws(SystemError) -> Int32 {
    let guardian = "/usr/bin/setpriv"
    let isGuarded = unsafe access(guardian, X_OK) == 0
    let all = (isGuarded ? [guardian, "--pdeathsig", bond.rawValue] : []) + words
    return try start(
      all, environment: environment, input: .null, output: .appending(output),
      errors: .appending(output), leadsGroup: true)
  }
}
