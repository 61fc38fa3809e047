/// Chaos and hostile clients.
extension PlanBuilder {
  mutating func planChaos() {
    for step in scenario.chaos {
      let at = UInt64(step.atMilliseconds) * 1_000_000
      // Scenarios of one relay draw nothing, so that their seeds keep their meaning.
      let relay =
        step.relay ?? (scenario.relayCount > 1 ? random.below(scenario.relayCount) : 0)
      let kind = step.kind == .any ? anyFault() : step.kind
      switch kind {
      case .kill, .restart, .takeOver, .powerLoss, .backup, .database, .link, .any: break
      case .pause(let milliseconds):
        events.append(
          .init(at: at + UInt64(milliseconds) * 1_000_000, kind: .goOn(relay: relay)))
      case .fillDisk(let milliseconds):
        events.append(.init(at: at + UInt64(milliseconds) * 1_000_000, kind: .freeDisk))
      case .cut(let share):
        var there = clients.indices.filter { isPresent($0, at: at) }
        random.shuffle(&there)
        let count = Int((Double(there.count) * share).rounded(.up))
        events.append(.init(at: at, kind: .reset(clients: there.prefix(count).sorted())))
        continue
      }
      events.append(.init(at: at, kind: .chaos(kind, relay: relay)))
    }
  }

  /// Chooses a fault of a cluster, and how long it lasts.
  private mutating func anyFault() -> Scenario.ChaosStep.Kind {
    guard case .spawn(let spawn) = scenario.target else { return .cut(share: 1) }
    let short = 1 + random.below(1_000)
    let long = 1_000 + random.below(6_000)
    var faults: [Scenario.ChaosStep.Kind] = [
      .restart, .pause(milliseconds: short), .pause(milliseconds: long), .cut(share: 0.5),
      .database(.kill(milliseconds: short)), .database(.stop(milliseconds: short)),
      .database(.restart), .database(.terminate), .database(.terminateCommits(milliseconds: long)),
      .link(.cut), .link(.cutCommit), .link(.delay(milliseconds: long)),
      .link(.freeze(milliseconds: long)),
    ]
    if spawn.diskBytes != nil { faults.append(.fillDisk(milliseconds: long)) }
    if spawn.postgresql != Scenario.Standby.none {
      faults += [
        .database(.promote(milliseconds: short)), .database(.cancelWaits(milliseconds: short)),
      ]
    }
    return faults[random.below(faults.count)]
  }

  /// Plans the acts of hostile clients, each of which acts at its own pace from its arrival on. The
  /// acts are dealt from one deck, which is shuffled again when it is empty, so that chance leaves
  /// none out.
  mutating func planHostilities() {
    var deck: [HostileAct] = []
    for client in clients.indices {
      guard case .hostile(let every) = clients[client].persona, let arrival = arrivals[client]
      else { continue }
      for at in stride(from: arrival, to: duration, by: every * 1_000_000) {
        if deck.isEmpty {
          deck = HostileAct.allCases
          random.shuffle(&deck)
        }
        guard let act = deck.popLast() else { break }
        events.append(
          .init(at: at, kind: .hostility(client: client, act: act, seed: random.next())))
      }
    }
  }

  /// Whether the client is connected at that time according to the plan.
  private func isPresent(_ client: Int, at now: UInt64) -> Bool {
    guard !clients[client].persona.isHostile, let arrival = arrivals[client] else { return false }
    return arrival < now && absences[client].allSatisfy { !$0.contains(now) }
  }
}
