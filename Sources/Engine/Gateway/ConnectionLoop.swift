import Mixing
package import Relay
import WebSocket
import Wire

/// One event loop's connections: moves bytes between streams and the loop's `Shard`, and decides all that
/// is to be decided of a connection: handshakes, requests over HTTP, frames, pauses, silence, closing,
/// the end of the relay. It has no descriptor, no clock and no thread: see `LoopWorld`.
///
/// Confined to one thread. A turn is what the world tells of streams, mail and time (`ready`, `take`,
/// `sweep`), and then `endTurn`.
@safe package final class ConnectionLoop {
  /// What all loops have in common.
  package struct Context: Sendable {
    package var limits: ConnectionLimits
    package var shard: Shard.Configuration
    package var router: RequestRouter
    package var authenticator: Authenticator
    package var admission: Admission
    package var violations: Violations
    /// Of users, over all loops.
    package var budgets: Budgets<String>
    /// Of addresses, for requests over HTTP that do not say who asks.
    package var addressBudgets: Budgets<HostKey>
    package var canary: Canary
    /// The log's line in its lineage.
    package var epoch: String
    /// How many loops there are.
    package var loopCount: Int
    /// Messages that are shorter are not compressed.
    package var compressesFromBytes = 1024
    /// A shutdown is over within this.
    package var drainSeconds = 10

    package init(
      limits: ConnectionLimits, shard: Shard.Configuration, router: RequestRouter,
      authenticator: Authenticator, admission: Admission, epoch: String, loopCount: Int
    ) {
      self.limits = limits
      self.shard = shard
      self.router = router
      self.authenticator = authenticator
      self.admission = admission
      violations = Violations()
      budgets = Budgets(shard.limits.budget)
      addressBudgets = Budgets(shard.limits.budget)
      canary = Canary()
      self.epoch = epoch
      self.loopCount = loopCount
    }
  }

  /// Read at a time: the most that one connection gets of a turn.
  package static let readBytes = 65_536
  /// Handshakes, idle connections and closes are looked at so often.
  package static let sweepMilliseconds = 250
  /// Who says within so many sweeps who it is never counts as one that does not: time for TLS and
  /// an `auth` over a long way. Between two sweeps everything is read that has come, so nobody
  /// counts because this loop is late, as it is when a crowd shakes hands.
  static let sweepsGranted: UInt8 = 4
  /// How long a closing peer is waited for.
  static let lingerMilliseconds: Int64 = 2000

  let index: Int
  package let context: Context
  let world: any LoopWorld
  /// Is told what happens, for tests.
  package var observer: (any LoopObserver)?
  package internal(set) var shard: Shard

  var connections: [ServerConnection] = []
  var freeConnections: [Int32] = []
  package internal(set) var connectionCount = 0
  /// A crowd has left.
  var wantsToShrink = false
  /// When memory is given back once more; 0 for never. By the monotonic clock, in milliseconds.
  var giveBackAt: Int64 = 0
  var botConnections: [ObjectIdentifier: Int32] = [:]
  let readBuffer: UnsafeMutableBufferPointer<UInt8>
  /// Where the WebSocket's own answers are put together.
  var control: [UInt8] = []

  /// Connections that have more to read than one turn gave them.
  var unfinished: [Int32] = []
  /// Connections whose output may have come to its end.
  var toReap: [Int32] = []
  /// Connections whose last request over HTTP is answered, and of which another may have been read.
  var nextRequests: [Int32] = []
  var counts = LoopCounts()
  /// Requests over HTTP so far.
  var exchangeCount: UInt64 = 0
  /// Connections that failed while something else was under way.
  var failed: [Int32] = []

  var now: Moment
  var random: SplitMix64
  let webSocketLimits: WebSocket.Limits
  let deflateStreams = DeflateStreams()
  /// For what goes to many.
  var deflater: Deflater { deflateStreams.widestDeflater }
  var shutdown: Shutdown?

  /// How far the end has come.
  struct Shutdown {
    var deadline: Int64
    var hasAnnounced = false
  }

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
      configuration.verifyToken = {
        [authenticator = context.authenticator] token, wall throws(WireError) in
        try authenticator.identify(token: token, wall: wall)
      }
    }
    random = SplitMix64(seed: seed)
    shard = Shard(
      configuration: configuration, framing: .webSocket,
      compression: Compression(minimumBytes: context.compressesFromBytes) { json, frames in
        WebSocket.Connection.appendMessage(.text, json, compressing: deflater, to: &frames)
      }, budgets: context.budgets, epoch: context.epoch, seed: random.next())
    unsafe readBuffer = UnsafeMutableBufferPointer.allocate(capacity: Self.readBytes)
    now = world.moment()
  }

  deinit {
    unsafe readBuffer.deallocate()
  }

  // MARK: - A turn

  /// Others, and the log, have told the loop something.
  package func take(_ messages: [LoopMessage]) {
    now = world.moment()
    for message in messages {
      switch message {
      case .log(let delivery): shard.apply(delivery, now: now)
      case .connectBot(let bot): connect(bot)
      case .fromBot(let bot, let json): receive(json, from: bot)
      case .botDrained(let bot): drained(bot)
      case .botGone(let bot): gone(bot)
      case .canary(let outcome, let waiters): answerReadiness(outcome, waiters)
      case .picture(let picture, let connection, let exchange):
        answer(picture, connection, exchange)
      case .countsWanted(let gathering): addCounts(to: gathering)
      case .countsGathered(let gathering): answerMetrics(gathering)
      case .people(let update): shard.update(people: update, now: now)
      case .ban(let users): shard.ban(users)
      case .shutDown: beginShutdown()
      }
    }
  }

  /// What is left of a turn when it is over.
  package enum TurnEnd {
    /// Nothing is to be done before something happens.
    case atRest
    /// Another turn is wanted, before anything is waited for.
    case goesOn
    /// The relay has ended here.
    case over
  }

  /// Whether it is known whose session this is.
  package func isIdentified(_ session: SessionID) -> Bool { shard.isIdentified(session) }

  /// When the loop has something to do next though nothing happens, by the monotonic clock in
  /// microseconds; `nil` for never. Asked after a turn.
  package var nextWake: Int64? { shard.nextWake() }

  /// The turn's end: its requests go to the log, and its output to the sockets.
  package func endTurn() -> TurnEnd {
    now = world.moment()
    let more = unfinished
    unfinished.removeAll(keepingCapacity: true)
    for index in more { read(Int(index)) }
    let next = nextRequests
    nextRequests.removeAll(keepingCapacity: true)
    for index in next { takeNextRequest(Int(index)) }
    shard.tick(now: now)
    advanceShutdown()
    closeWhatIsToBeClosed()
    if let requests = shard.takeRequests(now: now) { world.submit(requests) }
    flush()
    for request in shard.takeReads() { world.read(request) }
    let resumable = shard.takeResumable()
    for connection in resumable { resume(Int(connection)) }
    reap()
    noteSlowdowns()
    if endIfOver() { return .over }
    // What resumed connections ask for has to reach the log as well before the loop may sleep.
    if shard.hasWork || !unfinished.isEmpty || !resumable.isEmpty || !nextRequests.isEmpty {
      return .goesOn
    }
    if wantsToShrink { shrink() }
    return .atRest
  }

  private func flush() {
    let began = world.microseconds
    let count = shard.flush(now: now) { connection, bytes in write(Int(connection), bytes) }
    if count > 1 {
      shard.noteFlush(connections: count, nanoseconds: (world.microseconds - began) * 1000)
    }
    noteAcks()
  }

  private func noteSlowdowns() {
    let slowdowns = shard.takeSlowdowns()
    if slowdowns.sends > 0 { context.violations.note(.sendsPerSecond, slowdowns.sends) }
    if slowdowns.requests > 0 { context.violations.note(.requestsPerSecond, slowdowns.requests) }
    if slowdowns.bytes > 0 { context.violations.note(.bytesPerSecond, slowdowns.bytes) }
  }

  // MARK: - The table

  /// Lets a client in, whose stream has the place that is returned. What it sends is told by `ready`.
  package func accept(from host: HostKey, isLocal: Bool) -> Int {
    now = world.moment()
    let index = addConnection()
    connections[index].host = host
    connections[index].isLocal = isLocal
    connections[index].phase = .handshake
    connections[index].heardAt = now.monotonic
    connections[index].deadline = requestDeadline
    return index
  }

  /// Until when a request is to be there that is awaited from now on; 0 = no limit.
  var requestDeadline: Int64 {
    let timeout = Int64(context.limits.handshakeTimeoutMilliseconds)
    return timeout == 0 ? 0 : now.monotonic + timeout
  }

  func addConnection() -> Int {
    connectionCount += 1
    if let index = freeConnections.popLast() { return Int(index) }
    connections.append(ServerConnection(limits: webSocketLimits))
    return connections.count - 1
  }

  /// Ends a connection here and now.
  package func remove(_ index: Int) {
    guard !connections[index].isFree else { return }
    if let session = connections[index].session { shard.close(session) }
    if connections[index].hasStream { world.close(index) }
    if let host = connections[index].host {
      if connections[index].isCountedAsUnidentified { context.admission.uncountUnidentified(host) }
      context.admission.leave(host)
    }
    if let bot = connections[index].bot?.end {
      bot.close()
      botConnections[ObjectIdentifier(bot)] = nil
    }
    connections[index] = ServerConnection(limits: webSocketLimits)
    freeConnections.append(Int32(index))
    connectionCount -= 1
  }

  // MARK: - Shutting down

  private func beginShutdown() {
    guard shutdown == nil else { return }
    world.stopAccepting()
    shard.beginShutdown()
    let milliseconds = Int64(context.drainSeconds) * 1000
    shutdown = Shutdown(deadline: now.monotonic + milliseconds * 8 / 10)
  }

  private func advanceShutdown() {
    guard let shutdown, !shutdown.hasAnnounced,
      shard.isIdle || now.monotonic >= shutdown.deadline
    else { return }
    self.shutdown?.hasAnnounced = true
    // What an echo says is its peer's words, so it says no more than why it closes.
    for index in connections.indices {
      guard case .echo = connections[index].phase else { continue }
      close(index, CloseCode(rawValue: CloseReason.restart.rawValue), "the relay restarts")
    }
    shard.announceClosing(
      "the relay restarts",
      spreadMilliseconds: min(5000, 500 + Int64(connectionCount)))
    for index in connections.indices where connections[index].awaitsRequest {
      remove(index)
    }
  }

  private func endIfOver() -> Bool {
    guard let shutdown, shutdown.hasAnnounced,
      connectionCount == 0 || now.monotonic >= shutdown.deadline
    else { return false }
    for index in connections.indices { remove(index) }
    return true
  }
}
