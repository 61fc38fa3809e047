internal import Client
internal import EventLoop
internal import Glibc
internal import Platform
internal import TLS
internal import Wire

/// One run of a plan against a relay: plays the plan, waits for the last messages, reads every room
/// again, and returns the result. Confined to the thread that calls `play`.
public final class Run {
  /// Why a run cannot begin; prints as a sentence.
  public struct Failure: Error, CustomStringConvertible {
    /// A single line for the user.
    public var description: String
    /// Whether the scenario or the command line is invalid.
    public var isUsage: Bool
  }

  /// A signal arrived before the run began.
  public struct Interruption: Error {
    /// Its number.
    public var signal: Int32 = SIGINT
  }

  enum Stage: Equatable {
    /// The plan is played.
    case playing
    /// The run waits for outstanding messages.
    case draining
    /// Fresh clients read every room.
    case reading
    /// The run waits until the other clients have received what the fresh clients found.
    case drainingAgain
    case leaving
    case over
  }

  enum Token {
    static let next: UInt64 = 1
    static let pulse: UInt64 = 2
    static let look: UInt64 = 3
    static let signal: UInt64 = 4
    static let power: UInt64 = 5
    static let database: UInt64 = 6
  }

  /// The interval of the checks whether the next stage can begin.
  static let lookMilliseconds = 20
  static let leaveMilliseconds = 3_000
  /// The number of fresh clients that read simultaneously.
  static let readersAtOnce = 40
  static let roomsPerReader = 100
  /// Descriptors other than connections: standard ones, epoll, signals, temporary files.
  private static let ownDescriptors = 40

  let plan: Plan
  let scenario: Scenario
  let naming: Naming
  let loop: EventLoop
  let peers: PeerLoop
  let cluster: Cluster?
  let log: (String) -> Void
  /// Signals end a run early but orderly. The reader of the output may also close it (`SIGPIPE`).
  let signals: SignalSource

  var oracle: Oracle
  var outcome: Outcome
  var stage = Stage.playing
  var start = Instant(nanoseconds: 0)
  var watch: SelfWatch
  var nextEvent = 0
  var members: [Member?]
  /// By member: from when on intended sends count as delivered; the end of time for members that
  /// are offline or read slowly.
  var timedSince: [UInt64]
  var memory = FrameMemory()
  var catchUps = CatchUps()
  var footprint = Footprint()
  /// Their numbers as receivers follow the members'.
  var readers: [Reader] = []
  /// The readers that have not finished.
  var busyReaders: [Int] = []
  /// Rooms that are still to be read, with the user who may read them.
  var unread: [(user: String, rooms: [Int])] = []
  /// The member at which a search begins.
  var firstLook = 0
  /// The amount of progress, and how long there has been none.
  var progress = 0
  var waiting = Waiting()
  /// When the last `ack` of any client arrived.
  var lastAckAt: UInt64?
  /// Steps of chaos from which most clients have not recovered.
  var recoveries: [Recovery] = []
  /// Whether this run is cutting connections.
  var isCutting = false
  /// By index into `Plan.clients`.
  var hostiles: [Int: HostilePeer] = [:]
  var relayCPUAtStart = 0.0
  /// The power loss in progress.
  var powerLoss: PowerLoss?
  var powerLosses = 0
  var recorder: SeriesRecorder
  /// Shows the progress, if set before `play`.
  public var display: StatusLine?
  /// For each filling of the disk in progress: the number of `unavailable` answers before it.
  var fillings: [Int] = []
  /// The relay was started while its disk was full, and no client has reconnected to it yet.
  var wasStartedWithoutSpace = false
  /// The relay could not start without disk space; it is started again when there is some.
  var awaitsSpace = false
  /// By relay of a cluster: when it is started again after it has exited by itself.
  var restarts: [Int: Instant] = [:]

