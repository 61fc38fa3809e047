import Relay
import WebSocket
import Wire

/// The opening handshake: a request that becomes a WebSocket or an HTTP exchange.
extension ConnectionLoop {
  /// Reads a request and routes it; returns `true` if WebSocket frames may follow it.
  func takeRequest(_ input: Span<UInt8>, _ offset: inout Int, _ connection: ServerConnection)
    -> Bool
  {
    do throws(HTTPViolation) {
      var scanner = HTTPHeadScanner()
      defer { headBytesScanned += scanner.scannedBytes }
      guard let (request, length) = try HTTPRequest.read(input, limits: headLimits, &scanner) else {
        connection.unfinishedHead = UnfinishedHead(input, scanner)
        return false
      }
      offset = length
      if let refusal = assignToClient(request, connection) {
        context.violations.count(refusal.rule)
        answer(HTTPResponse(status: 503, text: refusal.text), connection)
        return false
      }
      // Each request has its own credentials.
      connection.isAuthenticated = false
      switch context.router.route(
        request, from: connection.peer,
        isOperator: context.authenticator.isOperator,
        identify: { context.authenticator.identify(request, wall: now.wall) })
      {
      case .answer(let response):
        answerUnauthenticated(response, connection)
        return false
      case .refuse(let response, let rule):
        context.violations.count(rule)
        answerUnauthenticated(response, connection)
        return false
      case .call(let call):
        begin(call, input.extracting(offset...), connection)
        return false
      case .webSocket(let opening):
        let identity = context.authenticator.identify(request, wall: now.wall)
        if !identity.isKnown, let problem = chargeUnauthenticated(connection) {
          refuseLater(HTTPResponse(status: 429, text: "\(problem.detail)\n"), connection)
          return false
        }
        connection.arrival[.hasPaidForRequest] = identity == .unknown
        identify(open(connection, opening), connection, identity)
        return true
      case .echo(let opening):
        _ = open(connection, opening)
        connection.state = .echo
        recordEstablished(connection)
        return true
      }
    } catch {
      context.violations.count(error.rule)
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

  private func open(_ connection: ServerConnection, _ opening: RequestRouter.Opening) -> SessionID {
    let webSocket = WebSocket.Connection(
      role: .server, limits: webSocketLimits, deflate: opening.deflate, sharing: deflateStreams)
    let session = openSession(
      for: connection, compresses: webSocket.canInflate(from: deflater))
    connection.webSocket = webSocket
    connection.state = .open
    shard.append(frames: opening.response.bytes, to: session)
    return session
  }

  private func identify(
    _ session: SessionID, _ connection: ServerConnection, _ answer: Authenticator.Answer
  ) {
    switch answer {
    case .known(let identity):
      recordEstablished(connection)
      shard.identify(session, as: identity, now: now)
    case .unknown: break
    case .refused(let error): shard.reject(session, error)
    }
  }

  /// Records that the client has authenticated, if the message just received did that.
  func recordIfAuthenticated(_ session: SessionID, _ connection: ServerConnection) {
    if shard.isAuthenticated(session) { recordEstablished(connection) }
  }

  /// Ends the limits that apply to an unauthenticated connection.
  func recordAuthenticated(_ connection: ServerConnection) {
    connection.isAuthenticated = true
    connection.deadline = 0
    if connection.isCountedAsUnauthenticated, let host = connection.host {
      connection.isCountedAsUnauthenticated = false
      context.admission.uncountUnauthenticated(host)
    }
  }
}
