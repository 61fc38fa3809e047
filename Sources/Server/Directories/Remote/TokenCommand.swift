internal import Glibc
internal import Platform

/// Runs the operator's command that prints a token.
enum TokenCommand {
  static let timeoutMilliseconds: Int64 = 30_000
  private static let outputLimitBytes = 8192

  /// Blocks until the command exits, or is killed after the timeout or because the directory stops.
  /// Its standard error is the relay's; its output is never logged.
  static func run(
    _ command: String, _ stop: StopSignal, timeoutMilliseconds: Int64 = timeoutMilliseconds
  ) throws(FetchError) -> String {
    let program: (id: pid_t, output: Int32)
    do throws(SystemError) {
      program = try start(command)
    } catch {
      throw .failed("The token command cannot be started.", detail: "\(error)")
    }
    let end = milliseconds() + timeoutMilliseconds
    let output = read(program.output, of: program.id, stop, until: end)
    close(program.output)
    // Kills its children, too. Its process group's id stays reserved until it is reaped.
    kill(-program.id, SIGKILL)
    var status: Int32 = 0
    while unsafe waitpid(program.id, &status, 0) < 0, errno == EINTR {}
    if stop.isRaised { throw .stopped }
    guard let output else {
      throw .failed(
        milliseconds() >= end
          ? "The token command did not exit within \(timeoutMilliseconds / 1000) s."
          : "The token command printed more than a token.")
    }
    guard status == 0 else {
      let signal = status & 0x7F
      let ending = signal == 0 ? "exit \((status >> 8) & 0xFF)" : "signal \(signal)"
      throw .failed("The token command failed (\(ending)).")
    }
    let token = String(decoding: output, as: UTF8.self).trimmed
    guard TokenSource.isToken(token) else {
      throw .failed("The token command printed no token.")
    }
    return token
  }

  /// Reads the output until the command exits; `nil` if it is too long or takes too long.
  private static func read(
    _ descriptor: Int32, of id: pid_t, _ stop: StopSignal, until end: Int64
  ) -> [UInt8]? {
    var output: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1024)
    while !stop.isRaised {
      // Checked before reading: after the exit, all output is in the pipe.
      let isOver = hasEnded(id)
      while true {
        let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
        if count < 0, errno == EINTR { continue }
        if count <= 0 { break }
        output += chunk[..<count]
        guard output.count <= outputLimitBytes else { return nil }
      }
      if isOver { return output }
      guard milliseconds() < end else { return nil }
      // Polls, since the exit, unlike the output, has no descriptor to wait for.
      stop.wait(milliseconds: 10)
    }
    return nil
  }

  private static func hasEnded(_ id: pid_t) -> Bool {
    var information = unsafe siginfo_t()
    let code = unsafe waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT | WNOHANG)
    return unsafe code == 0 && information.si_signo == SIGCHLD
  }

  /// Starts a shell in its own process group, with the default signal handling.
  private static func start(_ command: String) throws(SystemError) -> (id: pid_t, output: Int32) {
    var ends: [Int32] = [0, 0]
    guard unsafe pipe(&ends) == 0 else { throw SystemError.last("pipe") }
    defer { close(ends[1]) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
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
      &attributes,
      Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    let line = ["sh", "-c", command]
    var words = unsafe line.map { unsafe strdup($0) } + [nil]
    defer { unsafe words.forEach { unsafe free($0) } }
    var id = pid_t()
    let code = unsafe posix_spawn(&id, "/bin/sh", &actions, &attributes, &words, environ)
    guard code == 0 else {
      close(ends[0])
      throw SystemError("posix_spawn /bin/sh", code: code)
    }
    return (id, ends[0])
  }

  private static func milliseconds() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
