internal import Glibc
internal import Platform

/// Starts programs and waits for them.
enum ChildProgram {
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
  ) throws(SystemError) -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    let flags = O_WRONLY | O_CREAT | O_APPEND
    unsafe posix_spawn_file_actions_addopen(&actions, 1, output, flags, 0o600)
    unsafe posix_spawn_file_actions_adddup2(&actions, 1, 2)
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    let guardian = "/usr/bin/setpriv"
    let isGuarded = unsafe access(guardian, X_OK) == 0
    let all = (isGuarded ? [guardian, "--pdeathsig", bond.rawValue] : []) + words
    var arguments = unsafe all.map { unsafe strdup($0) } + [nil]
    var variables = unsafe environment.map { unsafe strdup($0) }
    defer {
      unsafe arguments.forEach { unsafe free($0) }
      unsafe variables.prefix(environment.count).forEach { unsafe free($0) }
    }
    var next = unsafe environ
    while let variable = unsafe next.pointee {
      unsafe variables.append(variable)
      unsafe next += 1
    }
    unsafe variables.append(nil)
    var id = pid_t()
    let code = unsafe posix_spawn(&id, all[0], &actions, &attributes, &arguments, &variables)
    guard code == 0 else { throw SystemError("start \(words[0])", code: code) }
    return id
  }

  /// Waits until it has ended.
  ///
  /// - Returns: The status of waitpid(2).
  @discardableResult
  static func wait(for id: pid_t) -> Int32 {
    var status: Int32 = 0
    while unsafe waitpid(id, &status, 0) < 0, errno == EINTR {}
    return status
  }
}
