internal import Platform

/// Chaos: disturbances of the relay and of its connections, and the recovery from them.
extension Run {
  func play(_ kind: Scenario.ChaosStep.Kind, on index: Int) {
    // During a power loss nothing else can be done to the relay.
    guard let cluster, powerLoss == nil else { return }
    let name = name(ofRelay: index)
    switch kind {
    case .kill:
      let clients = awakeClients(of: index)
      cluster.relays[index].kill()
      (wasStartedWithoutSpace, awaitsSpace) = (false, false)
      restarts[index] = nil
      mark("\(name) killed")
      awaitReturn(from: "kill", of: clients)
    case .restart:
      restart(index, "\(name) killed and restarted", after: "restart")
    case .takeOver: takeOver(index)
    case .powerLoss: losePower()
    case .backup:
      do {
        try cluster.relays[index].backUp()
        mark("\(name) is backed up from now on")
      } catch {
        mark("cannot back up the relay: \(error)")
      }
    case .pause(let milliseconds):
      cluster.relays[index].pause()
      mark("\(name) paused for \(milliseconds) ms")
    case .fillDisk(let milliseconds):
      fillings.append(outcome.unavailable)
      do {
        try cluster.fillDisk()
        mark("\(diskOwner) disk filled for \(milliseconds) ms")
      } catch {
        mark("cannot fill \(diskOwner) disk: \(error)")
      }
    case .database(let fault): cluster.database?.perform(fault)
    case .link(let fault):
      cluster.perform(fault, on: index)
      mark("\(name): connections to PostgreSQL \(fault.sentence)")
    case .cut, .any: break
    }
  }

  private func name(ofRelay index: Int) -> String {
    (cluster?.relays.count ?? 0) > 1 ? "relay \(index + 1)" : "relay"
  }

  private var diskOwner: String { cluster?.database == nil ? "relay's" : "PostgreSQL's" }

  /// Fills space that the relay has freed on a full disk.
  func keepDiskFull() {
    guard !fillings.isEmpty else { return }
    do {
      try cluster?.keepDiskFull()
    } catch {
      mark("cannot keep \(diskOwner) disk full: \(error)")
    }
  }

  func freeDisk() {
    guard !fillings.isEmpty else { return }
    let before = fillings.removeFirst()
    do {
      try cluster?.freeDisk()
    } catch {
      mark("cannot free space on \(diskOwner) disk: \(error)")
    }
    guard fillings.isEmpty else {
      // A step that ends while another lasts is merged into it.
      fillings[0] = before
      return
    }
    mark("\(diskOwner) disk has space again")
    takeNoteOfEnd()
    if awaitsSpace { restart(0, "relay restarted, since its disk has space again") }
    awaitReturn(
      from: "full disk", of: awakeClients.filter(\.isLost), sends: oracle.unanswered.count,
      addsLost: true, unavailable: outcome.unavailable - before)
  }

  /// Restarts a relay as a step of chaos, from which the clients must recover.
  func restart(_ index: Int, _ what: String, after step: String) {
    let clients = awakeClients(of: index)
    restart(index, what)
    wasStartedWithoutSpace = !fillings.isEmpty
    awaitReturn(from: step, of: clients)
  }

  private func takeOver(_ index: Int) {
    let clients = awakeClients(of: index)
    do {
      try cluster?.relays[index].takeOver()
      mark("another process takes over from \(name(ofRelay: index))")
      awaitReturn(from: "take_over", of: clients)
    } catch {
      mark("no process takes over: \(error)")
    }
  }

  private func restart(_ index: Int, _ what: String) {
    awaitsSpace = false
    restarts[index] = nil
    do {
      try cluster?.relays[index].restart()
      mark(what)
    } catch {
      mark("cannot restart the relay: \(error)")
    }
  }

  /// Handles unexpected ends of relays. One stays down, which is an error, unless it could not
  /// start because its disk was full: then it is started again, as a supervisor would do. Relays that
  /// share a log are always started again.
  func takeNoteOfEnd() {
    guard let cluster else { return }
    for (index, relay) in cluster.relays.enumerated() {
      if let end = relay.takeEndOfBackup() {
        outcome.exits += 1
        mark("the backup of \(name(ofRelay: index)) ended by itself: \(end)")
      }
      guard let end = relay.takeUnexpectedEnd() else { continue }
      outcome.exits += 1
      mark(
        "\(cluster.relays.count > 1 ? "" : "the ")\(name(ofRelay: index)) exited by itself: \(end)")
      log(relay.lastOutput)
      if cluster.database != nil {
        restarts[index] = .now().adding(milliseconds: Self.restartMilliseconds)
        continue
      }
      awaitsSpace = wasStartedWithoutSpace
      wasStartedWithoutSpace = false
      if awaitsSpace, fillings.isEmpty {
        restart(index, "relay restarted, since its disk has space again")
      }
    }
    for (index, time) in restarts where time <= .now() {
      restart(index, "\(name(ofRelay: index)) restarted")
    }
  }