  /// Finds the relay, or starts one, and prepares the run.
  ///
  /// - Parameters:
  ///   - url: Replaces the scenario's relay.
  ///   - log: Receives occasional lines about the progress.
  public init(
    _ scenario: Scenario, _ plan: Plan, url: String? = nil, log: @escaping (String) -> Void
  ) throws {
    var scenario = scenario
    guard scenario.mode == .relay else {
      throw Failure(
        description: "mode is \(scenario.mode.rawValue); expected relay: an echo has no oracle",
        isUsage: true)
    }
    if let url {
      guard !scenario.needsOwnRelay else {
        throw Failure(
          description: "the scenario has chaos steps that require a relay started by swarm:"
            + " omit --url, or all steps except cut", isUsage: true)
      }
      scenario.target = .url(url)
    }
    guard plan.messageCount > 0 || plan.messagesLeftOut == 0 else {
      throw Failure(
        description:
          "none of the \(plan.messagesLeftOut) messages has a sender: clients send only when"
          + " they have been connected for a second, and stay for another; connect them in an"
          + " earlier phase, and make the phases longer", isUsage: true)
    }
    self.scenario = scenario
    self.plan = plan
    self.log = log
    try Self.checkDescriptors(for: plan)
    signals = try SignalSource([SIGINT, SIGTERM, SIGPIPE])
    var random = SystemRandomNumberGenerator()
    let tag = (0..<2).map { _ in
      let digits = String(random.next(), radix: 36)
      return String(repeating: "0", count: 13 - digits.utf8.count) + digits
    }
    naming = Naming(plan, tag: tag.joined())
    oracle = Oracle(naming, mayFork: scenario.mayFork)
    outcome = Outcome(plan: plan)
    members = Array(repeating: nil, count: plan.clients.count)
    timedSince = Array(repeating: .max, count: plan.clients.count)
    watch = SelfWatch(start: .now(), cpu: 0)
    recorder = SeriesRecorder(scenario.phases)
    loop = try EventLoop()
    let text: String
    switch scenario.target {
    case .spawn(let spawn):
      do {
        let started = try Cluster(
          spawn, losesPower: scenario.losesPower,
          hasFaults: scenario.chaos.contains { $0.kind.concernsDatabase },
          interruption: signals.descriptor)
        cluster = started
        text = started.relays[0].url
      } catch is Interruption {
        throw Interruption(signal: signals.next() ?? SIGINT)
      }
    case .url(let url):
      cluster = nil
      text = url
    }
    let url: RelayURL
    do {
      url = try cluster == nil ? RelayURL(inClear: text) : RelayURL(text)
    } catch {
      throw Failure(description: "\(error)", isUsage: true)
    }
    let addresses: [Address]
    do {
      let ports = cluster?.relays.map(\.port) ?? [url.port]
      addresses = try ports.flatMap { try Address.resolve(host: url.host, port: $0) }
    } catch {
      throw Failure(description: "\(error)", isUsage: false)
    }
    peers = PeerLoop(
      loop, url: url, addresses: try SourceAddresses.check(scenario.sourceAddresses, to: addresses),
      sources: scenario.sourceAddresses, rooms: naming.rooms, isBalanced: scenario.relayCount > 1,
      authorities: try cluster?.relays[0].certificate.map {
        try TLSContext(trusting: .authorities(file: $0.path))
      })
    peers.observer = self
    outcome.url = "\(url)"
  }

  /// Rejects a plan that cannot be played here, before anything is started.
  static func checkDescriptors(for plan: Plan) throws {
    let limit = try DescriptorLimit.raise()
    let needed = plan.clients.count + readersAtOnce + ownDescriptors
    guard needed > limit else { return }
    throw Failure(
      description: "the scenario has \(plan.clients.count) clients, but this process may open only"
        + " \(limit) descriptors: use at most \(max(0, limit - needed + plan.clients.count))"
        + " clients, or raise the hard limit (`ulimit -Hn`)", isUsage: true)
  }

  /// Plays the plan to its end.
  public func play() throws -> Outcome {
    let registration = try loop.register(
      signals.descriptor, for: .readable, token: Token.signal)
    let database = try cluster?.database.map {
      try loop.register($0.descriptor, for: .readable, token: Token.database)
    }
    defer {
      if let database { loop.deregister(database) }
      loop.deregister(registration)
    }
    start = .now()
    watch = SelfWatch(start: start, cpu: ProcessorTime.own)
    relayCPUAtStart = cluster?.cpuSeconds ?? 0
    recorder = SeriesRecorder(scenario.phases, relayCPUSeconds: cluster?.cpuSeconds)
    waiting.begin(at: start)
    footprint = Footprint(relay: cluster?.residentBytes)
    log(
      "\(plan.scenario): seed \(plan.seed), \(plan.clients.count) clients, \(plan.rooms.count) rooms,"
        + " \(plan.messageCount) messages in \(Decimal.text(Double(plan.duration) / 1e9)) s"
        + " at \(peers.url)")
    loop.schedule(at: start, token: Token.next)
    loop.schedule(at: start, token: Token.pulse)
    loop.schedule(afterMilliseconds: Self.lookMilliseconds, token: Token.look)
    loop.run(self)
    return conclude()
  }

