import Glibc
import Synchronization

/// A program that a test starts, with pipes to and from it; ended and waited for when it goes.
@safe final class ChildProcess {
  struct CannotStart: Error { let path: String, code: Int32 }

  /// Held from a pipe's making to its mark that no other child shall have it.
  private static let starting = Mutex(())

  private let pid: pid_t
  private var input: Int32
  private var output: Int32
  let errors: Int32
  private var status: Int32?

  /// - Parameter environment: in place of ours.
  init(_ arguments: [String], environment: [String] = ["PATH=/usr/bin:/bin"]) throws {
    // Children of parallel tests must not keep each other's pipes open.
    let pipes = Self.starting.withLock { _ in (Self.pipe(), Self.pipe(), Self.pipe()) }
    let (theirInput, input) = pipes.0
    let (output, theirOutput) = pipes.1
    let (errors, theirErrors) = pipes.2
    // Nobody reads until the child has said everything: it must not wait for that.
    _ = fcntl(output, Self.setPipeSize, 1 << 20)
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    for (ours, number) in [(theirInput, 0), (theirOutput, 1), (theirErrors, 2)] {
      unsafe posix_spawn_file_actions_adddup2(&actions, ours, Int32(number))
    }
    // The threads that tests run on block signals, which a child would inherit.
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var argv = unsafe arguments.map { unsafe strdup($0) } + [nil]
    var envp = unsafe environment.map { unsafe strdup($0) } + [nil]
    defer { unsafe (argv + envp).forEach { unsafe free($0) } }
    var pid = pid_t()
    let code = Self.starting.withLock { _ in
      unsafe posix_spawn(&pid, arguments[0], &actions, &attributes, &argv, &envp)
    }
    for end in [theirInput, theirOutput, theirErrors] { Glibc.close(end) }
    self.pid = pid
    self.input = input
    self.output = output
    self.errors = errors
    guard code == 0 else {
      status = 127
      throw CannotStart(path: arguments[0], code: code)
    }
  }

  deinit {
    if status == nil {
      Glibc.kill(pid, SIGKILL)
      _ = wait()
    }
    closeInput()
    closeOutput()
    Glibc.close(errors)
  }

  /// `F_SETPIPE_SZ`, which Glibc's module leaves out.
  private static let setPipeSize: Int32 = 1031

  private static func pipe() -> (read: Int32, write: Int32) {
    var ends: [Int32] = [-1, -1]
    let code = unsafe Glibc.pipe(&ends)
    precondition(code == 0, "no pipe")
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  func closeInput() {
    if input >= 0 { Glibc.close(input) }
    input = -1
  }

  /// Gives up reading, as `head` does.
  func closeOutput() {
    if output >= 0 { Glibc.close(output) }
    output = -1
  }

  func write(_ text: String) { write(bytes: Array(text.utf8)) }

  func write(bytes: [UInt8]) {
    var bytes = bytes[...]
    while !bytes.isEmpty {
      let count = unsafe bytes.withUnsafeBytes {
        unsafe Glibc.write(input, $0.baseAddress, $0.count)
      }
      guard count > 0 else { return }
      bytes = bytes.dropFirst(count)
    }
  }

  func signal(_ number: Int32) { Glibc.kill(pid, number) }

  /// The exit code; a signal counts as 128 more, as in a shell.
  func wait() -> Int32 {
    if let status { return status }
    // Its end closes the pipe.
    awaitEvents(0, on: errors)
    var raw: Int32 = 0
    while unsafe waitpid(pid, &raw, 0) < 0, errno == EINTR {}
    let code = raw & 0x7F == 0 ? (raw >> 8) & 0xFF : 128 + (raw & 0x7F)
    status = code
    return code
  }

  /// A child that hangs is killed, so that its test fails instead of hanging, too.
  private static let patienceMilliseconds: Int32 = 60_000

  @discardableResult
  private func awaitEvents(_ events: Int32, on descriptor: Int32) -> Bool {
    var request = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    if unsafe poll(&request, 1, Self.patienceMilliseconds) == 0 {
      Glibc.kill(pid, SIGKILL)
      return false
    }
    return true
  }

  /// One line of the output, without its end; `nil` at the end.
  func readLine() -> String? {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while awaitEvents(POLLIN, on: output), unsafe Glibc.read(output, &byte, 1) == 1 {
      if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
      line.append(byte)
    }
    return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
  }

  /// All that is left of a pipe.
  static func readAll(_ descriptor: Int32) -> String {
    var text: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
      guard count > 0 else { return String(decoding: text, as: UTF8.self) }
      text.append(contentsOf: chunk[..<count])
    }
  }
}
