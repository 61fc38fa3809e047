import Directories
import EventLoop
import Logging
import Mailbox
import Relay
import WebSocket
import Wire

/// One event loop's connections: moves bytes between sockets and the loop's `Shard`, and nothing
/// else decides here. Confined to its thread.
@safe final class ConnectionLoop: EventHandler {
  /// What all loops have in common.
  struct Context: Sendable {
    var configuration: Configuration
    var router: RequestRouter
    var authenticator: Authenticator
    var admission: Admission
    var violations: Violations
    /// Of users, over all loops.
    var budgets: Budgets<String>
    /// Of addresses, for requests over HTTP that do not say who asks.
    var addressBudgets: Budgets<Address.HostKey>
    var canary: Canary
    var avatars: AvatarCache
    var log: any Log
    /// To each loop.
    var mailboxes: [Mailbox<LoopMessage>]
    /// Seconds since 1970.
    var startedAt: Double
    var logger: Logger
    /// `nil` serves in clear.
    var credentials: TLSCredentials?
  }

  /// Read at a time: the most that one connection gets of a turn.
  static let readBytes = 65_536
  /// Handshakes, idle connections and closes are looked at so often.
  static let sweepMilliseconds = 250
  /// Who says within so many sweeps who it is never counts as one that does not: time for TLS and
  /// an `auth` over a long way. Between two sweeps everything is read that has come, so nobody
  /// counts because this loop is late, as it is when a crowd shakes hands.
  static let sweepsGranted: UInt8 = 4
  /// How long a closing peer is waited for.
  static let lingerMilliseconds: Int64 = 2000

  enum Token {
    static let mailbox = UInt64.max
    static let acceptor = UInt64.max - 1
    static let sweep = UInt64.max - 2
    static let shard = UInt64.max - 3
  }

  let index: Int
  let context: Context
  let loop: EventLoop
  let mailbox: Mailbox<LoopMessage>
  var acceptor: Acceptor?
  var shard: Shard

  var connections: [ServerConnection] = []
  var freeConnections: [Int32] = []
  var connectionCount = 0
  /// A crowd has left.
  var wantsToShrink = false
  /// When memory is given back once more; 0 for never. By the monotonic clock, in milliseconds.
  var giveBackAt: Int64 = 0
  var botConnections: [ObjectIdentifier: Int32] = [:]
  let readBuffer: UnsafeMutableBufferPointer<UInt8>
  /// Where the WebSocket's own answers are put together.
  var control: [UInt8] = []
  var inbox: [LoopMessage] = []
  /// Where ciphertext is put together.
  var ciphertext: [UInt8] = []

  /// Connections that have more to read than one turn gave them.
  var unfinished: [Int32] = []
  /// Connections whose output may have come to its end.
  var toSettle: [Int32] = []
  /// Connections whose last request over HTTP is answered, and of which another may have been read.
  var nextRequests: [Int32] = []
  var counts = LoopCounts()
  /// Requests over HTTP so far.
  var exchangeCount: UInt64 = 0
  /// Connections that failed while something else was under way.
  var failed: [Int32] = []

  var now: Moment
  /// The loop's turn in which `now` was read.
  private var turnOfNow = UInt64.max
  let webSocketLimits: WebSocket.Limits
  let deflateStreams = DeflateStreams()
  /// For what goes to many.
  var deflater: Deflater { deflateStreams.widestDeflater }
  var shardTimer: (id: TimerID, at: Int64)?
  var shutdown: Shutdown?
  /// Milliseconds of the loop's clock.
  var nextShortageReport: Int64 = 0

  /// How far the end has come.
  struct Shutdown {
    var deadline: Int64
    var hasAnnounced = false
  }

