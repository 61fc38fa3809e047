internal import Client
public import EventLoop
internal import Glibc
internal import Platform
import Terminal

/// One run of a plan against an echo server: the same open loop as a ``Run``. Checks that each
/// message is echoed once, in order and unchanged. Confined to the thread that calls `play`.
public final class EchoRun {
  private enum Token {
    static let next: UInt64 = 1
    static let pulse: UInt64 = 2
    static let look: UInt64 = 3
  }

  /// Descriptors of clients have the client's index as token; this one belongs to no client.
  private static let signalToken = UInt64.max
  private static let lookMilliseconds = 20
  private static let keptViolations = 100

  private let scenario: Scenario
  private let plan: Plan
  private let naming: Naming
  private let loop: EventLoop
  private let shared: PeerLoop
  private let target: String
  private let url: String
  private let relay: SpawnedRelay?
  private let log: (String) -> Void

  private var outcome: Outcome
  private var peers: [EchoPeer?]
  private var ledgers: [EchoLedger]
  /// Since when each client should have been connected but is not.
  private var awaited: [UInt64?]
  private var recorder: SeriesRecorder
  private var watch: SelfWatch
  /// Shows the progress, if set before `play`.
  public var display: StatusLine?
  private var start = Instant(nanoseconds: 0)
  private var relayCPUAtStart = 0.0
  private var nextEvent = 0
  private var isDraining = false
  private var progress = (count: 0, at: Instant(nanoseconds: 0))
  private let signals: SignalSource

  /// Finds the server, or starts a relay with an echo, and prepares the run.
  ///
  /// - Parameters:
  ///   - url: Replaces the scenario's server.
  ///   - log: Receives occasional lines about the progress.
  public init(
    _ scenario: Scenario, _ plan: Plan, url: String? = nil, log: @escaping (String) -> Void
  ) throws {
    self.scenario = scenario
    self.plan = plan
    self.log = log
    signals = try SignalSource([SIGINT, SIGTERM, SIGPIPE])
    try Run.checkDescriptors(for: plan)
    loop = try EventLoop()
    switch (url, scenario.target) {
    case (let url?, _):
      self.url = url
      relay = nil
    case (nil, .url(let url)):
      self.url = url
      relay = nil
    case (nil, .spawn(let spawn)):
      let spawned: SpawnedRelay
      do {
        spawned = try SpawnedRelay(spawn, interruption: signals.descriptor)
      } catch is Run.Interruption {
        throw Run.Interruption(signal: signals.next() ?? SIGINT)
      }
      relay = spawned
      self.url = spawned.echoURL
    }
    let place: RelayURL
    do {
      place = try RelayURL(inClear: self.url)
    } catch {
      throw Run.Failure(description: "\(error)", isUsage: true)
    }
    let addresses: [Address]
    do {
      addresses = try Address.resolve(host: place.host, port: place.port)
    } catch {
      throw Run.Failure(description: "\(error)", isUsage: false)
    }
    shared = PeerLoop(
      loop, url: place,
      addresses: try SourceAddresses.check(scenario.sourceAddresses, to: addresses),
      sources: scenario.sourceAddresses)
    target = RawDialect.target(in: self.url)
    var random = SystemRandomNumberGenerator()
    naming = Naming(plan, tag: String(random.next(), radix: 36))
    outcome = Outcome(plan: plan)
    outcome.mode = .echo
    // The query may contain a token.
    outcome.url = "ws://\(place.authority)\(target.prefix { $0 != "?" })"
    peers = Array(repeating: nil, count: plan.clients.count)
    ledgers = naming.users.map(EchoLedger.init)
    awaited = Array(repeating: nil, count: plan.clients.count)
    recorder = SeriesRecorder(scenario.phases)
    watch = SelfWatch(start: .now(), cpu: 0)
  }

