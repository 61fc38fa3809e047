import Relay
import WebSocket
import Wire

/// HTTP requests that cannot be answered at once: their answer comes from the relay or from other
/// loops.
///
/// A request to the relay opens a session as a WebSocket does, with the same limits and rights; the
/// session's output is the answer. Connections of `/v1` stay open for the next request: otherwise a
/// client that publishes many entries would need a handshake for each, with TLS two more round
/// trips. A connection has one request at a time: it is not read until the answer is sent, so that
/// pipelined requests wait in the client's socket. A request that is refused temporarily (429, 503)
/// ends its connection: pipelined requests must not overtake it, as relay.v1 promises for any
/// connection.
extension ConnectionLoop {
  /// The maximum time for the relay to answer; longer than a disk needs that is only slow.
  static let answerMilliseconds: Int64 = 30_000

  /// Begins a request whose head is complete.
  func begin(_ call: HTTPCall, _ rest: Span<UInt8>, _ connection: ServerConnection) {
    let exchange = addExchange(call, connection)
    if call.isAuthenticated {
      recordEstablished(connection)
    } else {
      recordAuthenticated(connection)
    }
    connection.deadline = requestDeadline
    if call.expectsContinue, rest.count == 0, call.contentBytes > 0 {
      let interim = HTTPResponse(status: 100).bytes
      exchange.output = Array(interim[writeToStream(connection, interim.span)...])
    }
    takeContent(rest, connection)
  }

  private func addExchange(_ call: HTTPCall, _ connection: ServerConnection) -> HTTPExchange {
    exchangeCount += 1
    let exchange = HTTPExchange(
      call, ExchangeID(loop: index, stream: connection.stream, serial: exchangeCount))
    connection.state = .exchange(exchange)
    return exchange
  }

  /// Takes the content of the request. Bytes after it belong to the next request.
  func takeContent(_ input: Span<UInt8>, _ connection: ServerConnection) {
    guard let exchange = connection.exchange, exchange.state == .reading else { return }
    let count = min(input.count, exchange.call.contentBytes - exchange.content.count)
    unsafe input.extracting(..<count).withUnsafeBufferPointer {
      unsafe exchange.content.append(contentsOf: $0)
    }
    guard exchange.content.count == exchange.call.contentBytes else { return }
    pause(connection, with: input.extracting(count...))
    connection.deadline = now.monotonic + Self.answerMilliseconds
    exchange.state = .waiting
    // Public answers are rate-limited by address, too.
    if exchange.call.isPublic,
      let problem = chargeAddress(of: connection, in: context.fileBudgets, .requestsPerSecond)
    {
      return finish(connection, problem.response)
    }
    switch exchange.call.target {
    case .relay(let message, let identity): ask(message, as: identity, exchange, connection)
    case .requests(let identity):
      if isUTF8(exchange.content, connection) { ask(exchange, as: identity, connection) }
    case .stream(let request, let identity): openStream(request, as: identity, exchange, connection)
    case .liveness: finish(connection, HTTPResponse(status: 200, text: "ok\n"))
    case .readiness: askWhetherReady(exchange, connection)
    case .metrics: gatherMetrics(for: exchange, connection)
    case .nothing: break
    case .file(let file): finish(connection, file)
    case .trace(let question): askForTrace(question, exchange, connection)
    case .avatar(let user, let identity, let known):
      askForAvatar(of: user, as: identity, known, exchange, connection)
    }
  }

  /// Answers a request that is not authenticated. Such requests are rate-limited by address, which
  /// bounds guessing of tokens.
  func answerUnauthenticated(_ response: HTTPResponse, _ connection: ServerConnection) {
    var problem = chargeUnauthenticated(connection)
    if problem == nil, response.status == 401 {
      problem = chargeAddress(of: connection, in: context.guessBudgets, .requestsPerSecond)
    }
    if let problem { return refuseLater(problem.response, connection) }
    answer(response, connection)
  }

  /// Charges for an HTTP request, which is refused if the user has sent too much.
  /// - Returns: `nil`, or the refusal, which has been counted.
  func charge(
    sends: Int = 0, requests: Int = 0, bytes: Int = 0, to user: String
  ) -> HTTPProblem? {
    guard
      let wait = context.budgets.take(
        sends: sends, requests: requests, bytes: bytes, from: user, now: now.monotonic)
    else { return nil }
    shard.counters.count(.rateLimited)
    context.violations.count(sends > 0 ? .sendsPerSecond : .requestsPerSecond)
    return Self.tooManyRequests(wait)
  }

  static func tooManyRequests(_ wait: Int64) -> HTTPProblem {
    var problem = HTTPProblem(
      429, "Too many requests; retry in \(wait) ms.", code: .rateLimited)
    problem.retryAfterMilliseconds = wait
    return problem
  }

  // MARK: - Asking the relay

