import Relay
import WebSocket
import Wire

/// `GET /v1/stream`: a session whose messages are server-sent events.
///
/// The session is the same as that of a WebSocket, so its entries wait in the log and not in memory.
/// Its frames become events when they leave for the socket, a few at a time: a stream that does not
/// read holds at most `EventStream.outputBytes` and one event besides the session's queue.
final class StreamExchange: SessionExchange {
  private let request: HTTPRequest
  private var stream: EventStream?
  /// Whether the stream has begun: it is the answer.
  private var isStreaming = false
  override var recordsWrites: Bool { isStreaming && closing == nil }
  /// The events that the socket has not taken.
  private var events: [UInt8] = []
  private var sent = 0

  init(
    _ request: HTTPRequest, _ call: HTTPCall, _ id: ExchangeID, _ loop: ConnectionLoop,
    _ connection: ServerConnection
  ) {
    self.request = request
    super.init(call, id, loop, connection)
  }

  override func start(_ content: [UInt8]) {
    let cursors: StreamCursors
    do throws(WireError) {
      cursors = try self.cursors()
    } catch {
      return finish(HTTPProblem(error).response)
    }
    if call.headOnly { return finish(Self.head) }
    let requests = (cursors.rooms.count - 1) / PendingJoins.roomsPerRequest + 1
    if let problem = loop.charge(requests: requests, to: identity.user) {
      return finish(problem.response)
    }
    let stream = EventStream(
      cursors, retryMilliseconds: Int64.random(in: 1000...3000, using: &loop.random))
    self.stream = stream
    _ = open(isPresence: true, lasts: true)
    submit(stream.join)
  }

  private func cursors() throws(WireError) -> StreamCursors {
    let ids = request.headers["Last-Event-ID"]
    guard ids.count <= 1 else {
      throw WireError(.badField, "There must be at most one Last-Event-ID.")
    }
    let cursors = try StreamCursors(
      request.queryItems, lastID: ids.first ?? request.query("last_event_id"))
    let limit = loop.context.shard.limits.roomsPerConnection
    guard limit == 0 || cursors.rooms.count <= limit else {
      throw WireError(.tooManyRooms, "A stream has at most \(limit) rooms.")
    }
    return cursors
  }

  private static let head: HTTPResponse = {
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
  override func write(_ frames: Span<UInt8>) -> Int {
    var taken = 0
    while taken < frames.count, events.isEmpty {
      while taken < frames.count, events.count < EventStream.outputBytes {
        guard
          let header = try? FrameHeader.read(
            frames.extracting(taken...), as: .client, payloadLimitBytes: 0)
        else { preconditionFailure("the output of a session is whole frames") }
        let payload = taken + header.headerLength
        taken = payload + header.payloadLength
        stream?.append(frames.extracting(payload..<taken).copy, to: &events)
      }
      if !isStreaming, stream?.hasBegun == true { begin() }
      sendEvents()
    }
    if !isStreaming || closing != nil { loop.advanceLater(connection) }
    return taken
  }

  private func begin() {
    loop.report(connection, "A stream begins.")
    isStreaming = true
    connection.deadline = 0
    connection.takenAt = loop.now.monotonic
    loop.counts.responses[200, default: 0] += 1
    var head = Self.head
    if call.variesByOrigin { head.allowReading(by: call.origin) }
    events = head.bytes + events
  }

  /// Sends the rest of the events that were written.
  private func sendEvents() {
    if sent < events.count {
      let events = events
      sent += loop.writeToStream(connection, events.span.extracting(sent...))
    }
    guard sent == events.count else { return }
    events = []
    sent = 0
  }

  override func continueOutput() {
    guard isStreaming else { return super.continueOutput() }
    sendEvents()
    guard events.isEmpty, let session = connection.session else { return }
    loop.shard.unblock(session)
    if closing != nil { loop.advanceLater(connection) }
  }

  // MARK: - Ends

  override func clientClosed() {
    if isStreaming { loop.remove(connection, "the client closed the connection") }
  }

  override func step() {
    if let error = stream?.refusal { answer(HTTPProblem(error, wall: loop.now.wall).response) }
  }

  override func sessionEnds(_ reason: CloseReason, _ text: String) {
    guard isStreaming else { return super.sessionEnds(reason, text) }
    connection.deadline = loop.now.monotonic + ConnectionLoop.lingerMilliseconds
    endLater(reason, text)
  }

  /// A stream ends when its last output is sent.
  override func advance() {
    guard isStreaming else { return super.advance() }
    guard closing != nil, let session = connection.session else { return }
    if loop.shard.hasOutput(session) || !events.isEmpty
      || loop.world.hasBacklog(connection.stream)
    {
      // During a shutdown a client that does not read is not waited for.
      if loop.isShuttingDown { loop.remove(connection) }
      return
    }
    loop.linger(connection)
  }

  /// Sends a comment after a silence, and ends a stream whose client does not read or is gone.
  override func sweep() {
    guard isStreaming else { return super.sweep() }
    if connection.sawEnd { return loop.remove(connection, "the client closed the connection") }
    let deadline = connection.deadline
    if closing != nil, deadline > 0, loop.now.monotonic >= deadline {
      return loop.remove(connection)
    }
    let silence = loop.now.monotonic - connection.takenAt
    let idle = Int64(loop.context.limits.idleTimeoutSeconds) * 1000
    guard events.isEmpty, !loop.world.hasBacklog(connection.stream) else {
      if idle > 0, silence >= idle {
        loop.countViolation(.idleTimeout, by: connection)
        loop.remove(connection, "the client has read nothing for \(idle / 1000) s")
      }
      return
    }
    guard silence >= EventStream.commentMilliseconds else { return }
    // The system takes comments also for a client that is gone, and waits for their acknowledgement.
    if idle > 0,
      loop.world.millisecondsSinceAcknowledgement(connection.stream)
        >= max(idle, 2 * EventStream.commentMilliseconds)
    {
      loop.countViolation(.idleTimeout, by: connection)
      return loop.remove(connection, "nothing was heard from the client's machine")
    }
    events = EventStream.comment
    sendEvents()
  }
}
