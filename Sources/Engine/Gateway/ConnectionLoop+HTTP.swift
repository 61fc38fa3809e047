import Relay
import WebSocket
import Wire

/// Requests whose answer has to be found: at the relay, or at the other loops.
///
/// A request to the relay opens a session through the same door as a socket does, and so has the same
/// limits and rights; what the session says is the answer. Connections of `/v1` stay open for the next
/// request, since whoever publishes in a row would otherwise shake hands for each entry, with TLS in two
/// round trips more. One request at a time: behind it the connection is not read from, so that what a
/// client sends ahead waits in its own socket. A request that is refused for now (429, 503) ends its
/// connection: what was sent ahead must not overtake it, as relay.v1 promises for any connection.
extension ConnectionLoop {
  /// How long the relay may take. Longer than a disk that is only slow.
  private static let answerMilliseconds: Int64 = 30_000

  /// The head of a request is there.
  func begin(_ call: HTTPCall, _ rest: Span<UInt8>, _ index: Int) {
    exchangeCount += 1
    let exchange = HTTPExchange(call, serial: exchangeCount)
    connections[index].phase = .exchange(exchange)
    noteIdentified(index)
    connections[index].deadline = requestDeadline
    if call.expectsContinue, rest.count == 0, call.contentBytes > 0 {
      let interim = HTTPResponse(status: 100).bytes
      exchange.output = Array(interim[writeToStream(index, interim.span)...])
    }
    takeContent(rest, index)
  }

  /// Takes what belongs to the request; what follows belongs to the next one.
  func takeContent(_ input: Span<UInt8>, _ index: Int) {
    guard let exchange = connections[index].exchange, exchange.state == .reading else { return }
    let count = min(input.count, exchange.call.contentBytes - exchange.content.count)
    unsafe input.extracting(..<count).withUnsafeBufferPointer {
      unsafe exchange.content.append(contentsOf: $0)
    }
    guard exchange.content.count == exchange.call.contentBytes else { return }
    pause(index, with: input.extracting(count...))
    connections[index].deadline = now.monotonic + Self.answerMilliseconds
    exchange.state = .waiting
    switch exchange.call.target {
    case .relay(let message, let identity): ask(message, as: identity, exchange, index)
    case .readiness: askWhetherReady(exchange, index)
    case .metrics: gatherMetrics(for: exchange, index)
    case .nothing: break
    case .avatar(let user, let identity, let known):
      askForAvatar(of: user, as: identity, known, exchange, index)
    }
  }

  /// Who asks without being known pays with the address, so that guessing has an end.
  func refuseUnauthorized(_ response: [UInt8], _ index: Int) {
    if let host = connections[index].host,
      let wait = context.addressBudgets.take(.request, bytes: 0, from: host, now: now.monotonic)
    {
      context.violations.note(.requestsPerSecond)
      answer(Self.tooManyRequests(wait).response.bytes, index)
    } else {
      answer(response, index)
    }
  }

  static func tooManyRequests(_ wait: Int64) -> HTTPProblem {
    var problem = HTTPProblem(
      429, "Too many requests; try again in \(wait) ms.", code: .rateLimited)
    problem.retryAfterMilliseconds = wait
    return problem
  }

  // MARK: - Asking the relay

  private func ask(
    _ message: HTTPCall.Message, as identity: Identity, _ exchange: HTTPExchange, _ index: Int
  ) {
    var validator = UTF8Validator()
    guard validator.accept(exchange.content.span), validator.isComplete else {
      return finish(
        index, HTTPProblem(400, "The content is not UTF-8.", code: .badJSON).response)
    }
    if let wait = pay(for: message, exchange.content.count, identity.user) {
      shard.counters.note(.rateLimited)
      var problem = Self.tooManyRequests(wait)
      if case .send(let room) = message {
        context.violations.note(.sendsPerSecond)
        problem.room = RoomName.isValid(room) ? room : nil
      } else {
        context.violations.note(.requestsPerSecond)
      }
      return finish(index, problem.response)
    }
    exchange.content = message.json(exchange.content)
    let session = shard.open(connection: Int32(index), now: now)
    connections[index].session = session
    shard.identify(session, as: identity, isPresence: false, now: now)
    submit(exchange, index)
  }

  private func pay(for message: HTTPCall.Message, _ bytes: Int, _ user: String) -> Int64? {
    let charge: UserBudget.Charge =
      switch message {
      case .send: .send
      case .whole: .request
      }
    return context.budgets.take(charge, bytes: bytes, from: user, now: now.monotonic)
  }

  /// Hands the message over, now or when the relay takes some again.
  func submit(_ exchange: HTTPExchange, _ index: Int) {
    guard let session = connections[index].session else { return }
    guard shard.mayReceive(session, now: now) else {
      exchange.state = .held
      return
    }
    exchange.state = .waiting
    shard.receive(session, exchange.content.span, now: now)
    exchange.content = []
  }