  private func ask(
    _ message: HTTPCall.Message, as identity: Identity, _ exchange: HTTPExchange,
    _ connection: ServerConnection
  ) {
    guard isUTF8(exchange.content, connection) else { return }
    var room: String?
    if case .send(let name) = message { room = name }
    if var problem = charge(
      sends: room == nil ? 0 : 1, requests: room == nil ? 1 : 0, bytes: exchange.content.count,
      to: identity.user)
    {
      problem.room = room.flatMap { RoomName.isValid($0) ? $0 : nil }
      return finish(connection, problem.response)
    }
    exchange.content = message.json(exchange.content)
    let session = openSession(for: connection)
    shard.identify(
      session, as: identity, isPresence: false, lasts: exchange.call.poll != nil, now: now)
    if let poll = exchange.call.poll {
      exchange.pollsUntil = now.monotonic + poll.milliseconds
      shard.beginPolling(session, poll.room)
    }
    submit(exchange, connection)
  }

  /// Whether the content of a request is valid UTF-8; if not, the request is answered.
  private func isUTF8(_ content: [UInt8], _ connection: ServerConnection) -> Bool {
    var validator = UTF8Validator()
    if validator.accept(content.span), validator.isComplete { return true }
    finish(connection, HTTPProblem(400, "The content is not valid UTF-8.", code: .badJSON).response)
    return false
  }

  /// Passes the message to the shard, now or as soon as the shard accepts input again.
  func submit(_ exchange: HTTPExchange, _ connection: ServerConnection) {
    if exchange.batch != nil { return submitNext(exchange, connection) }
    guard let session = connection.session else { return }
    guard shard.mayReceive(session, now: now) else {
      exchange.state = .held
      return
    }
    exchange.state = .waiting
    let content = exchange.content
    exchange.content = []
    shard.receive(session, content.span, now: now)
  }

  // MARK: - Answering

  /// Refuses a request at the next sweep, and ends the connection. Answered at once, a client that waits
  /// for each answer would ask thousands of times per second.
  func refuseLater(_ response: HTTPResponse, _ connection: ServerConnection) {
    let exchange = addExchange(HTTPCall(target: .nothing), connection)
    connection.isPaused = true
    exchange.state = .delayed
    exchange.answer(response)
    connection.deadline = now.monotonic + Int64(Self.sweepMilliseconds)
  }

  /// Answers a request that needs only its head, and ends the connection.
  func answer(_ response: HTTPResponse, _ connection: ServerConnection) {
    let exchange = addExchange(HTTPCall(target: .nothing), connection)
    // Data after the request is ignored.
    connection.isPaused = true
    exchange.answer(response)
    sendResponse(exchange, connection)
  }

  /// Answers the request, unless it has an answer already.
  func finish(_ connection: ServerConnection, _ response: HTTPResponse) {
    guard let exchange = connection.exchange, exchange.state != .answering else { return }
    exchange.answer(response)
    sendResponse(exchange, connection)
  }

  /// Answers the exchange, if it still waits.
  func finish(_ id: ExchangeID, _ response: HTTPResponse) {
    if let (_, connection) = waiting(id) { finish(connection, response) }
  }

  /// Returns an exchange, if it has not ended.
  func waiting(_ id: ExchangeID) -> (HTTPExchange, ServerConnection)? {
    guard let connection = connections[id.stream], let exchange = connection.exchange,
      exchange.id == id
    else { return nil }
    return (exchange, connection)
  }

  /// Sends the response, if there is one.
  func sendResponse(_ exchange: HTTPExchange, _ connection: ServerConnection) {
    guard var response = exchange.response, exchange.state != .answering else { return }
    endSession(of: connection)
    if exchange.duplicates > 0, let user = exchange.call.user {
      for _ in 0..<exchange.duplicates { context.budgets.refundDuplicate(of: user) }
    }
    exchange.state = .answering
    exchange.content = []
    counts.responses[response.status, default: 0] += 1
    if !exchange.call.isFile || response.status >= 400 { response.protect() }
    if let origin = exchange.call.origin { response.allowReading(by: origin) }
    let isRefusal = response.status == 429 || response.status == 503
    if !exchange.call.keepsAlive || isRefusal || shutdown != nil { exchange.endsConnection = true }
    response.keepsAlive = !exchange.endsConnection
    if exchange.call.headOnly { response.answersHEAD = true }
    exchange.output += response.bytes
    limitTaking(connection)
    sendRest(exchange, connection)
  }

  /// Ends the connection if the client does not read the answer in time.
  private func limitTaking(_ connection: ServerConnection) {
    let idle = Int64(context.limits.idleTimeoutSeconds) * 1000
    connection.deadline = idle == 0 ? 0 : now.monotonic + idle
  }

