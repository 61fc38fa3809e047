internal import EventLoop

/// What is done to the relay and to the way to it, and how long it takes to get over it.
extension Run {
  func play(_ kind: Scenario.ChaosStep.Kind) {
    guard let relay else { return }
    switch kind {
    case .kill:
      relay.kill()
      mark("relay killed")
      awaitReturn(from: "kill", of: awakeClients)
    case .restart:
      do {
        try relay.restart()
        mark("relay killed and started again")
      } catch {
        mark("the relay cannot be started again: \(error)")
      }
      awaitReturn(from: "restart", of: awakeClients)
    case .pause(let milliseconds):
      relay.pause()
      mark("relay paused for \(milliseconds) ms")
    case .cut: break
    }
  }

  func goOn() {
    relay?.goOn()
    mark("relay goes on")
    awaitReturn(
      from: "pause", of: awakeClients.filter(\.isLost), sends: oracle.unanswered.count,
      addsLost: true)
  }

  /// Cuts connections, and lets their clients come back at once.
  func reset(_ clients: [Int]) {
    let cut = clients.filter { members[$0]?.peer.isConnected == true }
    mark("\(cut.count) connections cut")
    awaitReturn(
      from: "cut",
      of: cut.filter { members[$0]?.wasOnline == true }.map { (client: $0, isLost: false) })
    isCutting = true
    for client in cut {
      // What they miss is nothing that the relay has delivered late.
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
    // One that everybody may read; where all are direct, one that nobody is in.
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

  /// Those who have been there, and are not asleep by the plan.
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
    addsLost: Bool = false
  ) {
    let now = elapsed
    outcome.recoveries.append(.init(step: step, seconds: Double(now) / 1e9))
    recoveries.append(
      Recovery(
        step: outcome.recoveries.count - 1, since: now, clients: clients, sends: sends,
        addsLost: addsLost))
    takeNoteOfRecovery()
  }

  /// Tells every step that is not over, and asks it whether it is now.
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
      // The report has a line for it already.
      log(
        "\(Decimal.text(Double(elapsed) / 1e9)) s: 99 % are back,"
          + " \(Decimal.text(milliseconds)) ms after the \(outcome.recoveries[recovery.step].step)")
    }
    recoveries.removeAll(where: \.isOver)
  }
}
