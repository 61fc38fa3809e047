import EventLoop
import Glibc
import Platform

/// A program that a test has started, and that does not outlive the test.
///
/// Its output is read by threads of their own, so that it never waits for the test. It is killed
/// with the object; should the test's own process die first, a shell that waits for that does it.
final class ChildProcess {
  /// How it ended.
  enum Outcome: Equatable {
    case exit(Int32)
    case signal(Int32)
  }

  let id: pid_t
  private var input: Int32?
  private let guardian: Guardian
  private let ending: Mailbox<Void>
  private var outcome: Outcome?
  private let outputStream: OutputStream
  private let errorStream: OutputStream

  /// What it has written to standard output so far.
  var output: String { outputStream.text }
  /// What it has written to standard error so far.
  var errors: String { errorStream.text }

  /// - Parameters:
  ///   - arguments: the program, found in PATH if it has no slash, and its arguments.
  ///   - environment: `NAME=value`, added to the test's own.
  ///   - text: its standard input, all of it; `nil` leaves that open, to be written and closed.
  init(_ arguments: [String], environment: [String] = [], input text: String? = nil) throws {
    // Who ends early does not read all of its input.
    ignoreSIGPIPE()
    let (inputReader, inputWriter) = try pipe()
    let (outputReader, outputWriter) = try pipe()
    let (errorReader, errorWriter) = try pipe()
    defer { for end in [inputReader, outputWriter, errorWriter] { close(end) } }
    id = try spawn(
      arguments, environment: environment,
      descriptors: [inputReader, outputWriter, errorWriter])
    guardian = try Guardian(of: id)
    outputStream = try OutputStream(outputReader)
    errorStream = try OutputStream(errorReader)
    let ending = try Mailbox<Void>()
    self.ending = ending
    let id = id
    _ = try WorkerThread(name: "await \(id)") {
      var information = unsafe siginfo_t()
      // It stays a zombie, so that its number is nobody else's until we have taken note.
      while unsafe waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT) != 0 {}
      ending.post(())
    }
    input = inputWriter
    if let text {
      write(text)
      closeInput()
    }
  }

  deinit {
    closeInput()
    kill(id, SIGKILL)
    _ = try? wait()
  }

  // MARK: Input

  func write(_ text: String) {
    guard let input else { return }
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = unsafe bytes.withUnsafeBytes {
        unsafe Glibc.write(input, $0.baseAddress, $0.count)
      }
      // It has ended before it read everything: its outcome says why.
      guard count > 0 else { return }
      bytes = bytes.dropFirst(count)
    }
  }

  func closeInput() {
    if let input { close(input) }
    input = nil
  }

  // MARK: The end

  func signal(_ number: Int32) {
    if outcome == nil { kill(id, number) }
  }

  var isRunning: Bool { outcome == nil && !ending.wait(timeoutMilliseconds: 0) }

  /// Waits until it has ended, and all that it wrote is there.
  @discardableResult
  func wait(_ deadline: Deadline = Deadline()) throws -> Outcome {
    if let outcome { return outcome }
    guard ending.wait(timeoutMilliseconds: deadline.milliseconds) else {
      throw Unexpected("process \(id) goes on; it wrote: \(output)\(errors)")
    }
    var status: Int32 = 0
    guard unsafe waitpid(id, &status, 0) == id else { throw Unexpected("waitpid: \(errno)") }
    let signal = status & 0x7F
    let outcome: Outcome = signal == 0 ? .exit((status >> 8) & 0xFF) : .signal(signal)
    self.outcome = outcome
    guardian.dismiss()
    // What it wrote last may still be on its way through the pipes, which end with it, unless a
    // program of its own holds them open.
    let drained = Deadline(seconds: 2)
    outputStream.waitForEnd(drained)
    errorStream.waitForEnd(drained)
    return outcome
  }

  /// Waits until standard output satisfies the condition.
  func waitForOutput(
    _ deadline: Deadline = Deadline(), until condition: (String) -> Bool
  ) throws {
    try outputStream.wait(deadline, until: condition) { unexpectedEnd }
  }

  /// Waits until standard error satisfies the condition.
  func waitForErrors(
    _ deadline: Deadline = Deadline(), until condition: (String) -> Bool
  ) throws {
    try errorStream.wait(deadline, until: condition) { unexpectedEnd }
  }

  /// Waits for more standard output, and takes it: it is no part of `output` any more. For
  /// conversations so long that they are not to be kept.
  /// - Returns: nothing where the time has passed or the output has ended.
  func takeOutput(_ deadline: Deadline = Deadline()) -> [UInt8] {
    outputStream.takeNews(deadline)
  }

  private var unexpectedEnd: String { "process \(id) wrote only: \(output)\n\(errors)" }
}

