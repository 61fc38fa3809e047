import ArgumentParser
import Client
import EventLoop
import Glibc
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

  enum Token {
    static let input: UInt64 = 0
    static let output: UInt64 = 1
    static let signals: UInt64 = 2
    static let timeout: UInt64 = 3
    static let renewal: UInt64 = 4
  }

  private struct Pending {
    let number: Int
    let bytes: Int
  }

  private let options: Options
  private let loop: EventLoop
  private let clients: ClientLoop
  private let client: Client
  private let input: Input
  private let signals: SignalSource
  private let renewal: TokenRenewal?
  /// The relay refuses the user, unless there is another token.
  private var isLockedOut = false
  private var output = Output(descriptor: STDOUT_FILENO)
  private let isTerminal = isatty(STDOUT_FILENO) == 1

  private var room: String?
  private var splitter = LineSplitter(limitBytes: LineChat.lineLimitBytes)
  private var pending: [String: Pending] = [:]
  private var pendingBytes = 0
  private var inputIsOver = false
  private var wasWelcomed = false
  private var wasJoined = false
  private var somethingWasRefused = false
  /// The last entry that existed at the join, until it is printed.
  private var historyEnd: Int64?
  private var printed: Int64 = 0
  private var progressAt: Instant
  private var lastComplaint = ""
  private var exitCode: ExitCode?

  init(
    _ configuration: Client.Configuration, _ options: Options, tokens: TokenCommand? = nil
  ) throws(SystemError) {
    self.options = options
    loop = try EventLoop()
    clients = try ClientLoop(loop)
    client = Client(configuration, on: clients)
    input = Input(descriptor: STDIN_FILENO, on: loop, token: Token.input)
    signals = try SignalSource([SIGINT, SIGTERM])
    if let tokens {
      renewal = try TokenRenewal(tokens, on: loop, token: Token.renewal)
    } else {
      renewal = nil
    }
    progressAt = loop.now
  }

  /// Runs until the chat ends.
  func run() -> ExitCode {
    do {
      _ = try loop.register(signals.descriptor, for: .readable, token: Token.signals)
    } catch {
      complain("\(error)")
      return Self.refused
    }
    // Reports a closed reader while there is nothing to write; a file cannot be watched.
    _ = try? loop.register(STDOUT_FILENO, for: [], token: Token.output)
    client.handler = self
    client.start()
    loop.schedule(afterMilliseconds: options.timeoutMilliseconds, token: Token.timeout)
    loop.run(self)
    return exitCode ?? Self.refused
  }

  // MARK: The end

  /// Whether an answer of the relay is still expected.
  private var isWaiting: Bool { !wasJoined || !pending.isEmpty || historyEnd != nil }

  private func finishIfDone() {
    if inputIsOver, !options.follows, !isWaiting { finish(outcome) }
  }

  private var outcome: ExitCode {
    if !wasWelcomed { return Self.noConnection }
    return somethingWasRefused || !pending.isEmpty ? Self.refused : .success
  }

  private func finish(_ code: ExitCode) {
    guard exitCode == nil else { return }
    exitCode = code
    input.close()
    // Entries that were printed are marked as read before closing.
    flushAndMark()
    client.close()
  }

  private func noteProgress() { progressAt = loop.now }

  private func checkTimeout() {
    let limit = options.timeoutMilliseconds
    if isWaiting, exitCode == nil {
      if loop.now.milliseconds(since: progressAt) >= limit {
        complain(timeoutComplaint)
        return finish(wasWelcomed ? Self.refused : Self.noConnection)
      }
    } else {
      progressAt = loop.now
    }
    loop.schedule(at: progressAt.adding(milliseconds: limit), token: Token.timeout)
  }

  private var timeoutComplaint: String {
    let seconds = Double(options.timeoutMilliseconds) / 1000
    if !wasWelcomed { return "no connection after \(seconds) s" }
    if pending.isEmpty { return "no answer from the relay for \(seconds) s" }
    let first = pending.values.map(\.number).min() ?? 0
    let lines = pending.count == 1 ? "1 line was" : "\(pending.count) lines were"
    return "\(lines) not acknowledged, the first is line \(first);"
      + " no progress for \(seconds) s"
  }

  // MARK: Input

  private func readInput() {
    guard wasJoined, exitCode == nil else { return }
    if wantsInput { input.resume(take) }
  }

  private var wantsInput: Bool {
    pending.count < Self.pendingLines && pendingBytes < Self.pendingBytes
  }

  private func take(_ chunk: Input.Chunk) -> Bool {
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
      guard let text = String(validating: bytes, as: UTF8.self) else {
        return refuse(number, "it is not valid UTF-8")
      }
      if text.unicodeScalars.allSatisfy(\.properties.isWhitespace) { return }
      if pending.isEmpty { noteProgress() }
      let id = client.send(text, to: room)
      pending[id] = Pending(number: number, bytes: text.utf8.count)
      pendingBytes += text.utf8.count
    case .tooLong: refuse(number, "it is longer than \(Self.lineLimitBytes) bytes")
    }
  }

  private func refuse(_ number: Int, _ reason: String) {
    somethingWasRefused = true
    complain("line \(number) was refused: \(reason)")
  }

  private func finish(_ id: String) -> Int? {
    guard let line = pending.removeValue(forKey: id) else { return nil }
    pendingBytes -= line.bytes
    noteProgress()
    return line.number
  }

  // MARK: Output

  private func complain(_ text: String) {
    // Standard output may be the same terminal: its text comes first.
    flushOutput()
    write("wschat: \(TerminalText.line(text))\n", to: STDERR_FILENO)
  }

  private func flushOutput() {
    switch output.flush() {
    case .done: break
    case .closed: finish(.success)
    case .failed(let error):
      write("wschat: standard output: \(error)\n", to: STDERR_FILENO)
      finish(Self.refused)
    }
  }

  private func flushAndMark() {
    flushOutput()
    guard let room, printed > 0 else { return }
    let isRead = isTerminal || options.follows
    client.mark(room, received: printed, read: isRead ? printed : 0)
  }

  private func printJSON(_ json: some Collection<UInt8>) {
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

extension LineChat: ClientHandler {
  func client(_ client: Client, received json: Span<UInt8>) {
    guard options.printsJSON, exitCode == nil else { return }
    if case .history(let page) = try? ServerMessage(decoding: json) {
      for entry in page.entries {
        var json: [UInt8] = []
        entry.append(to: &json)
        printJSON(json)
      }
      return
    }
    unsafe json.withUnsafeBufferPointer { unsafe printJSON($0) }
  }

  func client(_ client: Client, _ event: ClientEvent) {
    if case .ended(let error) = event { return ended(error) }
    if exitCode != nil { return }
    switch event {
    case .welcomed(let welcome): welcomed(welcome)
    case .joined(let joined): self.joined(joined)
    case .joinRefused(let room, let error):
      complain("room \(room): \(error.message)")
      finish(Self.accessDenied)
    case .left(let room):
      complain("no longer in room \(room)")
      finish(Self.accessDenied)
    case .entry(let entry): show(entry)
    case .acknowledged(let ack):
      _ = finish(ack.id)
      readInput()
      finishIfDone()
    case .refused(let send, let error):
      if let number = finish(send.id) { refuse(number, error.message) }
      readInput()
      finishIfDone()
    case .message(.error(let error)) where error.id == nil: complain(error.message)
    case .message: break
    case .tokenWanted(let refused):
      isLockedOut = refused != nil
      if let refused { complain("\(refused) (running --token-command for a new one)") }
      renewal?.begin()
    case .disconnected(let error, retryMilliseconds: _):
      // The same reason is printed only once in a row.
      let complaint = "\(error); retrying"
      if complaint != lastComplaint { complain(complaint) }
      lastComplaint = complaint
    case .ended: break
    }
  }

  private func takeToken() {
    guard let result = renewal?.take(), exitCode == nil else { return }
    switch result {
    case .success(let token):
      isLockedOut = false
      noteProgress()
      client.renew(token: token)
    case .failure(let failure):
      complain("\(failure)")
      if isLockedOut { finish(Self.accessDenied) }
    }
  }

  private func welcomed(_ welcome: ServerMessage.Welcome) {
    lastComplaint = ""
    noteProgress()
    guard !wasWelcomed else { return }
    wasWelcomed = true
    let name: String
    switch options.room {
    case .named(let room): name = room
    case .direct(let peer):
      guard peer != welcome.user else {
        complain("--to must name another user; you are \(peer)")
        return finish(Self.usage)
      }
      name = RoomName.direct(welcome.user, peer)
    }
    room = name
    client.join(name, from: options.historyCount > 0 ? .newest(options.historyCount) : .head)
  }

  private func joined(_ joined: ServerMessage.Joined) {
    noteProgress()
    switch joined.resume {
    case .ok: break
    case .truncated:
      if wasJoined { complain("entries before \(joined.after + 1) are no longer kept") }
    case .diverged: complain("the relay lost the entries after \(joined.after)")
    case .reset: complain("the relay has a new log: the entries shown before no longer exist")
    }
    if !wasJoined || historyEnd != nil {
      historyEnd = joined.head > joined.after ? joined.head : nil
    }
    if joined.resume == .diverged || joined.resume == .reset { printed = joined.after }
    wasJoined = true
    readInput()
    finishIfDone()
  }

  private func show(_ entry: Entry) {
    if !options.printsJSON {
      output.append(EntryLine.format(entry))
      if output.isFull { flushOutput() }
    }
    printed = entry.seq
    if let end = historyEnd {
      noteProgress()
      if entry.seq >= end {
        historyEnd = nil
        finishIfDone()
      }
    }
  }

  static func advice(about error: ClientError) -> String {
    guard case .untrusted = error else { return "" }
    return "; trust its authority with --ca FILE, or skip verification with --insecure"
  }

  private func ended(_ error: ClientError) {
    if exitCode == nil {
      complain("\(error)\(Self.advice(about: error))")
      exitCode = error.isAccessDenied ? Self.accessDenied : Self.noConnection
    }
    loop.stop()
  }
}

extension LineChat: EventHandler {
  func ready(_ registration: Registration, token: UInt64, _ readiness: Readiness) {
    switch token {
    case Token.input: input.ready(take)
    case Token.output: finish(.success)
    case Token.signals:
      while signals.next() != nil {
        // The second signal ends the program at once.
        if exitCode != nil { loop.stop() }
        finish(outcome)
      }
    case Token.renewal: takeToken()
    default: clients.ready(registration, token: token, readiness)
    }
  }

  func timerFired(_ timer: TimerID, token: UInt64) {
    if token == Token.timeout { checkTimeout() } else { clients.timerFired(timer, token: token) }
  }

  func beforeSleep() {
    if exitCode == nil { flushAndMark() }
    clients.beforeSleep()
  }
}