  /// Plays the plan to its end.
  public func play() throws -> Outcome {
    let registration = try loop.register(
      signals.descriptor, for: .readable, token: Self.signalToken)
    defer { loop.deregister(registration) }
    start = .now()
    watch = SelfWatch(start: start, cpu: ProcessorTime.own)
    relayCPUAtStart = relay?.cpuSeconds ?? 0
    recorder = SeriesRecorder(scenario.phases, relayCPUSeconds: relay?.cpuSeconds)
    progress.at = start
    log(
      "\(plan.scenario): seed \(plan.seed), \(plan.clients.count) clients of an echo,"
        + " \(plan.messageCount) messages in \(Decimal.text(Double(plan.duration) / 1e9)) s"
        + " at \(outcome.url)")
    loop.schedule(at: start, token: Token.next)
    loop.schedule(at: start, token: Token.pulse)
    loop.schedule(afterMilliseconds: Self.lookMilliseconds, token: Token.look)
    loop.run(self)
    for peer in peers { peer?.end() }
    return conclude()
  }

  /// Nanoseconds from the start.
  private var elapsed: UInt64 { Instant.now().nanoseconds(since: start) }

  // MARK: The plan

  private func playDueEvents() {
    while nextEvent < plan.events.count, plan.events[nextEvent].at <= elapsed {
      play(plan.events[nextEvent])
      nextEvent += 1
    }
    let due = nextEvent < plan.events.count ? plan.events[nextEvent].at : plan.duration
    if due <= elapsed, nextEvent == plan.events.count { return drain() }
    loop.schedule(at: start.adding(nanoseconds: due), token: Token.next)
  }

  private func play(_ event: Plan.Event) {
    switch event.kind {
    case .phase(let name): mark("phase \(name)")
    case .connect(let client):
      awaited[client] = event.at
      let peer = EchoPeer(client: client, target: target, on: shared, observer: self)
      peers[client] = peer
      peer.connect()
    case .send(let client, room: _, let number, let bytes):
      let text = MessageText.text(
        user: naming.users[client], .init(client: client, number: number), at: event.at,
        bytes: bytes, seed: plan.seed)
      recorder.sent()
      outcome.verdict.sends += 1
      peers[client]?.send(.init(number: number, intended: event.at, text: Array(text.utf8)))
    case .cut, .wake, .chaos, .reset, .goOn, .freeDisk, .hostility:
      preconditionFailure("a scenario of mode: echo has neither absences nor chaos")
    }
  }

  private func mark(_ text: String) {
    let seconds = Double(elapsed) / 1e9
    outcome.marks.append(.init(seconds: seconds, text: text))
    log("\(Decimal.text(seconds)) s: \(text)")
  }

  /// Begins to wait for the remaining echoes; the whole plan has been played.
  private func drain() {
    guard !isDraining else { return }
    isDraining = true
    let now = Instant.now()
    outcome.load.ownCores = watch.coreShare(at: now, cpu: ProcessorTime.own)
    if let relay {
      let seconds = max(Double(now.nanoseconds(since: start)) / 1e9, 0.001)
      outcome.load.relayCores = (relay.cpuSeconds - relayCPUAtStart) / seconds
    }
    progress.at = now
    log("\(Decimal.text(Double(elapsed) / 1e9)) s: all sent; waiting for outstanding messages")
  }

  private func look() {
    if elapsed >= recorder.end { closeSecond() }
    let count = outcome.deliveries + outcome.connected
    let now = Instant.now()
    if count != progress.count { progress = (count, now) }
    guard isDraining else { return }
    let isDone =
      ledgers.allSatisfy(\.isComplete)
      && peers.allSatisfy { $0.map { $0.queue.isEmpty && $0.isOpen } ?? true }
    if isDone || now.milliseconds(since: progress.at) > scenario.patienceMilliseconds {
      closeSecond()
      loop.stop()
    }
  }

  private func closeSecond() {
    recorder.close(
      at: elapsed,
      .init(
        deliveries: outcome.deliveries, clients: peers.count { $0?.isOpen ?? false },
        relayCPUSeconds: relay?.cpuSeconds, relayBytes: relay?.residentBytes))
    display?.show(
      recorder.series, of: plan.scenario, lost: outcome.connectionsLost,
      broken: outcome.violationCounts.values.reduce(0, +))
  }