/// What arrives in a pipe: read by a thread, kept by whoever asks.
private final class OutputStream {
  private let chunks: Mailbox<[UInt8]>
  private var bytes: [UInt8] = []
  private var isOver = false

  init(_ descriptor: Int32) throws {
    let chunks = try Mailbox<[UInt8]>()
    self.chunks = chunks
    _ = try WorkerThread(name: "read \(descriptor)") {
      var buffer = [UInt8](repeating: 0, count: 64 * 1024)
      while true {
        let count = unsafe buffer.withUnsafeMutableBytes {
          unsafe read(descriptor, $0.baseAddress, $0.count)
        }
        if count < 0, errno == EINTR { continue }
        chunks.post(Array(buffer[..<max(0, count)]))
        if count <= 0 { break }
      }
      close(descriptor)
    }
  }

  var text: String {
    take()
    return String(decoding: bytes, as: UTF8.self)
  }

  func wait(
    _ deadline: Deadline, until condition: (String) -> Bool, otherwise: () -> String
  ) throws {
    while !condition(text) {
      if isOver || deadline.hasPassed { throw Unexpected(otherwise()) }
      _ = chunks.wait(timeoutMilliseconds: deadline.milliseconds)
    }
  }

  func takeNews(_ deadline: Deadline) -> [UInt8] {
    take()
    if bytes.isEmpty, !isOver {
      _ = chunks.wait(timeoutMilliseconds: deadline.milliseconds)
      take()
    }
    defer { bytes = [] }
    return bytes
  }

  func waitForEnd(_ deadline: Deadline) {
    take()
    while !isOver, !deadline.hasPassed {
      _ = chunks.wait(timeoutMilliseconds: deadline.milliseconds)
      take()
    }
  }

  private func take() {
    var news: [[UInt8]] = []
    chunks.drain(into: &news)
    for chunk in news {
      if chunk.isEmpty { isOver = true }
      bytes += chunk
    }
  }
}

/// A shell that kills a process as soon as ours is gone.
private final class Guardian {
  private let line: Int32
  private let id: pid_t

  init(of child: pid_t) throws {
    let (reader, writer) = try pipe()
    defer { close(reader) }
    let null = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
    defer { close(null) }
    line = writer
    id = try spawn(
      ["/bin/sh", "-c", "read -r word || kill -9 \(child)"], environment: [],
      descriptors: [reader, null, null])
  }

  /// The process has ended by itself.
  func dismiss() {
    _ = unsafe Glibc.write(line, "\n", 1)
    close(line)
    var status: Int32 = 0
    _ = unsafe waitpid(id, &status, 0)
  }
}

/// A pipe that no other process inherits.
private func pipe() throws -> (reader: Int32, writer: Int32) {
  var ends: [Int32] = [0, 0]
  guard unsafe Glibc.pipe(&ends) == 0 else { throw Unexpected("pipe: \(errno)") }
  for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
  return (ends[0], ends[1])
}

/// Starts a program with these descriptors as its 0, 1, 2, and signals as a shell leaves them.
private func spawn(
  _ arguments: [String], environment: [String], descriptors: [Int32]
) throws -> pid_t {
  var actions = unsafe posix_spawn_file_actions_t()
  unsafe posix_spawn_file_actions_init(&actions)
  defer { unsafe posix_spawn_file_actions_destroy(&actions) }
  for (target, descriptor) in descriptors.enumerated() {
    unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(target))
  }
  var attributes = posix_spawnattr_t()
  unsafe posix_spawnattr_init(&attributes)
  defer { unsafe posix_spawnattr_destroy(&attributes) }
  var signals = sigset_t()
  unsafe sigemptyset(&signals)
  unsafe posix_spawnattr_setsigmask(&attributes, &signals)
  unsafe sigfillset(&signals)
  unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
  unsafe posix_spawnattr_setflags(
    &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

  var inherited: [String] = []
  var next = unsafe environ
  while let entry = unsafe next.pointee {
    inherited.append(unsafe String(cString: entry))
    unsafe next = next.advanced(by: 1)
  }
  // Of two variables of one name the first one counts.
  var variables = unsafe (environment + inherited).map { unsafe strdup($0) } + [nil]
  var words = unsafe arguments.map { unsafe strdup($0) } + [nil]
  defer {
    unsafe variables.forEach { unsafe free($0) }
    unsafe words.forEach { unsafe free($0) }
  }
  var id = pid_t()
  let code = unsafe posix_spawnp(&id, arguments[0], &actions, &attributes, &words, &variables)
  guard code == 0 else { throw Unexpected("\(arguments[0]) cannot be started: \(code)") }
  return id
}
