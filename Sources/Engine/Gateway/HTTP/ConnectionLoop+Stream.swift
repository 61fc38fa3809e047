import Relay
import WebSocket
import Wire

/// `GET /v1/stream`: a session whose messages are server-sent events.
///
/// The session is the same as that of a WebSocket, so its entries wait in the log and not in memory.
/// Its frames become events when they leave for the socket, a few at a time: a stream that does not
/// read holds at most `EventStream.outputBytes` and one event besides the session's queue.
extension ConnectionLoop {
  func openStream(
    _ request: HTTPRequest, as identity: Identity, _ exchange: HTTPExchange,
    _ connection: ServerConnection
  ) {
    let places: StreamPlaces
    do throws(WireError) {
      places = try streamPlaces(request)
    } catch {
      return finish(connection, HTTPProblem(error).response)
    }
    if exchange.call.headOnly { return finish(connection, Self.streamHead) }
    let requests = (places.rooms.count - 1) / PendingJoins.roomsPerRequest + 1
    if let problem = charge(requests: requests, to: identity.user) {
      return finish(connection, problem.response)
    }
    let stream = EventStream(
      places, retryMilliseconds: Int64.random(in: 1000...3000, using: &random))
    exchange.stream = stream
    exchange.content = stream.join
    let session = openSession(for: connection)
    shard.identify(session, as: identity, lasts: true, now: now)
    submit(exchange, connection)
  }

  private func streamPlaces(_ request: HTTPRequest) throws(WireError) -> StreamPlaces {
    let ids = request.headers["Last-Event-ID"]
    guard ids.count <= 1 else {
      throw WireError(.badField, "There must be at most one Last-Event-ID.")
    }
    let places = try StreamPlaces(
      request.queryItems, lastID: ids.first ?? request.query("last_event_id"))
    let limit = context.shard.limits.roomsPerConnection
    guard limit == 0 || places.rooms.count <= limit else {
      throw WireError(.tooManyRooms, "A stream has at most \(limit) rooms.")
    }
    return places
  }

  private static let streamHead: HTTPResponse = {
    var response = HTTPResponse(status: 200, contentType: "text/event-stream", body: [])
    // nginx would collect events before it passes them on.
    response.add("X-Accel-Buffering", "no")
    response.protect()
    response.endsWithConnection = true
    return response
  }()

  // MARK: - Output

  /// Writes frames of the session as events; returns the number of accepted bytes, which are whole
  /// frames. Events that the socket did not take are sent first, and nothing is accepted until then.
  func writeEvents(
    of exchange: HTTPExchange, _ connection: ServerConnection, _ frames: Span<UInt8>
  ) -> Int {
    var taken = 0
    while taken < frames.count, exchange.output.isEmpty {
      while taken < frames.count, exchange.output.count < EventStream.outputBytes {
        guard
          let header = try? FrameHeader.read(
            frames.extracting(taken...), as: .client, payloadLimitBytes: 0)
        else { preconditionFailure("the output of a session is whole frames") }
        let payload = taken + header.headerLength
        taken = payload + header.payloadLength
        exchange.stream?.append(frames.extracting(payload..<taken).copy, to: &exchange.output)
      }
      if exchange.state != .streaming, exchange.stream?.hasBegun == true {
        beginStream(exchange, connection)
      }
      sendEvents(exchange, connection)
    }
    if exchange.state != .streaming || exchange.closing != nil { toReap.append(connection) }
    return taken
  }

  private func beginStream(_ exchange: HTTPExchange, _ connection: ServerConnection) {
    exchange.state = .streaming
    exchange.endsConnection = true
    connection.deadline = 0
    connection.takenAt = now.monotonic
    counts.responses[200, default: 0] += 1
    var head = Self.streamHead
    if let origin = exchange.call.origin { head.allowReading(by: origin) }
    exchange.output = head.bytes + exchange.output
  }

  /// Sends the rest of the events that were written.
  func sendEvents(_ exchange: HTTPExchange, _ connection: ServerConnection) {
    if exchange.sent < exchange.output.count {
      let output = exchange.output
      exchange.sent += writeToStream(connection, output.span.extracting(exchange.sent...))
    }
    guard exchange.sent == exchange.output.count else { return }
    exchange.output = []
    exchange.sent = 0
  }

  /// Continues with a stream whose socket takes bytes again.
  func continueStream(_ exchange: HTTPExchange, _ connection: ServerConnection) {
    sendEvents(exchange, connection)
    guard exchange.output.isEmpty, let session = connection.session else { return }
    shard.unblock(session)
    if exchange.closing != nil { toReap.append(connection) }
  }

  // MARK: - Ends

  /// Takes the next step of a stream: it ends when its last output is sent.
  func advanceStream(_ exchange: HTTPExchange, _ connection: ServerConnection) {
    guard exchange.closing != nil, let session = connection.session else { return }
    if shard.hasOutput(session) || !exchange.output.isEmpty || world.hasBacklog(connection.stream) {
      // During a shutdown a client that does not read is not waited for.
      if shutdown != nil { remove(connection) }
      return
    }
    linger(connection)
  }

  /// Sends a comment after a silence, and ends a stream whose client does not read or is gone.
  func sweepStream(_ exchange: HTTPExchange, _ connection: ServerConnection) {
    if connection.sawEnd { return remove(connection) }
    let deadline = connection.deadline
    if exchange.closing != nil, deadline > 0, now.monotonic >= deadline {
      return remove(connection)
    }
    let silence = now.monotonic - connection.takenAt
    let idle = Int64(context.limits.idleTimeoutSeconds) * 1000
    guard exchange.output.isEmpty, !world.hasBacklog(connection.stream) else {
      if idle > 0, silence >= idle {
        context.violations.count(.idleTimeout)
        remove(connection)
      }
      return
    }
    guard silence >= EventStream.commentMilliseconds else { return }
    // The system takes comments also for a client that is gone, and waits for their acknowledgement.
    if idle > 0,
      world.millisecondsSinceAcknowledgement(connection.stream)
        >= max(idle, 2 * EventStream.commentMilliseconds)
    {
      context.violations.count(.idleTimeout)
      return remove(connection)
    }
    exchange.output = EventStream.comment
    sendEvents(exchange, connection)
  }
}
