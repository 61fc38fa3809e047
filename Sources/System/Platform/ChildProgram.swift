internal import CLinux
internal import Glibc

/// Starts programs and waits for them.
public enum ChildProgram {
  /// How a program ended: its exit code, or the signal that killed it.
  public enum Outcome: Equatable, Sendable, CustomStringConvertible {
    case exit(Int32)
    case signal(Int32)

    /// Interprets a status of waitpid(2).
    public init(status: Int32) {
      let signal = status & 0x7F
      self = signal == 0 ? .exit((status >> 8) & 0xFF) : .signal(signal)
    }

    /// For a message.
    public var description: String {
      switch self {
      case .exit(let code): "exit code \(code)"
      case .signal(let number): "signal \(number)"
      }
    }
  }

  /// A standard stream of a program.
  public enum Stream: Sendable {
    /// The same as this process's.
    case inherited
    case null
    case descriptor(Int32)
    /// A file to which the program appends; a new one is accessible to its owner only.
    case appending(String)
  }

  /// Starts a program (posix_spawn(3)): no signal is blocked, all have their default handling.
  ///
  /// - Parameters:
  ///   - words: The program, looked for in `PATH` if it has no slash, and its arguments.
  ///   - environment: Added to this process's own, such as `NAME=value`; takes precedence.
  ///   - leadsGroup: Whether it begins a process group, as a shell's jobs do: signals of the
  ///     terminal do not reach it, and `kill(-id, …)` reaches the programs that it starts.
  ///   - leadsSession: Whether it begins a session (setsid(2)), which is a group without a terminal: it
  ///     can neither read keys from `/dev/tty` nor write there.
  /// - Returns: The number of the process.
  public static func start(
    _ words: [String], environment: [String] = [], input: Stream = .inherited,
    output: Stream = .inherited, errors: Stream = .inherited, leadsGroup: Bool = false,
    leadsSession: Bool = false
  ) throws(SystemError) -> Int32 {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    for (target, stream) in [input, output, errors].enumerated() {
      let target = Int32(target)
      switch stream {
      case .inherited: break
      case .null:
        unsafe posix_spawn_file_actions_addopen(&actions, target, "/dev/null", O_RDWR, 0)
      case .descriptor(let descriptor):
        unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, target)
      case .appending(let path):
        let flags = O_WRONLY | O_CREAT | O_APPEND
        unsafe posix_spawn_file_actions_addopen(&actions, target, path, flags, 0o600)
      }
    }
    let names = environment.map { $0.prefix { $0 != "=" } + "=" }
    var variables = environment
    var next = unsafe environ
    while let variable = unsafe next.pointee {
      // Of two variables of one name, C programs take the first and shells the last.
      let isReplaced = names.contains { name in
        unsafe strncmp(variable, String(name), name.utf8.count) == 0
      }
      if !isReplaced { unsafe variables.append(String(cString: variable)) }
      unsafe next += 1
    }
    // POSIX_SPAWN_SETSID of glibc.
    let group = leadsSession ? 0x80 : leadsGroup ? POSIX_SPAWN_SETPGROUP : 0
    return try unsafe spawn(words, environment: variables, actions: &actions, flags: group)
  }

  /// Starts a program with these actions, this environment and no other.
  static func spawn(
    _ words: [String], environment: [String], actions: inout posix_spawn_file_actions_t,
    flags: Int32
  ) throws(SystemError) -> Int32 {
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe posix_spawnattr_setsigmask(&attributes, &signals)
    unsafe sigfillset(&signals)
    unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    unsafe posix_spawnattr_setflags(
      &attributes, Int16(flags | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
    var variables = unsafe environment.map { unsafe strdup($0) } + [nil]
    defer {
      unsafe arguments.forEach { unsafe free($0) }
      unsafe variables.forEach { unsafe free($0) }
    }
    var id = pid_t()
    let code = unsafe posix_spawnp(
      &id, words[0], &actions, &attributes, &arguments, &variables)
    guard code == 0 else { throw SystemError("start \(words[0])", code: code) }
    return id
  }

  /// Waits until it has ended.
  @discardableResult
  public static func wait(for id: Int32) -> Outcome {
    var status: Int32 = 0
    while unsafe waitpid(id, &status, 0) < 0, errno == EINTR {}
    return Outcome(status: status)
  }

  /// Returns how it has ended; `nil` if it has not.
  public static func outcome(of id: Int32) -> Outcome? {
    var status: Int32 = 0
    var result = unsafe waitpid(id, &status, WNOHANG)
    while result < 0, errno == EINTR { result = unsafe waitpid(id, &status, WNOHANG) }
    return result == id ? Outcome(status: status) : nil
  }

  /// Returns a pipe that no program inherits, except by `Stream.descriptor`.
  public static func pipe() throws(SystemError) -> (reader: Int32, writer: Int32) {
    var ends: [Int32] = [0, 0]
    guard unsafe clinux_pipe(&ends) == 0 else { throw SystemError.last("pipe2") }
    return (ends[0], ends[1])
  }
}