  init(index: Int, context: Context, mailbox: Mailbox<LoopMessage>, seed: UInt64)
    throws(SystemError)
  {
    self.index = index
    self.context = context
    self.mailbox = mailbox
    loop = try EventLoop()
    let limits = context.configuration.limits
    webSocketLimits = WebSocket.Limits(
      frameBytes: limits.frameBytes, messageBytes: limits.frameBytes,
      fragments: limits.messageFragments)
    let deflater = deflateStreams.widestDeflater
    var configuration = context.configuration.shard
    if context.authenticator.takesTokens {
      configuration.verifyToken = {
        [authenticator = context.authenticator] token, wall throws(WireError) in
        try authenticator.identify(token: token, wall: wall)
      }
    }
    shard = Shard(
      configuration: configuration, framing: .webSocket,
      compression: Compression(
        minimumBytes: context.configuration.compression.minimumBytes
      ) { json, frames in
        WebSocket.Connection.appendMessage(.text, json, compressing: deflater, to: &frames)
      }, budgets: context.budgets, epoch: context.log.epoch, seed: seed)
    unsafe readBuffer = UnsafeMutableBufferPointer.allocate(capacity: Self.readBytes)
    now = Moment(monotonic: 0, wall: 0)
    now = currentMoment()
    _ = try loop.register(mailbox.descriptor, for: .readable, token: Token.mailbox)
    loop.schedule(afterMilliseconds: Self.sweepMilliseconds, token: Token.sweep)
  }

  deinit {
    unsafe readBuffer.deallocate()
  }

  /// Runs a loop on a thread of its own; returns when it accepts clients.
  static func start(
    _ index: Int, _ context: Context, _ mailbox: Mailbox<LoopMessage>,
    _ listener: consuming sending Listener
  ) throws(SystemError) -> WorkerThread {
    let started = try Mailbox<SystemError?>()
    let listener = Handover(listener)
    let thread = try WorkerThread(name: "loop-\(index)") {
      do throws(SystemError) {
        var random = SystemRandomNumberGenerator()
        let loop = try ConnectionLoop(
          index: index, context: context, mailbox: mailbox, seed: random.next())
        if let listener = listener.take() { try loop.listen(listener) }
        started.post(nil)
        loop.loop.run(loop)
      } catch {
        started.post(error)
      }
    }
    _ = started.wait(timeoutMilliseconds: -1)
    var outcome: [SystemError?] = []
    started.drain(into: &outcome)
    if let error = outcome.first ?? nil { throw error }
    return thread
  }

  /// Accepts clients from now on.
  private func listen(_ listener: consuming Listener) throws(SystemError) {
    let logger = context.logger
    acceptor = try Acceptor(listener, on: loop, token: Token.acceptor) { error in
      logger.warning("no descriptors are left: new clients wait (\(error))")
    }
  }

  /// Looks at the clocks, once a turn.
  func lookAtClocks() {
    guard turnOfNow != loop.turns else { return }
    turnOfNow = loop.turns
    now = currentMoment()
  }

  private func currentMoment() -> Moment {
    let microseconds = Int64(loop.now.nanoseconds / 1000)
    return Moment(
      monotonic: microseconds / 1000, fractionMicroseconds: microseconds % 1000,
      wall: WallClock.milliseconds)
  }

  // MARK: - EventHandler

  func ready(_ registration: Registration, token: UInt64, _ readiness: Readiness) {
    switch token {
    case Token.mailbox: takeMail()
    case Token.acceptor: accept()
    default: connectionReady(Int(token), readiness)
    }
  }

  func timerFired(_ timer: TimerID, token: UInt64) {
    switch token {
    case Token.acceptor:
      do { try acceptor?.timerFired() } catch {
        context.logger.error("the listener cannot go on: \(error)")
      }
    case Token.sweep:
      lookAtClocks()
      sweep()
      loop.schedule(afterMilliseconds: Self.sweepMilliseconds, token: Token.sweep)
    default: shardTimer = nil
    }
  }

  /// The turn's end: its requests go to the log, and its output to the sockets.
  func beforeSleep() {
    lookAtClocks()
    let more = unfinished
    unfinished.removeAll(keepingCapacity: true)
    for index in more { read(Int(index)) }
    let next = nextRequests
    nextRequests.removeAll(keepingCapacity: true)
    for index in next { takeNextRequest(Int(index)) }
    shard.tick(now: now)
    advanceShutdown()
    closeWhatIsToBeClosed()
    if let requests = shard.takeRequests(now: now) { context.log.submit(requests, from: index) }
    flush()
    for request in shard.takeReads() { context.log.read(request, from: index) }
    let resumable = shard.takeResumable()
    for connection in resumable { resume(Int(connection)) }
    settle()
    noteSlowdowns()
    scheduleShard()
    // What resumed connections ask for has to reach the log as well before the loop may sleep.
    if shard.hasWork || !unfinished.isEmpty || !resumable.isEmpty || !nextRequests.isEmpty {
      loop.runAgain()
    } else if wantsToShrink {
      shrink()
    }
    endIfOver()
  }

