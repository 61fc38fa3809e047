import Accounts
import Relay
import WebSocket
import Wire

/// One HTTP request, from its head to the end of its answer. Confined to its loop's thread.
///
/// Connections of `/v1` stay open for the next request: otherwise a client that publishes many
/// entries would need a handshake for each, with TLS two more round trips. A connection has one
/// request at a time: it is not read until the answer is sent, so that pipelined requests wait in the
/// client's socket. A request that is refused temporarily (429, 503) ends its connection: pipelined
/// requests must not overtake it, as relay.v1 promises for any connection.
///
/// The loop reports events by the methods below `Events`; a subclass overrides those that concern it.
class HTTPExchange {
  /// The maximum time for the relay to answer; longer than a disk needs that is only slow.
  static let answerMilliseconds: Int64 = 30_000

  private enum State {
    /// The content is being received.
    case reading
    /// The answer has to be found.
    case waiting
    /// The answer is a refusal that waits: see `refuseLater`.
    case delayed
    /// The answer is being sent.
    case answering
  }

  let call: HTTPCall
  let id: ExchangeID
  unowned let loop: ConnectionLoop
  /// The connection has the exchange only until it is answered, so this cycle ends.
  let connection: ServerConnection
  /// Whether the connection records when its socket takes bytes, and has no deadline.
  var recordsWrites: Bool { false }
  private var state = State.reading
  private var content: [UInt8] = []
  /// How much of the content has arrived.
  private(set) var contentReceived = 0
  /// The response, until it can be sent.
  private(set) var response: HTTPResponse?
  /// The bytes of the answer; before them, those of the `100 Continue`.
  private var output: [UInt8] = []
  private var sent = 0
  /// The connection ends after the answer.
  private var endsConnection = false

  init(_ call: HTTPCall, _ id: ExchangeID, _ loop: ConnectionLoop, _ connection: ServerConnection) {
    self.call = call
    self.id = id
    self.loop = loop
    self.connection = connection
  }

  /// Whether the content has not arrived.
  var isReading: Bool { state == .reading }

  // MARK: - Receiving

  /// Begins a request whose head is complete.
  /// - Parameter rest: what follows the head.
  func begin(_ rest: Span<UInt8>) {
    connection.deadline = loop.requestDeadline
    inviteContent(unlessItComes: rest)
    receive(rest)
  }

  /// Tells a client that waits for it to send the content.
  private func inviteContent(unlessItComes rest: Span<UInt8>) {
    guard call.expectsContinue, rest.count == 0, contentReceived == 0, call.contentBytes > 0 else {
      return
    }
    let interim = HTTPResponse(status: 100).bytes
    output = Array(interim[loop.writeToStream(connection, interim.span)...])
  }

  /// Takes the content of the request. Bytes after it belong to the next request.
  final func receive(_ input: Span<UInt8>) {
    guard state == .reading else { return }
    let count = min(input.count, call.contentBytes - contentReceived)
    contentReceived += count
    take(content: input.extracting(..<count))
    guard contentReceived == call.contentBytes else { return }
    loop.pause(connection, with: input.extracting(count...))
    connection.deadline = loop.now.monotonic + Self.answerMilliseconds
    state = .waiting
    // Public answers are rate-limited by address, too.
    if call.isPublic,
      let problem = loop.chargeAddress(
        of: connection, in: loop.context.fileBudgets, .requestsPerSecond)
    {
      return finish(problem.response)
    }
    start(content)
    content = []
  }

  /// Takes a part of the content, which is small by default, and kept until all of it is there.
  func take(content part: Span<UInt8>) {
    unsafe part.withUnsafeBufferPointer { unsafe content.append(contentsOf: $0) }
  }

  /// Continues with the content after a pause.
  final func receiveRest() {
    let rest = connection.pending
    connection.pending = []
    connection.isPaused = false
    inviteContent(unlessItComes: rest.span)
    receive(rest.span)
    loop.readOn(connection)
  }

  /// Begins to find the answer.
  func start(_ content: [UInt8]) {
    switch call.target {
    case .liveness: finish(HTTPResponse(status: 200, text: "ok\n"))
    case .readiness: loop.askWhetherReady(self)
    case .samples(let time): sendSamples(after: time)
    case .metrics(let openMetrics): loop.surveyMetrics(openMetrics: openMetrics, for: self)
    case .connections(let user): loop.surveyConnections(of: user, for: self)
    case .file(let file): finish(file)
    case .signInMethods: finish(HTTPResponse(status: 200, json: loop.context.router.signInMethods))
    case .trace(let question): loop.askForTrace(question, self)
    case .avatar(let user, _): askForAvatar(of: user)
    case .nothing, .relay, .requests, .stream, .account, .accounts, .endConnection, .files:
      preconditionFailure("answered elsewhere")
    }
  }

  // MARK: - Answering

  /// Sets the response; only the first one counts.
  final func answer(_ response: HTTPResponse) {
    if self.response == nil { self.response = response }
  }

  /// Answers the request, unless it has an answer already.
  final func finish(_ response: HTTPResponse) {
    answer(response)
    sendResponse()
  }

