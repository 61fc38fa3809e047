internal import Client
internal import EventLoop
internal import Glibc
internal import Platform
internal import Wire

/// One run of a plan against a relay: plays the plan, waits for the last word, reads every room
/// again, and says what came of it. Confined to the thread that calls `play`.
public final class Run {
  /// What can keep a run from beginning; prints as a sentence.
  public struct Failure: Error, CustomStringConvertible {
    /// One line for a person.
    public var description: String
    /// Whether the scenario, or the command line, asks for something that cannot be.
    public var isUsage: Bool
  }

  /// A signal came before the run began.
  public struct Interruption: Error {
    /// Its number.
    public var signal: Int32 = SIGINT
  }

  enum Stage: Equatable {
    /// The plan is played.
    case playing
    /// Everybody waits for what is still to come.
    case settling
    /// Fresh clients read every room.
    case reading
    /// What the fresh clients found is to reach the others too.
    case settlingAgain
    case leaving
    case over
  }

  enum Token {
    static let next: UInt64 = 1
    static let pulse: UInt64 = 2
    static let look: UInt64 = 3
    static let signal: UInt64 = 4
    static let frame: UInt64 = 5
    static let power: UInt64 = 6
    static let redraw: UInt64 = 7
  }

  /// So often a run looks whether it may go on to its next stage.
  static let lookMilliseconds = 20
  static let leaveMilliseconds = 3_000
  /// So many fresh clients read at once.
  static let readersAtOnce = 40
  static let roomsPerReader = 100
  /// Besides connections: standard ones, epoll, signals, files for a moment.
  private static let ownDescriptors = 40

  let plan: Plan
  let scenario: Scenario
  let naming: Naming
  let loop: EventLoop
  let peers: PeerLoop
  let relay: SpawnedRelay?
  let log: (String) -> Void
  /// To end a run early is to end it in order. Who reads what it says may leave, too (`SIGPIPE`).
  let signals: SignalSource
  var redrawing: LiveRedrawing?

  var oracle: Oracle
  var outcome: Outcome
  var stage = Stage.playing
  var start = Instant(nanoseconds: 0)
  var watch: SelfWatch
  var nextEvent = 0
  var members: [Member?]
  /// From when on what is intended counts as delivered late or early, by member: the end of time
  /// for those that are not there, or read slowly.
  var timedSince: [UInt64]
  var memory = FrameMemory()
  var catchUps = CatchUps()
  var footprint = Footprint()
  /// As receivers they follow the members.
  var readers: [Reader] = []
  /// Those that are not through yet.
  var busyReaders: [Int] = []
  /// Rooms that are still to be read, with the user who may.
  var unread: [(user: String, rooms: [Int])] = []
  /// Where a search among the members begins.
  var firstLook = 0
  /// What has come, and when the last of it did.
  var progress = (count: 0, at: Instant(nanoseconds: 0))
  /// Steps of chaos from which most clients are not back yet.
  var recoveries: [Recovery] = []
  /// Connections end because this run has cut them.
  var isCutting = false
  /// By index into `Plan.clients`.
  var hostiles: [Int: HostilePeer] = [:]
  var relayCPUAtStart = 0.0
  /// One that is not over.
  var powerLoss: PowerLoss?
  var powerLosses = 0
  var recorder: SeriesRecorder
  var gauge = LiveGauge()
  /// Shows how it goes while it goes; set before `play`.
  public var display: LiveDisplay?
  /// For each filling of the disk that is not over: what had been answered `unavailable` before it.
  var fillings: [Int] = []
  /// It was started while its disk was full, and nobody has come back to it yet.
  var wasStartedWithoutSpace = false
  /// It could not start without space: whoever watches over it starts it again once there is some.
  var awaitsSpace = false

