/// Chaos and hostile clients.
extension PlanBuilder {
  mutating func planChaos() {
    for step in scenario.chaos {
      let at = UInt64(step.atMilliseconds) * 1_000_000
      switch step.kind {
      case .kill, .restart, .powerLoss: break
      case .pause(let milliseconds):
        events.append(.init(at: at + UInt64(milliseconds) * 1_000_000, kind: .goOn))
      case .fillDisk(let milliseconds):
        events.append(.init(at: at + UInt64(milliseconds) * 1_000_000, kind: .freeDisk))
      case .cut(let share):
        var there = clients.indices.filter { isPresent($0, at: at) }
        random.shuffle(&there)
        let count = Int((Double(there.count) * share).rounded(.up))
        events.append(.init(at: at, kind: .reset(clients: there.prefix(count).sorted())))
        continue
      }
      events.append(.init(at: at, kind: .chaos(step.kind)))
    }
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