  private func flush() {
    let began = Instant.now()
    let count = shard.flush(now: now) { connection, bytes in write(Int(connection), bytes) }
    if count > 1 {
      shard.noteFlush(
        connections: count, nanoseconds: Int64(Instant.now().nanoseconds(since: began)))
    }
    noteAcks()
  }

  private func noteSlowdowns() {
    let slowdowns = shard.takeSlowdowns()
    if slowdowns.sends > 0 { context.violations.note(.sendsPerSecond, slowdowns.sends) }
    if slowdowns.requests > 0 { context.violations.note(.requestsPerSecond, slowdowns.requests) }
    if slowdowns.bytes > 0 { context.violations.note(.bytesPerSecond, slowdowns.bytes) }
  }

  private func takeMail() {
    lookAtClocks()
    mailbox.drain(into: &inbox)
    for message in inbox {
      switch message {
      case .log(let delivery): shard.apply(delivery, now: now)
      case .connectBot(let channel): connect(channel)
      case .fromBot(let channel, let json): receive(json, from: channel)
      case .botDrained(let channel): drained(channel)
      case .botGone(let channel): gone(channel)
      case .canary(let outcome, let waiters): answerReadiness(outcome, waiters)
      case .avatar(let avatar, let connection, let exchange):
        answer(avatar, connection, exchange)
      case .countsWanted(let gathering): addCounts(to: gathering)
      case .countsGathered(let gathering): answerMetrics(gathering)
      case .people(let update): shard.update(people: update, now: now)
      case .ban(let users): shard.ban(users)
      case .shutDown: beginShutdown()
      }
    }
    inbox.removeAll(keepingCapacity: true)
  }

  private func scheduleShard() {
    guard let at = shard.nextWake() else { return }
    if let shardTimer, shardTimer.at <= at { return }
    if let shardTimer { loop.cancel(shardTimer.id) }
    let deadline = Instant(nanoseconds: UInt64(at) * 1000)
    shardTimer = (loop.schedule(at: deadline, token: Token.shard), at)
  }

  // MARK: - The table

  func addConnection() -> Int {
    connectionCount += 1
    if let index = freeConnections.popLast() { return Int(index) }
    connections.append(ServerConnection(limits: webSocketLimits))
    return connections.count - 1
  }

  /// Ends a connection here and now.
  func remove(_ index: Int) {
    guard connections[index].phase != .free else { return }
    if let session = connections[index].session { shard.close(session) }
    if let registration = connections[index].registration {
      loop.deregister(registration)
      _ = Socket(owning: connections[index].socket.descriptor)
    }
    if let host = connections[index].host {
      if connections[index].isCountedAsUnidentified { context.admission.uncountUnidentified(host) }
      context.admission.leave(host)
    }
    if let bot = connections[index].bot {
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
    acceptor?.close()
    acceptor = nil
    shard.beginShutdown()
    let milliseconds = Int64(context.configuration.drainSeconds) * 1000
    shutdown = Shutdown(deadline: now.monotonic + milliseconds * 8 / 10)
  }

  private func advanceShutdown() {
    guard let shutdown, !shutdown.hasAnnounced,
      shard.isSettled || now.monotonic >= shutdown.deadline
    else { return }
    self.shutdown?.hasAnnounced = true
    // What an echo says is its peer's words, so it says no more than why it closes.
    for index in connections.indices where connections[index].isEcho {
      close(index, CloseCode(rawValue: CloseReason.restart.rawValue), "the relay restarts")
    }
    shard.announceClosing(
      "the relay restarts",
      spreadMilliseconds: min(5000, 500 + Int64(connectionCount)))
    for index in connections.indices where connections[index].phase == .handshake {
      remove(index)
    }
  }

  private func endIfOver() {
    guard let shutdown, shutdown.hasAnnounced,
      connectionCount == 0 || now.monotonic >= shutdown.deadline
    else { return }
    for index in connections.indices { remove(index) }
    loop.stop()
  }
}
