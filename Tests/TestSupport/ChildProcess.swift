import EventLoop
import Glibc
import Platform
import Synchronization

/// A program that a test has started, and that does not outlive the test.
///
/// Two threads read its output, so that it never waits for the test. It is killed when the object
/// is released. If the test process dies first, a shell that waits for that kills the program.
public final class ChildProcess {
  /// How a program ended: its exit code, or the signal that killed it.
  public enum Outcome: Equatable, Sendable {
    case exit(Int32)
    case signal(Int32)
  }

  /// The process number.
  public let id: Int32
  private var input: Int32?
  private let guardian: Guardian
  private let ending: Mailbox<Void>
  private var outcome: Outcome?
  private let outputStream: OutputStream
  private let errorStream: OutputStream

  /// What it has written to standard output so far, except for what was taken.
  public var output: String { outputStream.text }
  /// What it has written to standard error so far.
  public var errors: String { errorStream.text }

  /// Starts a program.
  /// - Parameters:
  ///   - arguments: the program, found in PATH if it has no slash, and its arguments.
  ///   - environment: `NAME=value`, added to the test's own.
  ///   - text: its whole standard input; `nil` leaves that open, for `write` and `closeInput`.
  public init(_ arguments: [String], environment: [String] = [], input text: String? = nil) throws {
    // A program that ends early has not read all of its input.
    ignoreSIGPIPE()
    let (inputReader, inputWriter) = try ChildProgram.pipe()
    let (outputReader, outputWriter) = try ChildProgram.pipe()
    let (errorReader, errorWriter) = try ChildProgram.pipe()
    defer { for end in [inputReader, outputWriter, errorWriter] { close(end) } }
    id = try ChildProgram.start(
      arguments, environment: environment, input: .descriptor(inputReader),
      output: .descriptor(outputWriter), errors: .descriptor(errorWriter))
    guardian = try Guardian(of: id)
    outputStream = try OutputStream(outputReader)
    errorStream = try OutputStream(errorReader)
    let ending = try Mailbox<Void>()
    self.ending = ending
    let id = id
    _ = try WorkerThread(name: "await \(id)") {
      var information = unsafe siginfo_t()
      // It stays a zombie, so that no other process gets its number before `wait`.
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

  /// Writes to its standard input; blocks until the pipe has taken everything.
  public func write(_ text: String) { write(Array(text.utf8)) }

  /// Writes to its standard input; blocks until the pipe has taken everything.
  public func write(_ bytes: [UInt8]) {
    guard let input else { return }
    var bytes = bytes[...]
    while !bytes.isEmpty {
      let count = unsafe bytes.withUnsafeBytes {
        unsafe Glibc.write(input, $0.baseAddress, $0.count)
      }
      // The program ended before it read everything: its outcome says why.
      guard count > 0 else { return }
      bytes = bytes.dropFirst(count)
    }
  }

  /// Closes its input, waits for its end, and returns the lines that it has written since.
  public func end() -> [String] {
    closeInput()
    var lines: [String] = []
    while let line = readLine() { lines.append(line) }
    _ = try? wait()
    return lines
  }

  /// Ends its standard input.
  public func closeInput() {
    if let input { close(input) }
    input = nil
  }

  // MARK: The end

  /// Sends it a signal, unless `wait` has seen its end.
  public func signal(_ number: Int32) {
    if outcome == nil { kill(id, number) }
  }

  public var isRunning: Bool { outcome == nil && !ending.wait(timeoutMilliseconds: 0) }

  /// Waits until it has ended and all its output has arrived.
  @discardableResult
  public func wait(_ deadline: Deadline = Deadline()) throws -> Outcome {
    if let outcome { return outcome }
    guard ending.wait(timeoutMilliseconds: deadline.milliseconds) else {
      throw Unexpected("process \(id) has not ended; it wrote: \(output)\(errors)")
    }
    var status: Int32 = 0
    guard unsafe waitpid(id, &status, 0) == id else { throw Unexpected("waitpid: \(errno)") }
    let outcome: Outcome =
      switch ChildProgram.Outcome(status: status) {
      case .exit(let code): .exit(code)
      case .signal(let number): .signal(number)
      }
    self.outcome = outcome
    guardian.dismiss()
    // What it wrote last may still be on its way through the pipes, which end with it, unless a
    // program of its own holds them open: that gets a moment to end, too.
    let patience = Deadline(seconds: 2)
    outputStream.waitForEnd(patience)
    errorStream.waitForEnd(patience)
    return outcome
  }

  /// Waits until standard output satisfies the condition.
  public func waitForOutput(
    _ deadline: Deadline = Deadline(), until condition: (String) -> Bool
  ) throws {
    try outputStream.wait(deadline, until: condition) { unexpectedEnd }
  }

  /// Waits until standard error satisfies the condition.
  public func waitForErrors(
    _ deadline: Deadline = Deadline(), until condition: (String) -> Bool
  ) throws {
    try errorStream.wait(deadline, until: condition) { unexpectedEnd }
  }

  /// Waits for the next line of standard output, and takes it: it is no longer part of `output`.
  /// - Returns: the line without its end; `nil` at the end of the output, or at the deadline.
  public func readLine(_ deadline: Deadline = Deadline()) -> String? {
    outputStream.takeLine(deadline)
  }

  /// Waits for more standard output, and takes it: it is no longer part of `output`. For output
  /// that is too long to be kept.
  /// - Returns: an empty array at the end of the output, or at the deadline.
  public func takeOutput(_ deadline: Deadline = Deadline()) -> [UInt8] {
    outputStream.takeNews(deadline)
  }

  private var unexpectedEnd: String { "process \(id) wrote only: \(output)\n\(errors)" }
}

/// The bytes that arrive in a pipe: a thread reads them, the test's thread keeps them.
private final class OutputStream {
  private let descriptor: Int32
  private let chunks: Mailbox<[UInt8]>
  /// Whether its thread has bytes that are in no chunk yet.
  private let isReading: ReadingFlag
  private var bytes: [UInt8] = []
  private var isOver = false

  init(_ descriptor: Int32) throws {
    let (chunks, isReading) = (try Mailbox<[UInt8]>(), ReadingFlag())
    (self.descriptor, self.chunks, self.isReading) = (descriptor, chunks, isReading)
    _ = try WorkerThread(name: "read \(descriptor)") {
      var buffer = [UInt8](repeating: 0, count: 64 * 1024)
      var count = 1
      while count > 0 {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&request, 1, -1) > 0 else { continue }
        isReading.value.store(true, ordering: .sequentiallyConsistent)
        count = unsafe buffer.withUnsafeMutableBytes {
          unsafe read(descriptor, $0.baseAddress, $0.count)
        }
        chunks.post(Array(buffer[..<max(0, count)]))
        isReading.value.store(false, ordering: .sequentiallyConsistent)
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
    // A wait may end without a message.
    while bytes.isEmpty, !isOver, !deadline.hasPassed {
      _ = chunks.wait(timeoutMilliseconds: deadline.milliseconds)
      take()
    }
    defer { bytes = [] }
    return bytes
  }

  func takeLine(_ deadline: Deadline) -> String? {
    take()
    while true {
      if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
        defer { bytes.removeFirst(end + 1) }
        return String(decoding: bytes[..<end], as: UTF8.self)
      }
      if isOver || deadline.hasPassed { break }
      _ = chunks.wait(timeoutMilliseconds: deadline.milliseconds)
      take()
    }
    guard isOver, !bytes.isEmpty else { return nil }
    defer { bytes = [] }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Waits for the end of the output, or the deadline; after that for what is in the pipe, however late its thread runs.
  func waitForEnd(_ deadline: Deadline) {
    let end = Deadline()
    take()
    while !isOver, !(deadline.hasPassed && isEmpty), !end.hasPassed {
      _ = chunks.wait(timeoutMilliseconds: max(20, deadline.milliseconds))
      take()
    }
    take()
  }

  /// Whether everything that was written is in chunks.
  private var isEmpty: Bool {
    var count: Int32 = 0
    // In this order: what is not in the pipe any more was read by a thread that says so until it is in a chunk.
    return unsafe ioctl(descriptor, UInt(FIONREAD), &count) != 0
      || count == 0 && !isReading.value.load(ordering: .sequentiallyConsistent)
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

private final class ReadingFlag: Sendable {
  let value = Atomic(false)
}

/// A shell that kills a child process as soon as the test process is gone.
private final class Guardian {
  private let line: Int32
  private let id: pid_t

  init(of child: pid_t) throws {
    let (reader, writer) = try ChildProgram.pipe()
    defer { close(reader) }
    line = writer
    id = try ChildProgram.start(
      ["/bin/sh", "-c", "read -r word || kill -9 \(child)"], input: .descriptor(reader),
      output: .null, errors: .null)
  }

  /// Ends the shell. The child process has ended already.
  func dismiss() {
    _ = unsafe Glibc.write(line, "\n", 1)
    close(line)
    ChildProgram.wait(for: id)
  }
}

/// Runs a program to its end.
/// - Returns: its standard output.
/// - Throws: if the program cannot be started, or does not exit with 0.
@discardableResult
public func run(_ arguments: String...) throws -> String {
  let process = try ChildProcess(arguments, input: "")
  let outcome = try process.wait()
  guard outcome == .exit(0) else {
    throw Unexpected("\(arguments.joined(separator: " ")): \(outcome)\n\(process.errors)")
  }
  return process.output
}
