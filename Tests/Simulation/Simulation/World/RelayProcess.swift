internal import Hostile
internal import Relay
internal import WebSocket
internal import Wire

extension Framing {
  /// As the server frames: not masked, one frame a message.
  static let simulated = Framing { payloadBytes, frames in
    FrameHeader(opcode: .text, payloadLength: payloadBytes).append(to: &frames)
  }
}

/// One life of the relay's process: its loops, their connections and its log, as the server puts them
/// together (`ConnectionLoop`), on the simulation's clock and over simulated links.
final class RelayProcess {
  enum Phase {
    case handshake
    case open
    case closing
  }

  /// One accepted connection.
  final class Connection {
    let link: Link
    var webSocket: WebSocket.Connection
    var phase = Phase.handshake
    var session: SessionID?
    /// Input that was read and not yet taken.
    var pending: [UInt8] = []
    var isPaused = false
    var isBlocked = false
    var heardAt: Int64
    var takenAt: Int64
    var wasPinged = false
    var deadline: Int64 = .max

    init(_ link: Link, frameBytes: Int, now: Int64) {
      self.link = link
      webSocket = WebSocket.Connection(
        role: .server,
        limits: .init(frameBytes: frameBytes, messageBytes: frameBytes, fragments: 1024))
      heardAt = now
      takenAt = now
    }
  }

  static let readBytes = 65_536
  static let sweepMilliseconds: Int64 = 250
  private static let lingerMilliseconds: Int64 = 2000

  let life: Int
  let log: any SimulatedLog
  private let configuration: Configuration
  var shards: [Shard]
  var inboxes: [[LogDelivery]]
  private var connections: [[Int32: Connection]]
  private var control: [UInt8] = []
  var submitted: [(loop: Int, requests: [LogRequest])] = []
  var reads: [(loop: Int, request: ReadRequest, askedAt: Int64)] = []
  /// When sends and joins of honest clients were taken that the log has not answered.
  private var unanswered: [Question: Int64] = [:]
  /// What each loop has done in its last turn, in counts of `Work`.
  var work: [Work]
  /// The log is at work on a batch.
  var isCommitting = false
  var isReading = false
  var isShuttingDown = false
  private(set) var mostQueuedBytes = 0
  /// Told of every message of an honest client when it is taken.
  var onReceive: (Link, ClientMessage) -> Void = { _, _ in }
  /// Told when a connection is not read any more, and when it is again.
  var onPause: (Link, _ isPaused: Bool) -> Void = { _, _ in }
  /// Told how long an honest client has waited for the relay, since when and for what.
  var onWait: (_ since: Int64, _ purpose: String) -> Void = { _, _ in }
  /// Told of what one of the links takes.
  var tally: (Tally.Event) -> Void = { _ in }

  /// What an honest client has asked of the log.
  private struct Question: Hashable {
    var loop: Int
    var session: SessionID
    var room: String
    /// Of a send; `nil` of a join.
    var id: String?
  }

  struct Configuration {
    var shard: Shard.Configuration
    var idleTimeoutMilliseconds: Int64
  }

  init(life: Int, log: any SimulatedLog, loops: Int, seed: UInt64, _ configuration: Configuration) {
    self.life = life
    self.log = log
    self.configuration = configuration
    let budgets = Budgets<String>(configuration.shard.limits.budget)
    shards = (0..<loops).map {
      Shard(
        configuration: configuration.shard, framing: .simulated, budgets: budgets,
        epoch: log.epoch, seed: seed &+ UInt64($0))
    }
    inboxes = Array(repeating: [], count: loops)
    work = Array(repeating: Work(), count: loops)
    connections = Array(repeating: [:], count: loops)
  }

  func accept(_ link: Link, now: Moment) {
    connections[link.loop][link.number] = Connection(
      link, frameBytes: configuration.shard.limits.frameBytes, now: now.monotonic)
  }

  var connectionCount: Int { connections.reduce(0) { $0 + $1.count } }

  // MARK: - A turn

  /// One turn of a loop, in the server's order.
  /// - Parameter readLimit: chooses how much of what has arrived is read at a time.
  /// - Returns: what is to be read from storage.
  func turn(
    _ loop: Int, now: Moment, readLimit: () -> Int, write: (Link, Span<UInt8>) -> Int
  ) {
    let deliveries = inboxes[loop]
    inboxes[loop] = []
    for delivery in deliveries {
      note(delivery.answers, loop)
      shards[loop].apply(delivery, now: now)
    }
    for connection in sorted(loop) {
      if connection.isBlocked, connection.link.toClient.space > 0 {
        connection.isBlocked = false
        if let session = connection.session { shards[loop].unblock(session) }
      }
      if !connection.isPaused { read(connection, now, limit: readLimit()) }
    }
    shards[loop].tick(now: now)
    advanceShutdown(loop)
    for closing in shards[loop].takeClosings() {
      guard let connection = connections[loop][closing.connection] else { continue }
      close(connection, CloseCode(rawValue: closing.reason.rawValue), closing.text, now)
    }
    if let requests = shards[loop].takeRequests(now: now) { submitted.append((loop, requests)) }
    let open = connections[loop]
    shards[loop].flush(now: now) { number, bytes in
      guard let connection = open[number] else { return bytes.count }
      let taken = write(connection.link, bytes)
      if taken > 0 { connection.takenAt = now.monotonic }
      if taken < bytes.count { connection.isBlocked = true }
      return taken
    }
    for request in shards[loop].takeReads() { reads.append((loop, request, now.monotonic)) }
    for number in shards[loop].takeResumable() {
      guard let connection = connections[loop][number] else { continue }
      onPause(connection.link, false)
      if !connection.link.toRelay.arrived.isEmpty { connection.link.waitsSince = now.monotonic }
      readOn(connection, now)
    }
    settle(loop, now)
  }

