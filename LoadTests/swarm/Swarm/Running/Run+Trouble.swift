/// Chaos: disturbances of the relay and of its connections, and the recovery from them.
extension Run {
  func play(_ kind: Scenario.ChaosStep.Kind) {
    // During a power loss nothing else can be done to the relay.
    guard let relay, powerLoss == nil else { return }
    switch kind {
    case .kill:
      relay.kill()
      (wasStartedWithoutSpace, awaitsSpace) = (false, false)
      mark("relay killed")
      awaitReturn(from: "kill", of: awakeClients)
    case .restart:
      restart("relay killed and restarted", after: "restart")
    case .powerLoss: losePower()
    case .pause(let milliseconds):
      relay.pause()
      mark("relay paused for \(milliseconds) ms")
    case .fillDisk(let milliseconds):
      fillings.append(outcome.unavailable)
      do {
        try relay.fillDisk()
        mark("relay's disk filled for \(milliseconds) ms")
      } catch {
        mark("cannot fill the relay's disk: \(error)")
      }
    case .cut: break
    }
  }

  /// Fills space that the relay has freed on a full disk.
  func keepDiskFull() {
    guard !fillings.isEmpty else { return }
    do {
      try relay?.keepDiskFull()
    } catch {
      mark("cannot keep the relay's disk full: \(error)")
    }
  }

  func freeDisk() {
    guard !fillings.isEmpty else { return }
    let before = fillings.removeFirst()
    do {
      try relay?.freeDisk()
    } catch {
      mark("cannot free space on the relay's disk: \(error)")
    }
    guard fillings.isEmpty else {
      // A step that ends while another lasts is merged into it.
      fillings[0] = before
      return
    }
    mark("relay's disk has space again")
    takeNoteOfEnd()
    if awaitsSpace { restart("relay restarted, since its disk has space again") }
    awaitReturn(
      from: "full disk", of: awakeClients.filter(\.isLost), sends: oracle.unanswered.count,
      addsLost: true, unavailable: outcome.unavailable - before)
  }

  /// Restarts the relay as a step of chaos, from which the clients must recover.
  func restart(_ what: String, after step: String) {
    restart(what)
    wasStartedWithoutSpace = !fillings.isEmpty
    awaitReturn(from: step, of: awakeClients)
  }

  private func restart(_ what: String) {
    awaitsSpace = false
    do {
      try relay?.restart()
      mark(what)
    } catch {
      mark("cannot restart the relay: \(error)")
    }
  }

  /// Handles an unexpected end of the relay. It stays down, which is an error, unless it could not
  /// start because its disk was full: then it is started again, as a supervisor would do.
  func takeNoteOfEnd() {
    guard let relay, let end = relay.takeUnexpectedEnd() else { return }
    mark("the relay exited by itself: \(end)")
    log(relay.lastWords)
    awaitsSpace = wasStartedWithoutSpace
    wasStartedWithoutSpace = false
    if awaitsSpace, fillings.isEmpty { restart("relay restarted, since its disk has space again") }
  }

  func goOn() {
    relay?.goOn()
    mark("relay continues")
    awaitReturn(
      from: "pause", of: awakeClients.filter(\.isLost), sends: oracle.unanswered.count,
      addsLost: true)
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