  // MARK: - Answering

  /// Answers here and now, unless something else was answered before.
  func finish(_ index: Int, _ response: HTTPResponse) {
    guard let exchange = connections[index].exchange, exchange.state != .answering else { return }
    exchange.answer(response)
    sendResponse(exchange, index)
  }

  /// The exchange of that place, if it is still the same.
  func exchange(_ serial: UInt64, at index: Int) -> HTTPExchange? {
    // The place may be gone by now: see `shrink`.
    guard index < connections.count, let exchange = connections[index].exchange,
      exchange.serial == serial
    else { return nil }
    return exchange
  }

  /// Sends the answer, if there is one.
  func sendResponse(_ exchange: HTTPExchange, _ index: Int) {
    guard var response = exchange.response, exchange.state != .answering else { return }
    if let session = connections[index].session {
      shard.close(session)
      connections[index].session = nil
    }
    if exchange.isDuplicate, case .relay(_, let identity) = exchange.call.target {
      context.budgets.noteDuplicate(of: identity.user)
    }
    exchange.state = .answering
    exchange.content = []
    counts.responses[response.status, default: 0] += 1
    if let origin = exchange.call.origin { response.allowReading(by: origin) }
    let isRefusal = response.status == 429 || response.status == 503
    if !exchange.call.keepsAlive || isRefusal || shutdown != nil { exchange.endsConnection = true }
    response.keepsAlive = !exchange.endsConnection
    exchange.output += exchange.call.headOnly ? response.head : response.bytes
    limitTaking(index)
    sendRest(exchange, index)
  }

  /// Who takes an answer so slowly does not want it.
  private func limitTaking(_ index: Int) {
    let idle = Int64(context.limits.idleTimeoutSeconds) * 1000
    connections[index].deadline = idle == 0 ? 0 : now.monotonic + idle
  }

  /// Sends what is left of an answer that was decided by the request's head, as the socket drains, and
  /// ends the connection behind it.
  func sendLater(_ rest: ArraySlice<UInt8>, _ index: Int) {
    exchangeCount += 1
    let exchange = HTTPExchange(HTTPCall(target: .nothing), serial: exchangeCount)
    exchange.state = .answering
    exchange.endsConnection = true
    exchange.output = Array(rest)
    connections[index].phase = .exchange(exchange)
    // What follows the request is not looked at.
    connections[index].isPaused = true
    limitTaking(index)
  }

  /// Sends what is left of the answer, or of what announces it, and goes on when that is out.
  func sendRest(_ exchange: HTTPExchange, _ index: Int) {
    if exchange.sent < exchange.output.count {
      exchange.sent += writeToStream(index, exchange.output.span.extracting(exchange.sent...))
    }
    guard exchange.state == .answering, exchange.sent == exchange.output.count,
      !world.hasBacklog(index)
    else { return }
    if exchange.endsConnection {
      linger(index)
      return
    }
    connections[index].phase = .handshake
    // Between two requests nobody is waited for longer than for a first one.
    connections[index].deadline = requestDeadline
    connections[index].isPaused = false
    nextRequests.append(Int32(index))
  }

  /// Takes what was sent ahead of the last answer.
  func takeNextRequest(_ index: Int) {
    guard connections[index].awaitsRequest, !connections[index].isPaused else { return }
    readOn(index)
  }

  // MARK: - Ends

  /// The time is over.
  func expire(_ exchange: HTTPExchange, _ index: Int) {
    guard connections[index].deadline > 0, now.monotonic >= connections[index].deadline else {
      return
    }
    switch exchange.state {
    case .reading:
      context.violations.note(.handshakeTimeout)
      // Where its end is, is not known.
      exchange.endsConnection = true
      finish(index, HTTPProblem(408, "The content did not come in time.").response)
    case .held, .waiting:
      var problem = HTTPProblem(
        503,
        "The relay did not answer in time. Whether an entry was stored is not known; send it again "
          + "with the same id.", code: .unavailable)
      problem.retryAfterMilliseconds = Refusal.retryAfterMilliseconds
      finish(index, problem.response)
    case .answering:
      context.violations.note(.idleTimeout)
      remove(index)
    }
  }

  /// The relay ends the session of a request; what it has said before is the answer.
  func end(_ exchange: HTTPExchange, _ index: Int, _ reason: CloseReason, _ text: String) {
    guard let session = connections[index].session else { return }
    if shard.hasOutput(session) {
      exchange.closing = (reason, text)
      toReap.append(Int32(index))
    } else {
      finish(index, Self.problem(reason, text).response)
    }
  }

  /// As far as an exchange has come: all that the session has said is taken.
  func advance(_ exchange: HTTPExchange, _ index: Int) {
    if exchange.response == nil, let (reason, text) = exchange.closing {
      exchange.answer(Self.problem(reason, text).response)
    }
    sendResponse(exchange, index)
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
