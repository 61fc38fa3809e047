internal import Gateway
internal import Relay
internal import ShardWorld
internal import WebSocket
internal import Wire

/// One life of the relay's process: the server's own loops, on the simulation's clock and over
/// simulated links, and their log.
final class RelayProcess {
  private struct Loop {
    let streams: SimulatedStreams
    let connections: ConnectionLoop
    /// Whether it has requested another turn.
    var goesOn = false
    var isOver = false
    /// The banned users of which the loop has been told.
    var banned: Set<String> = []
    /// The time of its last turn.
    var lastTurn: Int64 = .min
  }

  let life: Int
  let log: any SimulatedLog
  /// `nil` = the relay keeps no files.
  let files: SimulatedFiles?
  private var loops: [Loop] = []
  private let context: ConnectionLoop.Context
  var submitted: [(loop: Int, requests: [LogRequest])] = []
  var reads: [(loop: Int, request: ReadRequest, askedAt: Int64)] = []
  /// Questions about tokens, which are answered one by one.
  var verifications: [(loop: Int, token: String, asker: VerificationAsker)] = []
  let knownTokens = KnownTokens()
  /// When unanswered sends and joins of honest clients were taken.
  private var unanswered: [Question: Int64] = [:]
  /// Whether the log is processing a batch.
  var isCommitting = false
  var isReading = false
  private(set) var isShuttingDown = false
  private(set) var mostQueuedBytes = 0
  /// Whether the relay has looked at each byte of a head at most twice.
  private(set) var scansTwice = true
  /// The most ephemeral messages that waited for one client.
  private(set) var mostWaitingKeys = 0
  /// The number of connections that were ended because they were idle.
  var timeouts: Int { context.violations[.idleTimeout] }
  /// Called for every message of an honest client when it is taken.
  var onReceive: (Link, ClientMessage) -> Void = { _, _ in }
  /// Called when an honest client has waited for the relay, with the start and the purpose of the
  /// wait.
  var onWait: (_ since: Int64, _ purpose: String) -> Void = { _, _ in }

  /// Called for a message that a loop takes although it must not, with the reason.
  var onServed: (_ user: String, _ exclusion: Exclusion) -> Void = { _, _ in }

  /// Why a user must not be served any more.
  enum Exclusion { case ban, expiry }

  /// A request of an honest client to the log.
  private struct Question: Hashable {
    var loop: Int
    var session: SessionID
    var room: String
    /// The id of a send; `nil` for a join.
    var id: String?
  }

  struct Configuration {
    var shard: Shard.Configuration
    var idleTimeoutSeconds: Int
    var compresses = false
    var takesTokens = false
    /// Whether tokens that are not known yet take a while to verify.
    var verifiesLater = false
    /// `nil` = the relay keeps no files.
    var files: FileSettings?
  }

  init(
    life: Int, log: any SimulatedLog, files: SimulatedFiles?, loops count: Int, seed: UInt64,
    now: Moment, _ configuration: Configuration
  ) {
    self.life = life
    self.log = log
    self.files = files
    var limits = ConnectionLimits()
    limits.handshakeTimeoutMilliseconds = 5000
    limits.headerBytes = 8192
    limits.frameBytes = configuration.shard.limits.frameBytes
    limits.messageFragments = 1024
    limits.controlFramesPerSecond = 100
    limits.heartbeatSeconds = configuration.shard.limits.heartbeatSeconds
    limits.idleTimeoutSeconds = configuration.idleTimeoutSeconds
    var router = RequestRouter(origins: [], requiresLoopbackHost: false)
    router.contentLimitBytes = limits.frameBytes
    router.compresses = configuration.compresses
    router.fileLimitBytes = configuration.files?.limitBytes
    var shard = configuration.shard
    shard.blocks = log.blocks
    var context = ConnectionLoop.Context(
      limits: limits, shard: shard, router: router,
      authenticator: Authenticator(
        verify: configuration.takesTokens
          ? Self.verification(knownTokens, later: configuration.verifiesLater) : nil,
        botUsers: []),
      admission: Admission(limits: limits, descriptors: nil), epoch: log.epoch, loopCount: count,
      compressesFromBytes: 64, drainSeconds: 10)
    context.files = configuration.files
    self.context = context
    for number in 0..<count {
      let streams = SimulatedStreams(loop: number, now: now)
      let connections = ConnectionLoop(
        index: number, context: context, world: streams, seed: seed &+ UInt64(number))
      connections.observer = streams
      streams.onSubmit = { [unowned self] in submitted.append((number, $0)) }
      streams.onRead = { [unowned self, unowned streams] in
        reads.append((number, $0, streams.now.monotonic))
      }
      streams.onPost = { [unowned self] message, loop in loops[loop].streams.put(message) }
      streams.onKeep = { [unowned self] work, worker in
        self.files?.keep(work, for: worker, loop: number)
      }
      streams.onVerify = { [unowned self] in verifications.append((number, $0, $1)) }
      streams.onWait = { [unowned self] since in onWait(since, "to be read") }
      streams.onMessage = { [unowned self] link, json, session in observe(json, link, session) }
      loops.append(Loop(streams: streams, connections: connections))
    }
  }

