internal import EventLoop
internal import Glibc
internal import Platform

/// A scenario played raw: with its rooms, clients and texts, but without its phases and the oracle.
///
/// A client in several rooms becomes as many connections, because raw mode counts messages without
/// reading their room.
public struct RawScenario: Sendable {
  /// The scenario.
  public let scenario: Scenario
  /// The result.
  public private(set) var result: RawResult

  /// Plays the scenario; blocks until it is done.
  ///
  /// - Parameters:
  ///   - file: The scenario's file, for errors.
  ///   - url: Replaces the scenario's relay.
  public init(
    playing scenario: Scenario, file: String, seed: UInt64? = nil, url: String? = nil
  ) throws(RawLoad.Failure) {
    self.scenario = scenario
    let signals: SignalSource
    do throws(SystemError) {
      signals = try SignalSource([SIGINT, SIGTERM])
    } catch {
      throw RawLoad.Failure(description: "\(error)", isUsage: false)
    }
    var plan = try Self.plan(scenario, file: file, seed: seed)
    var cluster: Cluster?
    switch (url, scenario.target) {
    case (let url?, _): plan.url = url
    case (nil, .url(let url)): plan.url = url
    case (nil, .spawn(let spawn)):
      do {
        let spawned = try Cluster(spawn, interruption: signals.descriptor)
        cluster = spawned
        plan.url = scenario.mode == .echo ? spawned.relays[0].echoURL : spawned.relays[0].url
        plan.ports = spawned.relays.map(\.port)
        plan.authorities = spawned.relays[0].certificate?.path
      } catch {
        throw RawLoad.Failure(description: "\(error)", isUsage: false, signal: signals.next())
      }
    }
    let load = try RawLoad(plan)
    try load.stops(on: signals.descriptor)
    var from: (relays: Double, database: Double?)?
    var to = from
    let spawned = cluster
    result = try load.play { moment in
      guard let spawned else { return }
      switch moment {
      case .measuring: from = (spawned.cpuSeconds, spawned.database?.cpuSeconds)
      case .measured: to = (spawned.cpuSeconds, spawned.database?.cpuSeconds)
      case .ready, .drained: break
      }
    }
    if let signal = signals.next() {
      throw RawLoad.Failure(description: "interrupted", isUsage: false, signal: signal)
    }
    if let from, let to {
      result.serverCPUSeconds = to.relays - from.relays
      if let before = from.database, let after = to.database {
        result.databaseCPUSeconds = after - before
      }
    }
  }

  /// Returns the load that a scenario describes.
  static func plan(
    _ scenario: Scenario, file: String, seed: UInt64?
  ) throws(RawLoad.Failure) -> RawLoad.Plan {
    func usage(_ text: String) -> RawLoad.Failure {
      .init(description: "\(file): \(text)", isUsage: true)
    }
    guard let raw = scenario.raw else {
      throw usage("raw is missing; expected raw: { window: 8 } or raw: { rate: 1000 } for --raw")
    }
    for (index, group) in scenario.clients.enumerated() {
      switch group.persona {
      case .lurker, .chatter: continue
      default:
        throw usage(
          "clients[\(index)].persona is \(group.persona.name); expected lurker or chatter: --raw"
            + " supports no other personas")
      }
    }
    let dialect = raw.dialect ?? (scenario.mode == .echo ? .echo : .relay)
    var measures: [Measure] = [.connect, .deliver]
    if dialect.ackPrefix != nil { measures.append(.ack) }
    if dialect.asksToJoin { measures.append(.join) }
    for threshold in scenario.thresholds where !measures.contains(threshold.measure) {
      throw usage("thresholds.\(threshold.key) is not measured with --raw; remove it")
    }
    if raw.release == .ack, dialect.ackPrefix == nil {
      throw usage("raw.release is ack; expected delivery: \(dialect.name) has no acks")
    }
    var plan = RawLoad.Plan(url: "", dialect: dialect)
    var builder = PlanBuilder(scenario, seed: seed ?? scenario.seed)
    builder.placeClients()
    var layout = builder.rooms.map { _ in RawLoad.Room(members: 0, senders: 0) }
    for client in builder.clients {
      for room in client.rooms {
        layout[room].members += 1
        if client.persona.speaks { layout[room].senders += 1 }
      }
    }
    plan.layout = layout.filter { $0.members > 0 }
    guard plan.layout.contains(where: { $0.senders > 0 }) else {
      throw usage("clients are silent, but --raw must send; add a chatter")
    }
    guard plan.connections <= Scenario.clientLimit else {
      throw usage(
        "clients are in \(plan.connections) rooms in all; expected at most"
          + " \(Scenario.clientLimit): with --raw each of these is a connection")
    }
    // Rooms of such a server live as long as their members, and their paths contain numbers.
    if dialect == .plain { plan.roomPrefix = "" }
    plan.work = .publish(raw.pace)
    plan.release = raw.release
    plan.seconds = raw.seconds
    plan.warmUpSeconds = raw.warmUpSeconds
    plan.processor = raw.processor
    plan.sourceAddresses = scenario.sourceAddresses
    plan.textBytes = scenario.textBytes.upperBound
    plan.patienceMilliseconds = scenario.patienceMilliseconds
    return plan
  }

  // MARK: Verdict

  /// Each threshold, and the measured value.
  public var judgements: [Outcome.Judgement] {
    scenario.thresholds.map {
      .init(threshold: $0, milliseconds: result.latencies.milliseconds($0.measure, $0.percentile))
    }
  }

  /// Why the figures say nothing about the server; `nil` if they are valid.
  public var voidReason: String? {
    // With a window the load generator is expected to be saturated; the report mentions it.
    if case .publish(.rate) = result.plan.work, result.isSaturated {
      return "the loading thread used \(Decimal.text(result.ownCores * 100)) % of its core"
    }
    if result.whole.errors > result.whole.sends / 100 {
      return "the server refused \(result.whole.errors) of \(result.whole.sends) sends;"
        + " raise its limits"
    }
    if result.unacknowledged > 0 {
      return
        "the server accepted \(result.whole.acks) of \(result.whole.sends) sends in time; if it"
        + " slows fast senders down, raise its limits"
    }
    return nil
  }

  /// The most important status, if several apply.
  public var status: Outcome.Status {
    // Nothing is promised about unacknowledged messages.
    let members = result.plan.allRooms.map(\.members).max() ?? 0
    if result.missing < 0 || result.missing > result.unacknowledged * members {
      return .promiseBroken
    }
    if result.connectionsLost > 0 { return .noConnection }
    if voidReason != nil { return .void }
    return judgements.allSatisfy(\.isMet) ? .good : .thresholdMissed
  }
}

extension Scenario.Persona {
  /// The name in scenarios.
  var name: String {
    switch self {
    case .lurker: "lurker"
    case .chatter: "chatter"
    case .burst: "burst"
    case .slowReader: "slow_reader"
    case .flapper: "flapper"
    case .mobile: "mobile"
    case .hostile: "hostile"
    }
  }
}

extension SpawnedRelay {
  /// The URL of the echo that `debug.echo` enables.
  var echoURL: String { url.replacingSuffix("/ws", by: "/echo") }
}