  /// Nanoseconds from the start.
  var elapsed: UInt64 { Instant.now().nanoseconds(since: start) }

  /// When the data that is being handled arrived, in nanoseconds from the start.
  var arrived: UInt64 { peers.readAt.nanoseconds(since: start) }

  func mark(_ text: String) {
    let seconds = Double(elapsed) / 1e9
    outcome.marks.append(.init(seconds: seconds, text: text))
    log("\(Decimal.text(seconds)) s: \(text)")
  }

  // MARK: The plan

  func playDueEvents() {
    while nextEvent < plan.events.count, plan.events[nextEvent].at <= elapsed {
      let event = plan.events[nextEvent]
      nextEvent += 1
      play(event)
    }
    let due = nextEvent < plan.events.count ? plan.events[nextEvent].at : plan.duration
    if due <= elapsed, nextEvent == plan.events.count { return drain() }
    loop.schedule(at: start.adding(nanoseconds: due), token: Token.next)
  }

  private func play(_ event: Plan.Event) {
    switch event.kind {
    case .phase(let name): mark("phase \(name)")
    case .connect(let client): connect(client, at: event.at)
    case .cut(let client):
      recover { $0.wentAway(client) }
      members[client]?.peer.cut()
    case .wake(let client):
      members[client]?.awaitedSince = nil
      setOnline(client, nil)
      members[client]?.peer.wake()
    case .send(let client, let room, let number, let bytes):
      let id = Naming.SendID(client: client, number: number)
      let text = MessageText.text(
        user: naming.users[client], id, at: event.at, bytes: bytes, seed: plan.seed)
      oracle.sends(id, room: room, text: text, intended: event.at)
      recorder.sent()
      guard let peer = members[client]?.peer else { return }
      let given = peer.sendText(text, to: naming.rooms[room])
      precondition(given == naming.id(of: id), "the session must number its sends as the plan does")
    case .chaos(let kind, let relay): play(kind, on: relay)
    case .reset(let clients): reset(clients)
    case .goOn(let relay): goOn(relay)
    case .freeDisk: freeDisk()
    case .hostility(let client, let act, let seed): hostility(client, act, seed: seed)
    }
  }

  private func connect(_ client: Int, at intended: UInt64) {
    let planned = plan.clients[client]
    var readBytes = 0
    if case .slowReader(let bytes) = planned.persona { readBytes = bytes }
    let peer = Peer(
      receiver: client, user: naming.users[client], idPrefix: naming.idPrefix(ofClient: client),
      readBytesPerSecond: readBytes, on: peers)
    members[client] = Member(
      peer: peer, awaitedSince: intended, roomsToJoin: planned.rooms.count, isSlow: readBytes > 0)
    for room in planned.rooms { peer.join(naming.rooms[room], from: .head) }
    peer.startSession()
  }

  // MARK: The end

  private func conclude() -> Outcome {
    let now = elapsed
    // The latency of an unanswered send is at least the time until now; leaving it out would favour
    // the relay.
    for intended in oracle.unanswered {
      outcome.latencies.record(.ack, intended: intended, happened: now)
    }
    for case let member? in members where !member.wasWelcome {
      guard let since = member.awaitedSince else { continue }
      outcome.latencies.record(.connect, intended: since, happened: now)
    }
    for since in catchUps.unfinished {
      outcome.latencies.record(.catchUp, intended: since, happened: now)
    }
    outcome.memory = footprint.memory
    outcome.seconds = Double(now) / 1e9
    outcome.series = recorder.series
    outcome.verdict = oracle.finish()
    outcome.violations = oracle.violations
    outcome.forksTold = scenario.mayFork ? oracle.forksTold : nil
    outcome.violationCounts = oracle.counts
    outcome.deliveries = oracle.deliveries
    outcome.load.lagP99Milliseconds = watch.lag.milliseconds(.p99) ?? 0
    outcome.load.lagMaxMilliseconds = watch.lag.milliseconds(.max) ?? 0
    outcome.judgements = scenario.thresholds.map {
      .init(
        threshold: $0, milliseconds: outcome.latencies.milliseconds($0.measure, $0.percentile))
    }
    if outcome.status == .noConnection, let cluster { log(cluster.lastOutput) }
    return outcome
  }
}