  /// Whether a loop has something to do at this time.
  func hasEvent(_ loop: Int, now: Int64) -> Bool {
    if !inboxes[loop].isEmpty || shards[loop].hasWork { return true }
    if let deadline = shards[loop].nextDeadline, deadline <= now { return true }
    return connections[loop].values.contains {
      $0.isBlocked && $0.link.toClient.space > 0 || $0.link.toClient.isBroken
        || !$0.isPaused
          && (!$0.link.toRelay.arrived.isEmpty || $0.link.toRelay.ending(now: now) != nil)
    }
  }

  private func sorted(_ loop: Int) -> [Connection] {
    connections[loop].values.sorted { $0.link.number < $1.link.number }
  }

  // MARK: - Input

  private func read(_ connection: Connection, _ now: Moment, limit: Int) {
    if connection.link.toClient.isBroken
      || connection.link.toRelay.ending(now: now.monotonic) != nil
    {
      remove(connection)
      return
    }
    let bytes = connection.link.toRelay.read(limit)
    guard !bytes.isEmpty else { return }
    // One that is closing may have been paused all the while.
    if let since = connection.link.waitsSince, connection.link.kind == .honest,
      connection.phase == .open
    {
      onWait(since, "to be read")
    }
    connection.link.waitsSince = connection.link.toRelay.arrived.isEmpty ? nil : now.monotonic
    connection.heardAt = now.monotonic
    connection.wasPinged = false
    let all = connection.pending + bytes
    connection.pending = []
    take(all, connection, now)
  }

  private func take(_ bytes: [UInt8], _ connection: Connection, _ now: Moment) {
    var bytes = bytes
    var offset = 0
    if connection.phase == .handshake {
      guard takeRequest(bytes, &offset, connection, now) else { return }
    }
    var input = bytes.mutableSpan
    takeFrames(&input, &offset, connection, now)
  }

  private func takeRequest(
    _ bytes: [UInt8], _ offset: inout Int, _ connection: Connection, _ now: Moment
  ) -> Bool {
    let loop = connection.link.loop
    guard
      let read = try? HTTPRequest.read(bytes.span, headerLimitBytes: 8192),
      case .accept(let response, _, _) = ServerHandshake.answer(
        read.request, subprotocols: ["relay.v1"])
    else {
      connection.pending = bytes
      return false
    }
    offset = read.length
    let session = shards[loop].open(connection: connection.link.number, now: now)
    connection.session = session
    connection.phase = .open
    shards[loop].append(frames: response, to: session)
    if let user = read.request.query("user") {
      shards[loop].identify(
        session, as: user, isPresence: connection.link.kind != .request, now: now)
    }
    return true
  }

  private func takeFrames(
    _ input: inout MutableSpan<UInt8>, _ offset: inout Int, _ connection: Connection,
    _ now: Moment
  ) {
    guard let session = connection.session else { return }
    let loop = connection.link.loop
    while true {
      if connection.phase == .open, offset == input.count { return }
      if connection.phase == .open, !shards[loop].mayReceive(session, now: now) {
        connection.isPaused = true
        onPause(connection.link, true)
        connection.link.waitsSince = nil
        for index in offset..<input.count { connection.pending.append(input[index]) }
        return
      }
      do throws(ProtocolViolation) {
        control.removeAll(keepingCapacity: true)
        let event = try connection.webSocket.next(
          in: &input, at: &offset, output: &control, maskKey: { 0 })
        if !control.isEmpty { shards[loop].append(frames: control, to: session) }
        guard let event else { return }
        guard connection.phase == .open else { continue }
        switch event {
        case .message(.text, .input(let range)):
          note(input.span.extracting(range), connection.link, session, now)
          shards[loop].receive(session, input.span.extracting(range), now: now)
        case .message(.text, .assembled):
          let message = connection.webSocket.assembled
          note(message.span, connection.link, session, now)
          shards[loop].receive(session, message.span, now: now)
        case .message: close(connection, .unsupportedData, "text only", now)
        case .close:
          shards[loop].beginClosing(session)
          connection.phase = .closing
          connection.deadline = now.monotonic + Self.lingerMilliseconds
        case .ping, .pong: break
        }
      } catch {
        close(connection, error.closeCode, "\(error)", now)
        return
      }
    }
  }

  // MARK: - Waits

