import Relay
import WebSocket
import Wire

/// HTTP: a request becomes a WebSocket or an `HTTPExchange`, which has its connection until it is
/// answered.
extension ConnectionLoop {
  /// Reads a request and routes it; returns `true` if WebSocket frames may follow it.
  func takeRequest(
    _ input: Span<UInt8>, _ offset: inout Int, _ connection: ServerConnection
  ) -> Bool {
    do throws(HTTPViolation) {
      var scanner = HTTPHeadScanner()
      defer { headBytesScanned += scanner.scannedBytes }
      guard let (request, length) = try HTTPRequest.read(input, limits: headLimits, &scanner) else {
        connection.unfinishedHead = UnfinishedHead(input, scanner)
        return false
      }
      offset = length
      if let refusal = assignToClient(request, connection) {
        countViolation(refusal.rule, by: connection)
        answer(HTTPResponse(status: 503, text: refusal.text), connection)
        return false
      }
      return answer(request, input.extracting(length...), connection)
    } catch {
      countViolation(error.rule, by: connection)
      let isTooLarge = error.status == 414 || error.status == 431
      let code = isTooLarge ? ErrorCode.tooLarge : .badField
      answerUnauthenticated(
        HTTPProblem(error.status, error.description, code: code).response, connection)
      return false
    }
  }

  var headLimits: HTTPHeadScanner.Limits {
    HTTPHeadScanner.Limits(
      bytes: context.limits.headerBytes, lines: context.limits.headerLines)
  }

  /// Begins to answer a request; returns `true` if it opens a WebSocket.
  /// - Parameter rest: what follows its head.
  private func answer(
    _ request: HTTPRequest, _ rest: Span<UInt8>, _ connection: ServerConnection
  ) -> Bool {
    report(
      connection, "A request has arrived.",
      [LogField("method", request.method), LogField("path", request.shownPath)])
    // Each request has its own credentials.
    connection.isAuthenticated = false
    var unverified: String?
    let route = route(request, connection) {
      let answer = context.authenticator.identify(
        request, wall: now.wall, from: connection.host)
      if case .later(let token) = answer { unverified = token }
      return answer
    }
    if let unverified {
      // What it is answered depends on who asks, so nothing has been done yet.
      let exchange = addExchange(connection) {
        UnverifiedRequest(request, token: unverified, $0, self, connection)
      }
      exchange.begin(rest)
      return false
    }
    return answer(route, to: request, rest, connection)
  }

  private func route(
    _ request: HTTPRequest, _ connection: ServerConnection,
    identify: () -> Authenticator.Answer
  ) -> RequestRouter.Route {
    context.router.route(
      request, from: connection.peer, isOperator: context.authenticator.isOperator,
      identify: identify)
  }

  private func answer(
    _ route: RequestRouter.Route, to request: HTTPRequest, _ rest: Span<UInt8>,
    _ connection: ServerConnection
  ) -> Bool {
    switch route {
    case .answer(let response): answerUnauthenticated(response, connection)
    case .refuse(let response, let rule):
      countViolation(rule, by: connection)
      answerUnauthenticated(response, connection)
    case .call(let call):
      let exchange = addExchange(call, connection)
      if call.isAuthenticated {
        recordEstablished(connection)
      } else {
        recordAuthenticated(connection)
      }
      exchange.begin(rest)
    case .webSocket(let opening):
      let identity = context.authenticator.identify(
        request, wall: now.wall, from: connection.host)
      if identity == .crossOrigin {
        countViolation(.origins, by: connection)
        answerUnauthenticated(
          HTTPResponse(status: 403, text: "\(HTTPProblem.crossOrigin.detail)\n"), connection)
        return false
      }
      if !identity.isKnown, let problem = chargeUnauthenticated(connection) {
        refuseLater(HTTPResponse(status: 429, text: "\(problem.detail)\n"), connection)
        return false
      }
      let mayBecomeKnown = if case .later = identity { true } else { identity == .unknown }
      connection.arrival[.hasPaidForRequest] = mayBecomeKnown
      let session = open(connection, opening, as: .open)
      switch identity {
      case .known(let identity):
        recordEstablished(connection)
        shard.identify(session, as: identity, now: now)
      case .unknown: break
      case .later(let token):
        shard.awaitVerification(session)
        verify(token, of: session, connection)
      case .refused(let error): shard.reject(session, error)
      case .crossOrigin: preconditionFailure("it was answered above")
      }
      return true
    case .echo(let opening):
      _ = open(connection, opening, as: .echo)
      recordEstablished(connection)
      return true
    }
    return false
  }

  private func open(
    _ connection: ServerConnection, _ opening: RequestRouter.Opening,
    as state: ServerConnection.State
  ) -> SessionID {
    report(connection, "A WebSocket opens.")
    let webSocket = WebSocket.Connection(
      role: .server, limits: webSocketLimits, deflate: opening.deflate, sharing: deflateStreams)
    let session = openSession(
      for: connection, compresses: webSocket.canInflate(from: deflater))
    connection.webSocket = webSocket
    connection.state = state
    shard.append(frames: opening.response.bytes, to: session)
    return session
  }

