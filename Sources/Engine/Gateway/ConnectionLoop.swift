import Mixing
package import Relay
import WebSocket
import Wire

/// The connections of one event loop: moves bytes between streams and the loop's `Shard`, and
/// handles handshakes, HTTP requests, frames, pauses, idle connections, closing, and the relay's
/// shutdown. It has no descriptor, clock or thread: see `LoopWorld`.
///
/// Confined to one thread. In a turn the world reports events of streams, messages and time
/// (`ready`, `take`, `sweep`), and then calls `endTurn`.
@safe package final class ConnectionLoop {
  /// The size of one read, and the most that is read from one connection in a turn.
  package static let readBytes = 65_536
  /// The interval at which handshakes, idle connections and closes are checked.
  package static let sweepMilliseconds = 250
  /// How often the devices that are connected are reported.
  static let deviceReportMilliseconds: Int64 = 3_600_000
  /// A connection that authenticates within this many sweeps never counts as unauthenticated: that
  /// is time for TLS and an `auth` over a long distance. All input that has arrived is read between
  /// two sweeps, so no connection counts because this loop is late, as it is when many clients
  /// connect at once.
  static let sweepsGranted: UInt8 = 4
  /// A sweep that is later than this, in milliseconds, was late because the process did not run: it was stopped,
  /// its machine slept, or the disk blocked it.
  static let stallMilliseconds: Int64 = 1000
  /// How long to wait for a peer that is closing.
  static let lingerMilliseconds: Int64 = 2000

  let index: Int
  /// Names the loop to operators, unlike those of other relays and of other starts.
  let name: String
  package let context: Context
  let world: any LoopWorld
  package let diagnostics: Diagnostics
  /// Notified of events, for tests.
  package var observer: (any LoopObserver)?
  package internal(set) var shard: Shard

  var connections = ConnectionTable()
  /// When the last sweep was, in milliseconds of the monotonic clock.
  var sweptAt: Int64
  /// Set after a peak of connections.
  var wantsToShrink = false
  /// When memory is returned a second time, in milliseconds of the monotonic clock; 0 = never.
  var giveBackAt: Int64 = 0
  var devicesReportedAt: Int64 = 0
  /// What removes the bytes of files that are gone; on one loop.
  var fileUpkeep: FileUpkeep?
  var pacedUploads = PacedUploads()
  /// When the last sample was taken, in milliseconds of the monotonic clock.
  var sampledAt: Int64 = 0
  var botConnections: [ObjectIdentifier: ServerConnection] = [:]
  let readBuffer: UnsafeMutableBufferPointer<UInt8>
  /// The buffer for frames of the WebSocket layer itself.
  var control: [UInt8] = []

  /// Connections with input that are not established, in the order of its arrival.
  var arrivals: [ServerConnection] = []
  /// Connections whose TLS handshake waits for its address, the oldest first.
  var held: [ServerConnection] = []
  /// Connections that have more to read than one turn permits.
  var unfinished: [ServerConnection] = []
  /// Connections whose output may be complete.
  var toReap: [ServerConnection] = []
  /// Connections whose last HTTP request is answered, and which may have the next one in their
  /// input.
  var nextRequests: [ServerConnection] = []
  var counts = LoopCounts()
  /// The bytes that were looked at to find the ends of heads: at most twice as many as have arrived.
  package internal(set) var headBytesScanned = 0
  /// The number of HTTP requests so far.
  var exchangeCount: UInt64 = 0
  /// Connections that failed during another operation.
  var failed: [ServerConnection] = []

  var now: Moment
  var random: SplitMix64
  let webSocketLimits: WebSocket.Limits
  let deflateStreams = DeflateStreams()
  /// The deflater for frames that are sent to many connections.
  var deflater: Deflater { deflateStreams.widestDeflater }
  var shutdown: Shutdown?
  /// What clients that connect have cost so far.
  var arrivalCost = ArrivalCost()

  package init(index: Int, context: Context, world: any LoopWorld, seed: UInt64) {
    self.index = index
    self.context = context
    self.world = world
    webSocketLimits = WebSocket.Limits(
      frameBytes: context.limits.frameBytes, messageBytes: context.limits.frameBytes,
      fragments: context.limits.messageFragments)
    let deflater = deflateStreams.widestDeflater
    var configuration = context.shard
    if context.authenticator.takesTokens {
      configuration.isOperator = { [authenticator = context.authenticator] in
        authenticator.isOperator($0)
      }
      configuration.verifyToken = {
        [authenticator = context.authenticator] token, wall throws(WireError) in
        try authenticator.identify(token: token, wall: wall)
      }
    }
    random = SplitMix64(seed: seed)
    var names = SplitMix64(seed: ~seed)
    name = Lineage.randomName(using: &names)
    diagnostics = Diagnostics(context.lineQuota)
    diagnostics.level = world.diagnosticsLevel
    shard = Shard(
      configuration: configuration, framing: .webSocket,
      compression: Compression(minimumBytes: context.compressesFromBytes) { json, frames in
        WebSocket.Connection.appendMessage(.text, json, compressing: deflater, to: &frames)
      }, budgets: context.budgets, epoch: context.epoch, seed: random.next(),
      diagnostics: diagnostics)
    unsafe readBuffer = UnsafeMutableBufferPointer.allocate(capacity: Self.readBytes)
    now = world.moment()
    sweptAt = now.monotonic
    if context.files != nil, index == 0 { fileUpkeep = FileUpkeep() }
    diagnostics.write = { [unowned self] level, stream, message, fields in
      write(level, stream, message, fields)
    }
  }

  deinit {
    // Ends the cycles of connections and their exchanges.
    for connection in connections.all {
      connection.session = nil
      connections.remove(connection)
    }
    unsafe readBuffer.deallocate()
  }

  // MARK: - A turn

  /// Processes messages from other loops and from the log.
  package func take(_ messages: [LoopMessage]) {
    now = world.moment()
    for message in messages {
      switch message {
      case .log(let delivery):
        shard.apply(delivery, now: now)
        if let news = shard.takeBans() { apply(news) }
      case .connectBot(let bot): connect(bot)
      case .fromBot(let bot, let json): receive(json, from: bot)
      case .botDrained(let bot): drained(bot)
      case .botGone(let bot): botDisconnected(bot)
      case .canary(let outcome, let waiters): answerReadiness(outcome, waiters)
      case .avatar(let avatar, let exchange): self.exchange(exchange)?.take(avatar)
      case .surveyed(let survey): add(to: survey)
      case .surveyEnded(let survey): answer(survey)
      case .verified(let result, let asker): finishVerification(result, for: asker)
      case .account(let answer, let exchange): self.exchange(exchange)?.take(answer)
      case .deviceEnded(let ending):
        shard.endDevice(ending.device, of: ending.user, ending.reason)
        refuseReading { ending.concerns($0) ? ending.reason : nil }
      case .files(let result, let worker): take(result, for: worker)
      case .people(let update): shard.update(people: update)
      case .ban(let users):
        ban(users)
        shard.updateOperators()
      case .tokenRule(let rule):
        shard.apply(rule)
        refuseReading { identity in
          rule.refusal(of: identity).map { WireError(.unauthorized, $0, re: .auth) }
        }
      case .shutDown(let isTakenOver): beginShutdown(isTakenOver: isTakenOver)
      }
    }
    takeTraced()
    takeFileAnswers()
  }

  /// The state of the loop at the end of a turn.
  package enum TurnEnd {
    /// There is nothing to do before the next event.
    case atRest
    /// Another turn is needed before the loop may wait.
    case goesOn
    /// The shutdown is complete.
    case over
  }

  /// Whether the session is authenticated.
  package func isAuthenticated(_ session: SessionID) -> Bool { shard.isAuthenticated(session) }

  /// When the loop next has work without an event, in microseconds of the monotonic clock; `nil` =
  /// never. Valid after a turn.
  package var nextWake: Int64? {
    [shard.nextWake(), nextDismissal, nextUpload].lazy.compactMap { $0 }.min()
  }

  /// Ends the turn: sends its requests to the log, and its output to the sockets.
  package func endTurn() -> TurnEnd {
    now = world.moment()
    let more = unfinished
    unfinished.removeAll(keepingCapacity: true)
    for connection in more { read(connection) }
    let next = nextRequests
    nextRequests.removeAll(keepingCapacity: true)
    for connection in next { takeNextRequest(connection) }
    readArrivals()
    shard.tick(now: now)
    continueUploads()
    readPolled()
    advanceShutdown()
    closeWhatIsToBeClosed()
    let needsLog = !hasFinishedWithLog
    // What is left then, such as that a user has come or gone, is dropped: nothing may wait for the log.
    if let requests = shard.takeRequests(now: now), needsLog { world.submit(requests) }
    flush()
    for request in shard.takeReads() where needsLog { world.read(request) }
    for token in shard.takeUnverified() {
      guard let connection = connections[Int(token.connection)] else { continue }
      verify(token.token, of: token.session, connection)
    }
    let resumable = shard.takeResumable()
    for stream in resumable { if let connection = connections[Int(stream)] { resume(connection) } }
    reap()
    countSlowdowns()
    if endIfOver() { return .over }
    // The requests of resumed connections have to reach the log, too, before the loop may sleep.
    if shard.hasWork || !unfinished.isEmpty || !resumable.isEmpty || !nextRequests.isEmpty
      || !arrivals.isEmpty
    {
      return .goesOn
    }
    if wantsToShrink { shrink() }
    return .atRest
  }

  private func flush() {
    let began = world.microseconds
    let count = shard.flush(now: now, began: began) { stream, bytes in
      guard let connection = connections[Int(stream)] else {
        preconditionFailure("a connection that has ended has no session")
      }
      return write(connection, bytes)
    }
    if count > 1 {
      shard.recordFlush(connections: count, nanoseconds: (world.microseconds - began) * 1000)
    }
    recordAcks()
  }

  private func countSlowdowns() {
    let slowdowns = shard.takeSlowdowns()
    count(slowdowns.sends, .sendsPerSecond)
    count(slowdowns.requests, .requestsPerSecond)
    count(slowdowns.bytes, .bytesPerSecond)
    count(slowdowns.connections, .connectionsPerUser)
  }

  private func count(_ slowdowns: Shard.Slowdowns.Count, _ rule: Violations.Rule) {
    guard slowdowns.count > 0 else { return }
    context.violations.count(
      rule, slowdowns.count, by: slowdowns.user,
      from: connections[Int(slowdowns.connection)]?.host)
  }

  // MARK: - The table

  /// Adds a client's connection, and returns the number of its stream. The world reports its input
  /// by `ready`.
  /// - Parameter host: has been counted by `Admission`; `nil` if it is not counted.
  package func accept(from host: HostKey?, as peer: ServerConnection.Peer = .client) -> Int {
    now = world.moment()
    let connection = addConnection(.opening, from: peer)
    connection.host = host
    connection.heardAt = now.monotonic
    connection.arrival[.hasSentLast] = true
    connection.deadline = requestDeadline
    return connection.stream
  }

  /// The deadline for a request that is awaited from now on; 0 = no limit.
  var requestDeadline: Int64 {
    let timeout = Int64(context.limits.handshakeTimeoutMilliseconds)
    return timeout == 0 ? 0 : now.monotonic + timeout
  }

  func addConnection(
    _ state: ServerConnection.State, from peer: ServerConnection.Peer = .client
  ) -> ServerConnection {
    let connection = ServerConnection(state, from: peer, limits: webSocketLimits)
    connections.insert(connection)
    return connection
  }

  /// Closes a stream that the world could not open.
  package func remove(stream: Int) { connections[stream].map(remove) }

  /// Removes a connection at once.
  func remove(_ connection: ServerConnection) { remove(connection, "the connection was lost") }

  /// - Parameter reason: for the operator's log, if the connection's session has not ended before.
  func remove(_ connection: ServerConnection, _ reason: String) {
    guard !connection.isGone else { return }
    if let session = connection.session, shard.isActive(session) {
      reportEnd(of: connection, reason)
    }
    report(connection, "A connection has ended.")
    connection.exchange?.connectionEnded()
    endSession(of: connection)
    if connection.hasStream { world.close(connection.stream) }
    if let host = connection.host {
      if connection.isCountedAsUnauthenticated {
        context.admission.uncountUnauthenticated(host)
      }
      context.admission.leave(host)
    }
    if let bot = connection.bot?.end {
      bot.close()
      botConnections[ObjectIdentifier(bot)] = nil
    }
    connections.remove(connection)
  }

  func openSession(for connection: ServerConnection, compresses: Bool = false) -> SessionID {
    assert(connection.session == nil, "a connection has one session at a time")
    let session = shard.open(
      connection: Int32(connection.stream), compresses: compresses, now: now)
    connection.session = session
    return session
  }

  func endSession(of connection: ServerConnection) {
    guard let session = connection.session else { return }
    shard.close(session)
    connection.session = nil
  }

  // MARK: - Bans

  /// Keeps users out that operators have banned, on this relay or another one, and lets others in again.
  private func apply(_ news: BanNews) {
    context.authenticator.apply(news)
    ban(Set(news.changes.lazy.filter(\.isBanned).map(\.user)))
    let gone = Set(news.changes.lazy.filter { $0.isBanned && $0.until == nil }.map(\.user))
    guard context.files != nil, !gone.isEmpty else { return }
    // Each loop says so: its own requests about uploads came before.
    world.keep(.giveUp(gone), for: .upkeep)
  }

  private func ban(_ users: Set<String>) {
    shard.ban(users)
    refuseReading { users.contains($0.user) ? .banned($0.user) : nil }
  }
}