  /// Answers a request that needs only its head, and ends the connection.
  final func finishWithoutContent(_ response: HTTPResponse) {
    // Data after the request is ignored.
    connection.isPaused = true
    finish(response)
  }

  /// Answers a request whose content has not arrived, and ends the connection.
  final func refuseContent(_ response: HTTPResponse) {
    endsConnection = true
    finishWithoutContent(response)
  }

  /// Refuses a request at the next sweep, and ends the connection. Answered at once, a client that waits
  /// for each answer would ask thousands of times per second.
  final func refuseLater(_ response: HTTPResponse) {
    connection.isPaused = true
    state = .delayed
    answer(response)
    connection.deadline = loop.now.monotonic + Int64(ConnectionLoop.sweepMilliseconds)
  }

  /// Sends the response, if there is one.
  final func sendResponse() {
    guard var response, state != .answering else { return }
    loop.reportAnswer(response, to: self)
    assert(connection.exchange === self, "an exchange has its connection until it is answered")
    loop.endSession(of: connection)
    state = .answering
    loop.counts.responses[response.status, default: 0] += 1
    if !call.isFile || response.status >= 400 { response.protect() }
    if call.speaksTus { response.add("Tus-Resumable", Tus.version) }
    if call.variesByOrigin { response.allowReading(by: call.origin) }
    let isRefusal = response.status == 429 || response.status == 503
    if !call.keepsAlive || isRefusal || loop.isShuttingDown { endsConnection = true }
    response.keepsAlive = !endsConnection
    if call.headOnly { response.answersHEAD = true }
    send(response.bytes)
  }

  /// Sends a part of the answer. The connection ends if the client does not read it in time.
  final func send(_ part: [UInt8]) {
    output += part
    connection.deadline = idleDeadline
    sendRest()
  }

  /// The deadline for a client that has to read or write; 0 = none.
  final var idleDeadline: Int64 {
    let idle = Int64(loop.context.limits.idleTimeoutSeconds) * 1000
    return idle == 0 ? 0 : loop.now.monotonic + idle
  }

  /// Fetches the part of the answer that follows; returns `false` once there is none.
  func fetchRest() -> Bool { false }

  /// Sends the rest of the answer, or of the `100 Continue` before it. After the answer, waits for
  /// the next request or ends the connection.
  private func sendRest() {
    assert(sent <= output.count, "no more is sent than there is")
    if sent < output.count {
      let output = output
      sent += loop.writeToStream(connection, output.span.extracting(sent...))
    }
    guard state == .answering, sent == output.count, !loop.world.hasBacklog(connection.stream)
    else { return }
    (output, sent) = ([], 0)
    if fetchRest() { return }
    if endsConnection { loop.linger(connection) } else { loop.rest(connection) }
  }

  // MARK: - Events

  /// Handles that the stream takes bytes again.
  func continueOutput() {
    if state == .answering || !output.isEmpty { sendRest() }
  }

  /// Handles that the client sends no more, and may be gone.
  func clientClosed() {}

  /// Handles that the connection has ended, perhaps before the answer.
  func connectionEnded() {}

  /// Writes output of the session; returns the number of accepted bytes. The shard is being called, so
  /// what follows from the output has to wait for `advance`.
  func write(_ frames: Span<UInt8>) -> Int { preconditionFailure("there is no session") }

  /// Takes the next step, once the session's output so far has been read.
  func advance() {}

  /// Handles that the shard accepts input of the session again.
  func resume() {}

  /// Takes the answer to a request about accounts.
  func take(_ answer: AccountAnswer) {}

  /// Takes the log's answer about files.
  func take(_ answer: FileAnswer) {}

  /// Takes the answer of what keeps the bytes of files.
  func take(_ result: FileWorkResult) {}

  /// Handles that a room for which the request waits has a new entry.
  func readPolled() {}

  /// Handles that the shard ends the session.
  func sessionEnds(_ reason: CloseReason, _ text: String) {}

  /// Handles that the relay begins to shut down.
  func beginShutdown() {}

  /// Prolongs deadlines of the request's own by the time in which the loop did not run.
  func prolong(by milliseconds: Int64) {}

  /// Answers or ends a request whose deadline has passed.
  func sweep() {
    guard connection.deadline > 0, loop.now.monotonic >= connection.deadline else { return }
    switch state {
    case .reading: timeOutContent()
    case .waiting: timeOut()
    case .delayed: sendResponse()
    case .answering:
      loop.countViolation(.idleTimeout, by: connection)
      loop.remove(connection)
    }
  }

  /// Answers a request whose content has not arrived in time.
  func timeOutContent() {
    loop.countViolation(.handshakeTimeout, by: connection)
    let text = "The content did not arrive in time. Nothing was stored."
    refuseContent(HTTPProblem.unavailable(text, status: 408).response)
  }

  /// Answers a request to which the relay has not found the answer in time.
  func timeOut() {
    let text =
      "The relay did not answer in time. An entry may have been stored; retry with the same id."
    finish(HTTPProblem.unavailable(text).response)
  }
}