  // MARK: - Exchanges

  private func addExchange(_ call: HTTPCall, _ connection: ServerConnection) -> HTTPExchange {
    addExchange(connection) { id in
      switch call.target {
      case .relay(let message): RelayExchange(message, call, id, self, connection)
      case .requests: BatchExchange(call, id, self, connection)
      case .endConnection(let name): EndingExchange(of: name, call, id, self, connection)
      case .stream(let request): StreamExchange(request, call, id, self, connection)
      case .files(let request): fileExchange(request, call, id, connection)
      case .accounts(let request):
        AdministrationExchange(request, call, id, self, connection)
      case .account(let question, let request):
        AccountExchange(question, request, call, id, self, connection)
      default: HTTPExchange(call, id, self, connection)
      }
    }
  }

  private func addExchange(
    _ connection: ServerConnection, _ make: (ExchangeID) -> HTTPExchange
  ) -> HTTPExchange {
    exchangeCount += 1
    let exchange = make(
      ExchangeID(loop: index, stream: connection.stream, serial: exchangeCount))
    connection.state = .exchange(exchange)
    return exchange
  }

  // MARK: - Verification that takes time

  /// Begins to verify the token of a WebSocket. The time that this takes is not the client's.
  func verify(_ token: String, of session: SessionID, _ connection: ServerConnection) {
    if !connection.isAuthenticated, connection.deadline > 0 {
      connection.deadline = max(
        connection.deadline, now.monotonic + HTTPExchange.answerMilliseconds)
    }
    world.verify(
      token, from: connection.host, for: .session(session, stream: connection.stream))
  }

  /// Takes the result of `LoopWorld.verify`.
  func finishVerification(
    _ result: Result<Identity, WireError>, for asker: VerificationAsker
  ) {
    let result = context.authenticator.allowed(result, wall: now.wall)
    switch asker {
    case .session(let session, let stream):
      shard.finishVerification(session, result, now: now)
      if let connection = connections[stream], connection.session == session,
        !connection.isAuthenticated, shard.isAuthenticated(session)
      {
        recordEstablished(connection)
      }
    case .request(let id):
      guard let pending = exchange(id) as? UnverifiedRequest else { return }
      answer(pending, result)
    }
  }

  /// Answers a request whose token is verified, as if it had just arrived.
  private func answer(_ pending: UnverifiedRequest, _ result: Result<Identity, WireError>) {
    let connection = pending.connection
    let rest = connection.pending
    connection.state = .resting
    connection.pending = []
    connection.isPaused = false
    let route = route(pending.request, connection) {
      switch result {
      case .success(let identity): .known(identity)
      case .failure(let error): .refused(error)
      }
    }
    _ = answer(route, to: pending.request, rest.span, connection)
    // Its content may have arrived meanwhile, and is reported once.
    if connection.isReadable, !connection.isPaused { unfinished.append(connection) }
  }

  /// Returns an exchange, if it has not ended.
  func exchange(_ id: ExchangeID) -> HTTPExchange? {
    guard let exchange = connections[id.stream]?.exchange, exchange.id == id else { return nil }
    return exchange
  }

  /// Answers a request that needs only its head, and ends the connection.
  func answer(_ response: HTTPResponse, _ connection: ServerConnection) {
    addExchange(HTTPCall(target: .nothing), connection).finishWithoutContent(response)
  }

  /// Refuses a request that needs only its head, at the next sweep, and ends the connection.
  private func refuseLater(_ response: HTTPResponse, _ connection: ServerConnection) {
    addExchange(HTTPCall(target: .nothing), connection).refuseLater(response)
  }

  /// Answers a request that is not authenticated. Such requests are rate-limited by address, which
  /// bounds guessing of tokens.
  private func answerUnauthenticated(_ response: HTTPResponse, _ connection: ServerConnection) {
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
    context.violations.count(sends > 0 ? .sendsPerSecond : .requestsPerSecond, by: user)
    return .tooManyRequests(wait)
  }

  /// Refuses requests that were accepted by their head, and whose content is still arriving: otherwise a client
  /// that is thrown out could complete them.
  /// - Parameter refusal: why an identity is no longer accepted.
  func refuseReading(_ refusal: (Identity) -> WireError?) {
    for stream in 0..<connections.capacity {
      guard let exchange = connections[stream]?.exchange, exchange.isReading,
        let error = exchange.call.identity.flatMap(refusal)
      else { continue }
      exchange.refuseContent(HTTPProblem(error).response)
    }
  }

  /// Lets a connection wait for its next request, for as long as for its first.
  func rest(_ connection: ServerConnection) {
    connection.state = .resting
    connection.deadline = requestDeadline
    connection.isPaused = false
    nextRequests.append(connection)
  }

  /// Takes a request that was pipelined after the last one.
  func takeNextRequest(_ connection: ServerConnection) {
    if connection.awaitsRequest, !connection.isPaused { readOn(connection) }
  }

  /// Reports new entries to the requests that wait for one.
  func readPolled() {
    for stream in shard.takePolled() { connections[Int(stream)]?.exchange?.readPolled() }
  }
}