  private func breaks(_ promise: Promise, _ client: Int, _ detail: String) {
    outcome.violationCounts[promise, default: 0] += 1
    guard outcome.violations.count < Self.keptViolations else { return }
    outcome.violations.append(
      Violation(promise: promise, room: "", seqs: [], detail: "client \(client): \(detail)"))
  }

  // MARK: The end

  private func conclude() -> Outcome {
    let now = elapsed
    for client in peers.indices {
      // The latency of an echo that never arrived is at least the time until now; leaving it out
      // would favour the server.
      for send in peers[client]?.queue ?? [] {
        outcome.latencies.record(.deliver, intended: send.intended, happened: now)
        outcome.verdict.missed += 1
      }
      if !outcome.wasInterrupted { forget(client, "nothing more was received", at: now) }
      if let since = awaited[client] {
        outcome.latencies.record(.connect, intended: since, happened: now)
      }
    }
    outcome.seconds = Double(now) / 1e9
    outcome.series = recorder.series
    outcome.load.lagP99Milliseconds = watch.lag.milliseconds(.p99) ?? 0
    outcome.load.lagMaxMilliseconds = watch.lag.milliseconds(.max) ?? 0
    outcome.judgements = scenario.thresholds.map {
      .init(
        threshold: $0, milliseconds: outcome.latencies.milliseconds($0.measure, $0.percentile))
    }
    if outcome.status == .noConnection, let relay { log(relay.lastOutput) }
    return outcome
  }

  private func forget(_ client: Int, _ reason: String, at now: UInt64) {
    for send in ledgers[client].forget() {
      outcome.latencies.record(.deliver, intended: send.intended, happened: now)
      breaks(.lost, client, "send \(send.number) did not come back: \(reason)")
    }
  }
}

extension EchoRun: EchoObserver {
  func echoPeerOpened(_ peer: EchoPeer) {
    guard let since = awaited[peer.client] else { return outcome.resumes += 1 }
    awaited[peer.client] = nil
    outcome.connected += 1
    outcome.latencies.record(.connect, intended: since, happened: elapsed)
  }

  func echoPeer(_ peer: EchoPeer, transmits send: EchoPeer.Send) {
    ledgers[peer.client].sent(send.text, number: send.number, intended: send.intended)
  }

  func echoPeer(_ peer: EchoPeer, received bytes: Span<UInt8>, isText: Bool) {
    outcome.deliveries += 1
    switch ledgers[peer.client].received(bytes, isText: isText) {
    case .good(let intended):
      let now = elapsed
      outcome.verdict.acknowledged += 1
      outcome.latencies.record(.deliver, intended: intended, happened: now)
      recorder.delivered(intended: intended, happened: now)
    case .wrong(let promise, let detail): breaks(promise, peer.client, detail)
    }
  }

  func echoPeer(_ peer: EchoPeer, lostConnection reason: String) {
    let reason = TerminalText.line(reason)
    outcome.lastLoss = reason
    if awaited[peer.client] == nil { outcome.connectionsLost += 1 }
    forget(peer.client, reason, at: elapsed)
  }
}

extension EchoRun: EventHandler {
  /// See `EventHandler`.
  public func ready(_ registration: Registration, token: UInt64, _ readiness: Readiness) {
    if token != Self.signalToken { peers[Int(token)]?.ready(readiness); return }
    guard let signal = signals.next() else { return }
    outcome.interruptingSignal = signal
    mark("interrupted")
    closeSecond()
    loop.stop()
  }

  /// See `EventHandler`.
  public func timerFired(_ timer: TimerID, token: UInt64) {
    if token & PeerLoop.tokenBit != 0 {
      peers[Int(token & ~PeerLoop.tokenBit)]?.connect()
      return
    }
    switch token {
    case Token.next: playDueEvents()
    case Token.pulse:
      guard !isDraining else { return }
      watch.pulse(at: .now())
      loop.schedule(at: watch.next, token: Token.pulse)
    default:
      look()
      loop.schedule(afterMilliseconds: Self.lookMilliseconds, token: Token.look)
    }
  }

  /// See `EventHandler`.
  public func beforeSleep() {}
}