  /// A message is about to be taken.
  private func note(_ json: Span<UInt8>, _ link: Link, _ session: SessionID, _ now: Moment) {
    work[link.loop].bytes += json.count
    guard link.kind == .honest, let message = try? ClientMessage(decoding: json, textLimitBytes: 0)
    else { return }
    onReceive(link, message)
    let question: Question
    switch message {
    case .send(let send):
      question = Question(loop: link.loop, session: session, room: send.room, id: send.id)
    case .join(let join): question = Question(loop: link.loop, session: session, room: join.room)
    default: return
    }
    // What the shard answers by itself stays here until it is asked again.
    unanswered[question] = now.monotonic
  }

  private func note(_ answers: [LogAnswer], _ loop: Int) {
    for answer in answers {
      let question: Question
      switch answer {
      case .ack(let id, let ack):
        question = Question(loop: loop, session: id, room: ack.room, id: ack.id)
      case .refused(let id, let error):
        question = Question(loop: loop, session: id, room: error.room ?? "", id: error.id)
      case .entered(let id, let entered):
        question = Question(loop: loop, session: id, room: entered.joined.room)
      case .belongings(_, _, let belongings, _, _):
        work[loop].rows += belongings.count
        continue
      case .entries, .reply, .lasts, .lastSeen: continue
      }
      if let since = unanswered.removeValue(forKey: question) {
        onWait(since, question.id == nil ? "to join" : "for an answer")
      }
    }
  }

  /// Whether a session is an honest client's.
  func isHonest(_ session: SessionID, _ loop: Int) -> Bool {
    connections[loop].values.contains { $0.session == session && $0.link.kind == .honest }
  }

  // MARK: - Ends

  private func close(_ connection: Connection, _ code: CloseCode, _ reason: String, _ now: Moment) {
    guard connection.phase == .open, let session = connection.session else { return }
    let loop = connection.link.loop
    connection.phase = .closing
    connection.deadline = now.monotonic + Self.lingerMilliseconds
    control.removeAll(keepingCapacity: true)
    shards[loop].beginClosing(session)
    connection.webSocket.close(code, reason: reason, to: &control, maskKey: 0)
    shards[loop].append(frames: control, to: session)
    readOn(connection, now)
  }

  /// Takes what was read before a pause.
  private func readOn(_ connection: Connection, _ now: Moment) {
    connection.isPaused = false
    let bytes = connection.pending
    connection.pending = []
    if !bytes.isEmpty { take(bytes, connection, now) }
  }

  private func remove(_ connection: Connection) {
    if let session = connection.session { shards[connection.link.loop].close(session) }
    connections[connection.link.loop][connection.link.number] = nil
    connection.link.toRelay.breakOff()
  }

  private func settle(_ loop: Int, _ now: Moment) {
    for connection in sorted(loop) {
      if let session = connection.session, shards[loop].isCurrent(session) {
        mostQueuedBytes = max(mostQueuedBytes, shards[loop].queuedBytes(of: session))
      }
      guard connection.phase == .closing, let session = connection.session else { continue }
      let isSaid = !shards[loop].hasOutput(session)
      if isSaid, connection.webSocket.state == .closed || now.monotonic >= connection.deadline {
        connection.link.toClient.finish(now: now.monotonic)
        remove(connection)
      } else if now.monotonic >= connection.deadline {
        connection.link.toClient.cut(keepingBytes: .max, at: now.monotonic)
        remove(connection)
      }
    }
  }

  /// Looks for silence, as the server does four times a second.
  func sweep(now: Moment) {
    let heartbeat = Int64(configuration.shard.limits.heartbeatSeconds) * 1000
    let idle = configuration.idleTimeoutMilliseconds
    for loop in shards.indices {
      for connection in sorted(loop) {
        let silence = now.monotonic - connection.heardAt
        switch connection.phase {
        case .handshake:
          if silence >= 5000 { remove(connection) }
        case .closing: break
        case .open:
          guard let session = connection.session else { continue }
          if idle > 0, silence >= idle, now.monotonic - connection.takenAt >= idle {
            tally(.relayTimedOut)
            connection.link.toClient.cut(keepingBytes: .max, at: now.monotonic)
            remove(connection)
          } else if heartbeat > 0, silence >= heartbeat, !connection.wasPinged {
            tally(.pinged)
            connection.wasPinged = true
            control.removeAll(keepingCapacity: true)
            connection.webSocket.appendPing([], to: &control, maskKey: 0)
            shards[loop].append(frames: control, to: session)
          }
        }
      }
    }
  }

  // MARK: - Shutting down

  private var hasAnnounced: Set<Int> = []

  func beginShutdown() {
    isShuttingDown = true
    for loop in shards.indices { shards[loop].beginShutdown() }
  }

  private func advanceShutdown(_ loop: Int) {
    guard isShuttingDown, !hasAnnounced.contains(loop), shards[loop].isSettled else { return }
    hasAnnounced.insert(loop)
    shards[loop].announceClosing("the relay restarts", spreadMilliseconds: 1000)
  }

  /// Every loop has said what there is to say, and the log has nothing left to do.
  var hasShutDown: Bool {
    isShuttingDown && hasAnnounced.count == shards.count && submitted.isEmpty && !isCommitting
  }
}
