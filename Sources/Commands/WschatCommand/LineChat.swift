import ArgumentParser
import Client
import EventLoop
import Glibc
import Messenger
import Platform
internal import Terminal
import Wire

/// The line mode: sends standard input to the relay and prints what the relay sends.
final class LineChat {
  static let refused = ExitCode(1)
  static let usage = ExitCode(2)
  static let accessDenied = ExitCode(4)
  static let noConnection = ExitCode(5)

  /// Standard input is not read while this much is unacknowledged.
  static let pendingLines = 512
  /// Longer than any line that a relay accepts; longer lines are refused unsent.
  static let lineLimitBytes = 1 << 20
  static let pendingBytes = 1 << 20

  struct Pending {
    let number: Int
    let bytes: Int
  }

  let options: Options
  private let dispatcher: Dispatcher
  let client: Client
  private let input: Input
  /// Reports a closed reader while there is nothing to write; a file cannot be watched.
  private var outputWatch: Watch?
  private var signals: SignalWatch?
  private lazy var timeout = Alarm(on: dispatcher) { [unowned self] in checkTimeout() }
  private(set) lazy var searchRetry = Alarm(on: dispatcher) { [unowned self] in searchAgain() }
  let renewal: TokenRenewal?
  /// The relay refuses the user, unless there is another token.
  var isLockedOut = false
  var output = Output(descriptor: STDOUT_FILENO)
  private let isTerminal = isatty(STDOUT_FILENO) == 1
  /// Whether a person types the lines: then a command of the screen is not sent by accident.
  private let isTyped = isatty(STDIN_FILENO) == 1

  var room: String?
  private var splitter = LineSplitter(limitBytes: LineChat.lineLimitBytes)
  var pending: [String: Pending] = [:]
  /// The commands about people that the relay has not answered, by `ref`, with the number of the line.
  var asked: [String: (request: PersonCommand.Request, number: Int)] = [:]
  /// The last message of another person.
  var lastOfOthers: Int64?
  /// Hidden entries that follow each other, and whether the line about them is printed.
  var hidden: (last: Entry, count: Int)?
  var isHiddenPrinted = false
  private var pendingBytes = 0
  private var inputIsOver = false
  var wasWelcomed = false
  var wasJoined = false
  private var somethingWasRefused = false
  /// The last entry that existed at the join, until it is printed.
  var historyEnd: Int64?
  var printed: Int64 = 0
  /// The position in the room, and the last own line that the relay has acknowledged: its entry may
  /// arrive after the acknowledgement.
  var position: Int64 = 0
  var echoEnd: Int64 = 0
  private var progressAt: Instant
  private var timeoutDue = Instant(nanoseconds: 0)
  /// Why there is no connection; printed once in a row.
  var lastConnectionError = ""
  /// The relay's last error that answers no request: usually the reason of the close that follows.
  var parting: String?
  /// The user, as the relay knows it.
  var ownName: String?
  /// Looks for the other user of the direct room.
  var search: PeopleSearch?
  /// The files that are sent first; `nil` for none.
  let attachments: Attachments?
  /// The files that the relay has not acknowledged: the paths, by the ids of their messages.
  var attached: [String: String] = [:]
  var exitCode: ExitCode?

  init(
    _ configuration: Client.Configuration, _ options: Options, tokens: TokenCommand? = nil
  ) throws(SystemError) {
    self.options = options
    let dispatcher = try Dispatcher()
    self.dispatcher = dispatcher
    client = Client(configuration, on: dispatcher.clients)
    input = Input(descriptor: STDIN_FILENO, on: dispatcher)
    renewal = try tokens.map { command throws(SystemError) in
      try TokenRenewal(command, on: dispatcher)
    }
    attachments =
      options.attachments.isEmpty ? nil : try Attachments(options.attachments, on: dispatcher)
    progressAt = dispatcher.loop.now

    client.handler = self
    input.receive = { [unowned self] in receive($0) }
    renewal?.ended = { [unowned self] in use($0) }
    dispatcher.endTurn = { [unowned self] in if exitCode == nil { flushAndMark() } }
  }