  /// How long a supervisor waits.
  private static let restartMilliseconds = 500

  func goOn(_ index: Int) {
    cluster?.relays[index].goOn()
    mark("\(name(ofRelay: index)) continues")
    awaitReturn(
      from: "pause", of: awakeClients.filter(\.isLost), sends: oracle.unanswered.count,
      addsLost: true)
  }

  /// Handles what has happened to PostgreSQL.
  func takeDatabaseEvents() {
    for event in cluster?.database?.takeEvents() ?? [] {
      switch event {
      case .mark(let text): mark(text)
      case .primaryIsGone: oracle.mayHaveForked(before: elapsed)
      case .answers(let fault):
        awaitReturn(
          from: fault, of: awakeClients.filter(\.isLost), sends: oracle.unanswered.count,
          addsLost: true)
      }
    }
  }

  /// Cuts connections; their clients reconnect immediately.
  func reset(_ clients: [Int]) {
    let cut = clients.filter { members[$0]?.peer.isConnected == true }
    mark("\(cut.count) connections cut")
    awaitReturn(
      from: "cut",
      of: cut.filter { members[$0]?.wasOnline == true }.map { (client: $0, isLost: false) })
    isCutting = true
    for client in cut {
      // Entries that they miss meanwhile do not count as delivered late.
      if members[client]?.wasWelcome == true { members[client]?.awaitedSince = nil }
      setOnline(client, nil)
      members[client]?.peer.abort()
    }
    isCutting = false
  }

  func hostility(_ client: Int, _ act: HostileAct, seed: UInt64) {
    let peer =
      hostiles[client]
      ?? HostilePeer(client: client, user: naming.users[client], on: peers) {
        [unowned self] act, count in
        outcome.hostilities[act, default: .init()][keyPath: count] += 1
      }
    hostiles[client] = peer
    // A room that every user may read; if all are direct rooms, one without members.
    let room =
      zip(plan.rooms, naming.rooms).first { if case .group = $0.0 { true } else { false } }?.1
      ?? "sw-\(naming.tag.prefix(8))-hostile"
    peer.begin(HostileBytes(act, room: room, seed: seed))
  }

  func endHostilities() {
    for peer in hostiles.values { peer.end() }
    hostiles = [:]
  }

  // MARK: Recovery

  /// The clients that were online before and are not offline as planned.
  private var awakeClients: [(client: Int, isLost: Bool)] {
    members.indices.compactMap { client in
      guard let member = members[client], member.wasOnline, !member.peer.isAsleep else {
        return nil
      }
      return (client, !member.peer.isLive)
    }
  }

  /// Those of them that are connected to a relay, or to none.
  private func awakeClients(of relay: Int) -> [(client: Int, isLost: Bool)] {
    awakeClients.filter { client, isLost in
      isLost || members[client]?.peer.addressIndex.map { $0 == relay } ?? true
    }
  }

  private func awaitReturn(
    from step: String, of clients: [(client: Int, isLost: Bool)], sends: Int = 0,
    addsLost: Bool = false, unavailable: Int? = nil
  ) {
    let now = elapsed
    outcome.recoveries.append(
      .init(step: step, seconds: Double(now) / 1e9, unavailable: unavailable))
    recoveries.append(
      Recovery(
        step: outcome.recoveries.count - 1, since: now, clients: clients, sends: sends,
        addsLost: addsLost))
    takeNoteOfRecovery()
  }

  /// Applies a change to every unfinished recovery, and checks whether it is finished.
  func recover(_ change: (inout Recovery) -> Void) {
    guard !recoveries.isEmpty else { return }
    for index in recoveries.indices { change(&recoveries[index]) }
    takeNoteOfRecovery()
  }

  private func takeNoteOfRecovery() {
    for recovery in recoveries {
      outcome.recoveries[recovery.step].disconnected = recovery.clientCount
      outcome.recoveries[recovery.step].unanswered = recovery.sendCount
    }
    for recovery in recoveries where recovery.isOver {
      let milliseconds = Double(elapsed - recovery.since) / 1e6
      outcome.recoveries[recovery.step].milliseconds = milliseconds
      // The report already contains this.
      log(
        "\(Decimal.text(Double(elapsed) / 1e9)) s: 99 % have reconnected,"
          + " \(Decimal.text(milliseconds)) ms after the \(outcome.recoveries[recovery.step].step)")
    }
    recoveries.removeAll(where: \.isOver)
  }
}

extension Scenario.LinkFault {
  fileprivate var sentence: String {
    switch self {
    case .cut: "cut"
    case .cutCommit: "to be cut in the next COMMIT"
    case .delay(let milliseconds): "delayed for \(milliseconds) ms"
    case .freeze(let milliseconds): "frozen for \(milliseconds) ms, and then cut"
    }
  }
}