  /// Finds the relay, or starts it, and makes everything ready.
  ///
  /// - Parameters:
  ///   - url: replaces the scenario's relay.
  ///   - log: takes a line now and then that says how far it is.
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
          description: "the scenario has chaos steps that need a relay that swarm has started:"
            + " leave --url out, or all steps but cut", isUsage: true)
      }
      scenario.target = .url(url)
    }
    guard plan.messageCount > 0 || plan.messagesLeftOut == 0 else {
      throw Failure(
        description:
          "nobody can send any of the \(plan.messagesLeftOut) messages: clients speak when"
          + " they have been there for a second, and stay for another; let them come in an earlier"
          + " phase, and make the phases longer", isUsage: true)
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
    oracle = Oracle(naming)
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
        let started = try SpawnedRelay(
          spawn, losesPower: scenario.losesPower, interruption: signals.descriptor)
        relay = started
        text = started.url
      } catch is Interruption {
        throw Interruption(signal: signals.next() ?? SIGINT)
      }
    case .url(let url):
      relay = nil
      text = url
    }
    let url: RelayURL
    do {
      url = try RelayURL(inClear: text)
    } catch {
      throw Failure(description: "\(error)", isUsage: true)
    }
    let addresses: [Address]
    do {
      addresses = try Address.resolve(host: url.host, port: url.port)
    } catch {
      throw Failure(description: "\(error)", isUsage: false)
    }
    peers = PeerLoop(
      loop, url: url, addresses: try SourceAddresses.check(scenario.sourceAddresses, to: addresses),
      sources: scenario.sourceAddresses, rooms: naming.rooms)
    peers.observer = self
    outcome.url = "\(url)"
  }

  /// A plan that cannot be played here is refused before anything is started.
  static func checkDescriptors(for plan: Plan) throws {
    let limit = try DescriptorLimit.raise()
    let needed = plan.clients.count + readersAtOnce + ownDescriptors
    guard needed > limit else { return }
    throw Failure(
      description: "the scenario has \(plan.clients.count) clients, and this process may have no"
        + " more than \(limit) descriptors open: take \(max(0, limit - needed + plan.clients.count))"
        + " clients at most, or raise the hard limit (`ulimit -Hn`)", isUsage: true)
  }

  /// Plays the plan to its end.
  public func play() throws -> Outcome {
    let registration = try loop.register(
      signals.descriptor, for: .readable, token: Token.signal)
    redrawing = try display.map { try LiveRedrawing(of: $0, on: loop, token: Token.redraw) }
    defer {
      redrawing?.end()
      loop.deregister(registration)
    }
    start = .now()
    watch = SelfWatch(start: start, cpu: ProcessorTime.own)
    relayCPUAtStart = relay?.cpuSeconds ?? 0
    recorder = SeriesRecorder(scenario.phases, relayCPUSeconds: relay?.cpuSeconds)
    progress.at = start
    footprint = Footprint(relay: relay?.residentBytes)
    log(
      "\(plan.scenario): seed \(plan.seed), \(plan.clients.count) clients, \(plan.rooms.count) rooms,"
        + " \(plan.messageCount) messages in \(Decimal.text(Double(plan.duration) / 1e9)) s"
        + " at \(peers.url)")
    loop.schedule(at: start, token: Token.next)
    loop.schedule(at: start, token: Token.pulse)
    loop.schedule(afterMilliseconds: Self.lookMilliseconds, token: Token.look)
    loop.schedule(at: start, token: Token.frame)
    loop.run(self)
    return conclude()
  }

  /// Nanoseconds from the start.
  var elapsed: UInt64 { Instant.now().nanoseconds(since: start) }

  /// When what is being looked at came, in nanoseconds from the start.
  var arrived: UInt64 { peers.readAt.nanoseconds(since: start) }

  func mark(_ text: String, isPhase: Bool = false) {
    let seconds = Double(elapsed) / 1e9
    outcome.marks.append(.init(seconds: seconds, text: text, isPhase: isPhase))
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
    if due <= elapsed, nextEvent == plan.events.count { return settle() }
    loop.schedule(at: start.adding(nanoseconds: due), token: Token.next)
  }

  private func play(_ event: Plan.Event) {
    switch event.kind {
    case .phase(let name): mark("phase \(name)", isPhase: true)
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
      let text = SpokenText.text(
        user: naming.users[client], id, at: event.at, bytes: bytes, seed: plan.seed)
      oracle.sends(id, room: room, text: text, intended: event.at)
      recorder.sent()
      gauge.sent()
      guard let peer = members[client]?.peer else { return }
      let given = peer.send(text, to: naming.rooms[room])
      precondition(given == naming.id(of: id), "the session counts its sends as the plan does")
    case .chaos(let kind): play(kind)
    case .reset(let clients): reset(clients)
    case .goOn: goOn()
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
    peer.start()
  }

  // MARK: The end

  private func conclude() -> Outcome {
    let now = elapsed
    // What was never answered took at least until now: leaving it out would flatter the relay.
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
    outcome.violationCounts = oracle.counts
    outcome.deliveries = oracle.deliveries
    outcome.load.lagP99Milliseconds = watch.lag.milliseconds(.p99) ?? 0
    outcome.load.lagMaxMilliseconds = watch.lag.milliseconds(.max) ?? 0
    outcome.judgements = scenario.thresholds.map {
      .init(
        threshold: $0, milliseconds: outcome.latencies.milliseconds($0.measure, $0.percentile))
    }
    if outcome.status == .noConnection, let relay { log(relay.lastWords) }
    return outcome
  }
}