  /// Runs until the chat ends.
  func run() -> ExitCode {
    do {
      signals = try SignalWatch([SIGINT, SIGTERM], on: dispatcher) { [unowned self] _ in
        // The second signal ends the program at once.
        if exitCode != nil { stop() }
        finish(outcome)
      }
    } catch {
      complain("\(error)")
      return Self.refused
    }
    outputWatch = try? Watch(STDOUT_FILENO, for: [], on: dispatcher) { [unowned self] _ in
      readerClosed()
    }
    client.start()
    scheduleTimeout()
    dispatcher.run()
    return exitCode ?? Self.refused
  }

  // MARK: The end

  /// Whether an answer of the relay is still expected.
  private var isWaiting: Bool {
    !wasJoined || !pending.isEmpty || !asked.isEmpty || historyEnd != nil || search != nil
      || awaitsEcho || sendsFiles
  }

  /// Whether a file is not uploaded, or its message is not acknowledged.
  private var sendsFiles: Bool { attachments?.isEmpty == false || !attached.isEmpty }

  /// Whether an own line is stored, but has not been received back to be printed at the end.
  var awaitsEcho: Bool { echoEnd > position && !options.isQuiet && !options.follows }

  func finishIfDone() {
    if inputIsOver, !options.follows, !isWaiting { finish(outcome) }
  }

  private var outcome: ExitCode {
    if !wasWelcomed { return Self.noConnection }
    return somethingWasRefused || !pending.isEmpty || sendsFiles ? Self.refused : .success
  }

  func finish(_ code: ExitCode) {
    guard exitCode == nil else { return }
    exitCode = code
    input.close()
    // Entries that were printed are marked as read before closing.
    flushAndMark()
    client.close()
  }

  func stop() { dispatcher.loop.stop() }

  func recordProgress() { progressAt = dispatcher.loop.now }

  private func scheduleTimeout() {
    timeoutDue = progressAt.adding(milliseconds: options.timeoutMilliseconds)
    timeout.set(at: timeoutDue)
  }

  private func checkTimeout() {
    let limit = options.timeoutMilliseconds
    let now = dispatcher.loop.now
    let late = now.milliseconds(since: timeoutDue)
    if late > ClientSession.pauseMilliseconds {
      // The process did not run; what has arrived meanwhile is read first.
      progressAt = progressAt.adding(milliseconds: late + ClientSession.pauseMilliseconds)
    }
    if isWaiting, exitCode == nil {
      if now.milliseconds(since: progressAt) >= limit {
        if search != nil, wasJoined {
          // The answer would only have been a warning.
          search = nil
          finishIfDone()
          if !isWaiting { return checkTimeout() }
        }
        complain(timeoutComplaint)
        // A line that was acknowledged is stored, whether or not it is printed.
        let isStored = wasJoined && pending.isEmpty && !sendsFiles && historyEnd == nil
        return finish(isStored ? outcome : wasWelcomed ? Self.refused : Self.noConnection)
      }
    } else {
      progressAt = now
    }
    scheduleTimeout()
  }

  private var timeoutComplaint: String {
    let milliseconds = options.timeoutMilliseconds
    let seconds =
      milliseconds % 1000 == 0 ? "\(milliseconds / 1000)" : "\(Double(milliseconds) / 1000)"
    if !wasWelcomed {
      // The reason has been printed, unless it was left out.
      let reason = options.isQuiet && !lastConnectionError.isEmpty ? ": \(lastConnectionError)" : ""
      return "no connection after \(seconds) s\(reason)"
    }
    if sendsFiles, pending.isEmpty { return "a file was not sent: no progress for \(seconds) s" }
    if pending.isEmpty, historyEnd == nil, awaitsEcho {
      return "every line is stored, but the relay has not sent the last ones back for \(seconds) s"
    }
    if pending.isEmpty { return "no answer from the relay for \(seconds) s" }
    let first = pending.values.map(\.number).min() ?? 0
    let lines = pending.count == 1 ? "1 line was" : "\(pending.count) lines were"
    return "\(lines) not acknowledged, the first is line \(first);"
      + " no progress for \(seconds) s"
  }

  // MARK: Input