  /// Sends the rest of the answer, or of the `100 Continue` before it. After the answer, waits for
  /// the next request or ends the connection.
  func sendRest(_ exchange: HTTPExchange, _ connection: ServerConnection) {
    if exchange.sent < exchange.output.count {
      let output = exchange.output
      exchange.sent += writeToStream(connection, output.span.extracting(exchange.sent...))
    }
    guard exchange.state == .answering, exchange.sent == exchange.output.count,
      !world.hasBacklog(connection.stream)
    else { return }
    if exchange.endsConnection {
      linger(connection)
      return
    }
    connection.state = .resting
    // A client has as much time for its next request as for its first.
    connection.deadline = requestDeadline
    connection.isPaused = false
    nextRequests.append(connection)
  }

  /// Takes a request that was pipelined after the last one.
  func takeNextRequest(_ connection: ServerConnection) {
    guard !connection.isGone, connection.awaitsRequest,
      !connection.isPaused
    else { return }
    readOn(connection)
  }

  // MARK: - Ends

  /// Answers or ends an exchange whose deadline has passed.
  func expire(_ exchange: HTTPExchange, _ connection: ServerConnection) {
    if exchange.state == .streaming { return sweepStream(exchange, connection) }
    guard connection.deadline > 0, now.monotonic >= connection.deadline else {
      return
    }
    switch exchange.state {
    case .reading:
      context.violations.count(.handshakeTimeout)
      // The end of the content is unknown.
      exchange.endsConnection = true
      var problem = HTTPProblem(
        408, "The content did not arrive in time. Nothing was stored.", code: .unavailable)
      problem.retryAfterMilliseconds = Refusal.retryAfterMilliseconds
      finish(connection, problem.response)
    case .held where exchange.batch != nil, .waiting where exchange.batch != nil:
      refuseRest(of: exchange, .unavailable, "The relay did not answer in time.")
      sendResponse(exchange, connection)
    case .held, .waiting:
      var problem = HTTPProblem(
        503,
        "The relay did not answer in time. An entry may have been stored; retry with the same id.",
        code: .unavailable)
      problem.retryAfterMilliseconds = Refusal.retryAfterMilliseconds
      finish(connection, problem.response)
    case .polling: finishPoll(exchange, connection)
    case .delayed: sendResponse(exchange, connection)
    case .streaming: break
    case .answering:
      context.violations.count(.idleTimeout)
      remove(connection)
    }
  }

  /// Handles the end of a request's session, initiated by the shard: its last output is the answer.
  func end(
    _ exchange: HTTPExchange, _ connection: ServerConnection, _ reason: CloseReason, _ text: String
  ) {
    guard let session = connection.session else { return }
    if exchange.state == .streaming {
      exchange.closing = (reason, text)
      connection.deadline = now.monotonic + Self.lingerMilliseconds
      toReap.append(connection)
    } else if shard.hasOutput(session) {
      exchange.closing = (reason, text)
      toReap.append(connection)
    } else {
      answer(exchange, reason, text)
      sendResponse(exchange, connection)
    }
  }

  /// Takes the next step of an exchange, once the session's output so far has been read.
  func advance(_ exchange: HTTPExchange, _ connection: ServerConnection) {
    if exchange.state == .streaming { return advanceStream(exchange, connection) }
    if let error = exchange.stream?.refusal {
      exchange.answer(HTTPProblem(error, wall: now.wall).response)
    }
    if exchange.batch != nil, exchange.state == .waiting, exchange.closing == nil {
      return submitNext(exchange, connection)
    }
    if exchange.response == nil, exchange.emptyPage != nil, exchange.state == .waiting {
      poll(exchange, connection)
    }
    if exchange.response == nil, let (reason, text) = exchange.closing {
      answer(exchange, reason, text)
    }
    sendResponse(exchange, connection)
  }

  /// Answers a request whose session is closed.
  private func answer(_ exchange: HTTPExchange, _ reason: CloseReason, _ text: String) {
    let problem = Self.problem(reason, text)
    if exchange.batch != nil {
      refuseRest(of: exchange, problem.code, problem.detail)
    } else {
      exchange.answer(problem.response)
    }
  }

  /// Answers the requests of a batch that have no answer.
  private func refuseRest(of exchange: HTTPExchange, _ code: ErrorCode, _ text: String) {
    exchange.batch?.refuseRest(
      code, text,
      retryAfterMilliseconds: code == .unavailable ? Refusal.retryAfterMilliseconds : nil)
    exchange.finishBatch()
  }

  private static func problem(_ reason: CloseReason, _ text: String) -> HTTPProblem {
    switch reason {
    case .notAuthenticated, .authenticationTimeout: return .unauthorized(text)
    case .forbidden: return HTTPProblem(403, text, code: .forbidden)
    default:
      var problem = HTTPProblem(503, text, code: .unavailable)
      problem.retryAfterMilliseconds = Refusal.retryAfterMilliseconds
      return problem
    }
  }
}