  private static func verification(
    _ known: KnownTokens, later: Bool
  ) -> Authenticator.Verification {
    { token, wall, _ throws(WireError) in
      later && !known.contains(token) ? nil : try SimulatedToken.verify(token, wall: wall)
    }
  }

  var loopIndices: Range<Int> { loops.indices }

  /// Returns a loop's streams.
  func streams(of loop: Int) -> SimulatedStreams { loops[loop].streams }

  func accept(_ link: Link, now: Moment) {
    loops[link.loop].streams.now = now
    let host = HostKey(network: UInt64(link.number), isIPv6: true)
    guard context.admission.admit(host, descriptor: 0) == nil else { return }
    let place = loops[link.loop].connections.accept(from: host)
    loops[link.loop].streams.open(place, link)
  }

  /// Posts a message to one loop, or to each.
  func post(_ message: LoopMessage, to loop: Int) { loops[loop].streams.put(message) }

  func post(_ message: LoopMessage) {
    for loop in loops.indices { post(message, to: loop) }
  }

  /// Bans users, like `Server.reload`.
  func ban(_ users: Set<String>) {
    context.authenticator.ban(users)
    post(.ban(users))
  }

  // MARK: - A turn

  /// Runs one turn of a loop.
  /// - Parameter sweeps: whether a sweep over all connections is due as well.
  func turn(_ loop: Int, now: Moment, sweeps: Bool) {
    guard !loops[loop].isOver else { return }
    let (streams, connections) = (loops[loop].streams, loops[loop].connections)
    streams.now = now
    streams.work = Work()
    let mail = streams.takeMail()
    for case .log(let delivery) in mail { observe(delivery.answers, loop) }
    for case .ban(let users) in mail { loops[loop].banned = users }
    connections.take(mail)
    for (place, readiness) in streams.takeReadiness() { connections.ready(place, readiness) }
    if sweeps { connections.sweep() }
    let end = connections.endTurn()
    // Each byte of a head is looked at when it comes, and when the whole head is read.
    scansTwice = scansTwice && connections.headBytesScanned <= 2 * streams.bytesRead
    loops[loop].goesOn = end == .goesOn
    loops[loop].isOver = end == .over
    loops[loop].lastTurn = now.wall
    for session in streams.sessions where connections.shard.isCurrent(session) {
      mostQueuedBytes = max(mostQueuedBytes, connections.shard.queuedBytes(of: session))
      mostWaitingKeys = max(mostWaitingKeys, connections.shard.waitingKeys(of: session))
    }
  }

  /// Returns the work of a loop in its last turn.
  func work(of loop: Int) -> Work { loops[loop].streams.work }

  /// Returns whether a loop has work at this time.
  func hasEvent(_ loop: Int, now: Moment) -> Bool {
    guard !loops[loop].isOver else { return false }
    loops[loop].streams.now = now
    if loops[loop].goesOn || !loops[loop].streams.mail.isEmpty { return true }
    if let deadline = deadline(of: loop), deadline <= now.monotonic { return true }
    return loops[loop].streams.hasReadiness
  }

  /// Returns the time of a loop's next timer, in milliseconds.
  func deadline(of loop: Int) -> Int64? {
    loops[loop].isOver ? nil : loops[loop].connections.nextWake.map { ($0 + 999) / 1000 }
  }

  // MARK: - Waits

  /// Records a message that is about to be taken.
  private func observe(_ json: Span<UInt8>, _ link: Link, _ session: SessionID) {
    let loop = loops[link.loop]
    if loop.connections.isAuthenticated(session) {
      if loop.banned.contains(link.user) { onServed(link.user, .ban) }
      // An expired token is noticed at the end of a turn.
      if let token = link.token, token.end <= loop.lastTurn {
        onServed(link.user, .expiry)
      }
    }
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
    // A request that the shard answers itself stays here until it is repeated.
    unanswered[question] = loops[link.loop].streams.now.monotonic
  }

  private func observe(_ answers: [LogAnswer], _ loop: Int) {
    for answer in answers {
      let question: Question
      switch answer {
      case .ack(let id, let ack):
        question = Question(loop: loop, session: id, room: ack.room, id: ack.id)
      case .refused(let id, let error):
        question = Question(loop: loop, session: id, room: error.room ?? "", id: error.id)
      case .subscribed(let id, let subscribed):
        question = Question(loop: loop, session: id, room: subscribed.joined.room)
      case .memberships(_, _, let memberships, _, _):
        loops[loop].streams.work.rows += memberships.count
        continue
      case .answer, .entries, .reply, .read, .glimpses, .lastSeen, .traced, .users, .file:
        continue
      }
      if let since = unanswered.removeValue(forKey: question) {
        onWait(since, question.id == nil ? "to join" : "for an answer")
      }
    }
  }

  /// Returns whether a session belongs to an honest client.
  func isHonest(_ session: SessionID, _ loop: Int) -> Bool {
    loops[loop].streams.isHonest(session)
  }

  // MARK: - Shutting down

  func beginShutdown() {
    isShuttingDown = true
    post(.shutDown(isTakenOver: false))
  }

  /// Whether every loop has ended, and the log is idle.
  var hasShutDown: Bool {
    isShuttingDown && loops.allSatisfy(\.isOver) && submitted.isEmpty && !isCommitting
  }
}