  func readInput() {
    guard wasJoined, exitCode == nil, attachments?.isEmpty ?? true else { return }
    if wantsInput { input.resume() }
  }

  private var wantsInput: Bool {
    pending.count < Self.pendingLines && pendingBytes < Self.pendingBytes
  }

  private func receive(_ chunk: Input.Chunk) -> Bool {
    switch chunk {
    case .bytes(let bytes):
      unsafe splitter.append(bytes.span.bytes)
      sendLines()
      return wantsInput
    case .failed(let error):
      complain("\(error)")
      somethingWasRefused = true
      fallthrough
    case .end:
      splitter.finish()
      sendLines()
      inputIsOver = true
      finishIfDone()
      return false
    }
  }

  private func sendLines() {
    while let line = splitter.next() { send(line, number: splitter.number) }
  }

  private func send(_ line: LineSplitter.Line, number: Int) {
    guard let room else { preconditionFailure("input is read once a room is joined") }
    switch line {
    case .bytes(let bytes):
      guard var text = String(validating: bytes, as: UTF8.self) else {
        return refuse(number, "it is not valid UTF-8")
      }
      if text.unicodeScalars.allSatisfy(\.properties.isWhitespace) { return }
      if isTyped {
        switch SlashCommand.read(text) {
        case .text(let unescaped): text = unescaped
        case .command(let command, let argument):
          return perform(command, argument, number: number)
        // Paths are written more often than mistyped commands that have two slashes.
        case .unknown(let name) where name.dropFirst().contains("/"): break
        case .unknown(let name):
          return complain(
            "\(name) is no command, and was not sent; begin the line with // to send it as text")
        }
      }
      expectAnswer(to: client.send(text, to: room), number: number, bytes: text.utf8.count)
    case .tooLong: refuse(number, "it is longer than \(Self.lineLimitBytes) bytes")
    }
  }

  /// Records that an entry is on its way.
  func expectAnswer(to id: String, number: Int, bytes: Int) {
    if pending.isEmpty { recordProgress() }
    pending[id] = Pending(number: number, bytes: bytes)
    pendingBytes += bytes
  }

  func refuse(_ number: Int, _ reason: String) {
    somethingWasRefused = true
    complain("line \(number) was refused: \(reason)")
  }

  func refuse(file path: String, _ reason: String) {
    somethingWasRefused = true
    complain("the file \(path) was not sent: \(reason)")
  }

  func completeLine(_ id: String) -> Int? {
    guard let line = pending.removeValue(forKey: id) else { return nil }
    pendingBytes -= line.bytes
    recordProgress()
    return line.number
  }

  // MARK: Output

  func complain(_ text: String) {
    // Standard output may be the same terminal: its text comes first.
    flushOutput()
    write("wschat: \(TerminalText.line(text))\n", to: STDERR_FILENO)
  }

  /// Complains about what may still turn out well.
  func warn(_ text: String) {
    if !options.isQuiet { complain(text) }
  }

  func flushOutput() {
    switch output.flush() {
    case .done: break
    case .closed: readerClosed()
    case .failed(let error):
      write("wschat: standard output: \(error)\n", to: STDERR_FILENO)
      outputFailed()
    }
  }

  /// With `--follow` the reader decides when it has seen enough.
  private func readerClosed() {
    if options.follows, wasWelcomed, pending.isEmpty { finish(.success) } else { outputFailed() }
  }

  /// Ends the chat, or changes the exit code of one that is ending: its last output is written then.
  private func outputFailed() {
    if exitCode == .success { exitCode = Self.refused }
    finish(Self.refused)
  }

  private func flushAndMark() {
    flushOutput()
    guard let room, printed > 0 else { return }
    let isRead = isTerminal || options.follows
    client.mark(room, received: printed, read: isRead ? printed : 0)
  }

  func printJSON(_ json: some Collection<UInt8>) {
    if isTerminal {
      output.append(TerminalText.json(String(decoding: json, as: UTF8.self)))
    } else {
      // Raw line breaks are legal only between the tokens of JSON.
      output.append(json.lazy.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 })
    }
    output.append("\n")
    if output.isFull { flushOutput() }
  }
}
