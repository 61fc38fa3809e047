import Relay
import WebSocket
import Wire

/// The opening handshake: a request that becomes a WebSocket or an HTTP exchange.
extension ConnectionLoop {
  /// Reads a request and routes it; returns `true` if WebSocket frames may follow it.
  func takeRequest(_ input: Span<UInt8>, _ offset: inout Int, _ index: ConnectionSlot) -> Bool {
    do throws(HTTPViolation) {
      var scanner = HTTPHeadScanner()
      defer { headBytesScanned += scanner.scannedBytes }
      guard let (request, length) = try HTTPRequest.read(input, limits: headLimits, &scanner) else {
        connections[index].unfinishedHead = UnfinishedHead(input, scanner)
        return false
      }
      offset = length
      if let refusal = assignToClient(request, index) {
        context.violations.count(refusal.rule)
        answer(HTTPResponse(status: 503, text: refusal.text), index)
        return false
      }
      // Each request has its own credentials.
      connections[index].isAuthenticated = false
      switch context.router.route(
        request, from: connections[index].peer,
        isOperator: context.authenticator.isOperator,
        identify: { context.authenticator.identify(request, wall: now.wall) })
      {
      case .answer(let response):
        answerUnauthenticated(response, index)
        return false
      case .refuse(let response, let rule):
        context.violations.count(rule)
        answerUnauthenticated(response, index)
        return false
      case .call(let call):
        begin(call, input.extracting(offset...), index)
        return false
      case .webSocket(let opening):
        let identity = context.authenticator.identify(request, wall: now.wall)
        if !identity.isKnown, let problem = chargeUnauthenticated(index) {
          refuseLater(HTTPResponse(status: 429, text: "\(problem.detail)\n"), index)
          return false
        }
        connections[index].arrival[.hasPaidForRequest] = identity == .unknown
        identify(open(index, opening), index, identity)
        return true
      case .echo(let opening):
        _ = open(index, opening)
        connections[index].phase = .echo
        recordEstablished(index)
        return true
      }
    } catch {
      context.violations.count(error.rule)
      let isTooLarge = error.status == 414 || error.status == 431
      let code = isTooLarge ? ErrorCode.tooLarge : .badField
      answerUnauthenticated(
        HTTPProblem(error.status, error.description, code: code).response, index)
      return false
    }
  }

  var headLimits: HTTPHeadScanner.Limits {
    HTTPHeadScanner.Limits(
      bytes: context.limits.headerBytes, lines: context.limits.headerLines)
  }

  private func open(_ index: ConnectionSlot, _ opening: RequestRouter.Opening) -> SessionID {
    let webSocket = WebSocket.Connection(
      role: .server, limits: webSocketLimits, deflate: opening.deflate, sharing: deflateStreams)
    let session = shard.open(
      connection: index.place, compresses: webSocket.canInflate(from: deflater), now: now)
    connections[index].webSocket = webSocket
    connections[index].session = session
    connections[index].phase = .open
    shard.append(frames: opening.response.bytes, to: session)
    return session
  }

  private func identify(
    _ session: SessionID, _ index: ConnectionSlot, _ answer: Authenticator.Answer
  ) {
    switch answer {
    case .known(let identity):
      recordEstablished(index)
      shard.identify(session, as: identity, now: now)
    case .unknown: break
    case .refused(let error): shard.reject(session, error)
    }
  }

  /// Records that the client has authenticated, if the message just received did that.
  func recordIfAuthenticated(_ session: SessionID, _ index: ConnectionSlot) {
    if shard.isAuthenticated(session) { recordEstablished(index) }
  }

  /// Ends the limits that apply to an unauthenticated connection.
  func recordAuthenticated(_ index: ConnectionSlot) {
    connections[index].isAuthenticated = true
    connections[index].deadline = 0
    if connections[index].isCountedAsUnauthenticated, let host = connections[index].host {
      connections[index].isCountedAsUnauthenticated = false
      context.admission.uncountUnauthenticated(host)
    }
  }
}
