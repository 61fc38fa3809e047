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
  func begin(_ call: HTTPCall, _ rest: Span<UInt8>, _ index: ConnectionSlot) {
    let exchange = addExchange(call, index)
    if call.isAuthenticated { recordEstablished(index) } else { recordAuthenticated(index) }
    connections[index].deadline = requestDeadline
    if call.expectsContinue, rest.count == 0, call.contentBytes > 0 {
      let interim = HTTPResponse(status: 100).bytes
      exchange.output = Array(interim[writeToStream(index, interim.span)...])
    }
    takeContent(rest, index)
  }

  private func addExchange(_ call: HTTPCall, _ index: ConnectionSlot) -> HTTPExchange {
    exchangeCount += 1
    let exchange = HTTPExchange(call, serial: exchangeCount)
    connections[index].phase = .exchange(exchange)
    return exchange
  }

  /// Takes the content of the request. Bytes after it belong to the next request.
  func takeContent(_ input: Span<UInt8>, _ index: ConnectionSlot) {
    guard let exchange = connections[index].exchange, exchange.state == .reading else { return }
    let count = min(input.count, exchange.call.contentBytes - exchange.content.count)
    unsafe input.extracting(..<count).withUnsafeBufferPointer {
      unsafe exchange.content.append(contentsOf: $0)
    }
    guard exchange.content.count == exchange.call.contentBytes else { return }
    pause(index, with: input.extracting(count...))
    connections[index].deadline = now.monotonic + Self.answerMilliseconds
    exchange.state = .waiting
    // Public answers are rate-limited by address, too.
    if exchange.call.isPublic,
      let problem = chargeAddress(of: index, in: context.fileBudgets, .requestsPerSecond)
    {
      return finish(index, problem.response)
    }
    switch exchange.call.target {
    case .relay(let message, let identity): ask(message, as: identity, exchange, index)
    case .requests(let identity):
      if isUTF8(exchange.content, index) { ask(exchange, as: identity, index) }
    case .stream(let request, let identity): openStream(request, as: identity, exchange, index)
    case .liveness: finish(index, HTTPResponse(status: 200, text: "ok\n"))
    case .readiness: askWhetherReady(exchange, index)
    case .metrics: gatherMetrics(for: exchange, index)
    case .nothing: break
    case .file(let file): finish(index, file)
    case .trace(let question): askForTrace(question, exchange, index)
    case .avatar(let user, let identity, let known):
      askForAvatar(of: user, as: identity, known, exchange, index)
    }
  }

  /// Answers a request that is not authenticated. Such requests are rate-limited by address, which
  /// bounds guessing of tokens.
  func answerUnauthenticated(_ response: HTTPResponse, _ index: ConnectionSlot) {
    var problem = chargeUnauthenticated(index)
    if problem == nil, response.status == 401 {
      problem = chargeAddress(of: index, in: context.guessBudgets, .requestsPerSecond)
    }
    if let problem { return refuseLater(problem.response, index) }
    answer(response, index)
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
    _ index: ConnectionSlot
  ) {
    guard isUTF8(exchange.content, index) else { return }
    var room: String?
    if case .send(let name) = message { room = name }
    if var problem = charge(
      sends: room == nil ? 0 : 1, requests: room == nil ? 1 : 0, bytes: exchange.content.count,
      to: identity.user)
    {
      problem.room = room.flatMap { RoomName.isValid($0) ? $0 : nil }
      return finish(index, problem.response)
    }
    exchange.content = message.json(exchange.content)
    let session = shard.open(connection: index.place, now: now)
    connections[index].session = session
    shard.identify(
      session, as: identity, isPresence: false, lasts: exchange.call.poll != nil, now: now)
    if let poll = exchange.call.poll {
      exchange.pollsUntil = now.monotonic + poll.milliseconds
      shard.beginPolling(session, poll.room)
    }
    submit(exchange, index)
  }

  /// Whether the content of a request is valid UTF-8; if not, the request is answered.
  private func isUTF8(_ content: [UInt8], _ index: ConnectionSlot) -> Bool {
    var validator = UTF8Validator()
    if validator.accept(content.span), validator.isComplete { return true }
    finish(index, HTTPProblem(400, "The content is not valid UTF-8.", code: .badJSON).response)
    return false
  }

  /// Passes the message to the shard, now or as soon as the shard accepts input again.
  func submit(_ exchange: HTTPExchange, _ index: ConnectionSlot) {
    if exchange.batch != nil { return submitNext(exchange, index) }
    guard let session = connections[index].session else { return }
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
  func refuseLater(_ response: HTTPResponse, _ index: ConnectionSlot) {
    let exchange = addExchange(HTTPCall(target: .nothing), index)
    connections[index].isPaused = true
    exchange.state = .delayed
    exchange.answer(response)
    connections[index].deadline = now.monotonic + Int64(Self.sweepMilliseconds)
  }

  /// Answers a request that needs only its head, and ends the connection.
  func answer(_ response: HTTPResponse, _ index: ConnectionSlot) {
    let exchange = addExchange(HTTPCall(target: .nothing), index)
    // Data after the request is ignored.
    connections[index].isPaused = true
    exchange.answer(response)
    sendResponse(exchange, index)
  }

  /// Answers the request, unless it has an answer already.
  func finish(_ index: ConnectionSlot, _ response: HTTPResponse) {
    guard let exchange = connections[index].exchange, exchange.state != .answering else { return }
    exchange.answer(response)
    sendResponse(exchange, index)
  }

  /// Returns the exchange of that connection, if it is still the same one.
  func exchange(_ serial: UInt64, at index: ConnectionSlot) -> HTTPExchange? {
    guard connections.contains(index), let exchange = connections[index].exchange,
      exchange.serial == serial
    else { return nil }
    return exchange
  }

  /// Sends the response, if there is one.
  func sendResponse(_ exchange: HTTPExchange, _ index: ConnectionSlot) {
    guard var response = exchange.response, exchange.state != .answering else { return }
    if let session = connections[index].session {
      shard.close(session)
      connections[index].session = nil
    }
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
    limitTaking(index)
    sendRest(exchange, index)
  }

  /// Ends the connection if the client does not read the answer in time.
  private func limitTaking(_ index: ConnectionSlot) {
    let idle = Int64(context.limits.idleTimeoutSeconds) * 1000
    connections[index].deadline = idle == 0 ? 0 : now.monotonic + idle
  }

  /// Sends the rest of the answer, or of the `100 Continue` before it. After the answer, waits for
  /// the next request or ends the connection.
  func sendRest(_ exchange: HTTPExchange, _ index: ConnectionSlot) {
    if exchange.sent < exchange.output.count {
      let output = exchange.output
      exchange.sent += writeToStream(index, output.span.extracting(exchange.sent...))
    }
    guard exchange.state == .answering, exchange.sent == exchange.output.count,
      !world.hasBacklog(index.stream)
    else { return }
    if exchange.endsConnection {
      linger(index)
      return
    }
    connections[index].phase = .handshake
    // A client has as much time for its next request as for its first.
    connections[index].deadline = requestDeadline
    connections[index].isPaused = false
    nextRequests.append(index)
  }

  /// Takes a request that was pipelined after the last one.
  func takeNextRequest(_ index: ConnectionSlot) {
    guard connections.contains(index), connections[index].awaitsRequest,
      !connections[index].isPaused
    else { return }
    readOn(index)
  }

  // MARK: - Ends

  /// Answers or ends an exchange whose deadline has passed.
  func expire(_ exchange: HTTPExchange, _ index: ConnectionSlot) {
    if exchange.state == .streaming { return sweepStream(exchange, index) }
    guard connections[index].deadline > 0, now.monotonic >= connections[index].deadline else {
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
      finish(index, problem.response)
    case .held where exchange.batch != nil, .waiting where exchange.batch != nil:
      refuseRest(of: exchange, .unavailable, "The relay did not answer in time.")
      sendResponse(exchange, index)
    case .held, .waiting:
      var problem = HTTPProblem(
        503,
        "The relay did not answer in time. An entry may have been stored; retry with the same id.",
        code: .unavailable)
      problem.retryAfterMilliseconds = Refusal.retryAfterMilliseconds
      finish(index, problem.response)
    case .polling: finishPoll(exchange, index)
    case .delayed: sendResponse(exchange, index)
    case .streaming: break
    case .answering:
      context.violations.count(.idleTimeout)
      remove(index)
    }
  }

  /// Handles the end of a request's session, initiated by the shard: its last output is the answer.
  func end(_ exchange: HTTPExchange, _ index: ConnectionSlot, _ reason: CloseReason, _ text: String)
  {
    guard let session = connections[index].session else { return }
    if exchange.state == .streaming {
      exchange.closing = (reason, text)
      connections[index].deadline = now.monotonic + Self.lingerMilliseconds
      toReap.append(index)
    } else if shard.hasOutput(session) {
      exchange.closing = (reason, text)
      toReap.append(index)
    } else {
      answer(exchange, reason, text)
      sendResponse(exchange, index)
    }
  }

  /// Takes the next step of an exchange, once the session's output so far has been read.
  func advance(_ exchange: HTTPExchange, _ index: ConnectionSlot) {
    if exchange.state == .streaming { return advanceStream(exchange, index) }
    if let error = exchange.stream?.refusal {
      exchange.answer(HTTPProblem(error, wall: now.wall).response)
    }
    if exchange.batch != nil, exchange.state == .waiting, exchange.closing == nil {
      return submitNext(exchange, index)
    }
    if exchange.response == nil, exchange.emptyPage != nil, exchange.state == .waiting {
      poll(exchange, index)
    }
    if exchange.response == nil, let (reason, text) = exchange.closing {
      answer(exchange, reason, text)
    }
    sendResponse(exchange, index)
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
