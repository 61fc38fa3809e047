internal import YAML

/// Several relays on one PostgreSQL.
extension Scenario {
  /// Each is a process with its own threads: more measure the machine.
  static let relayLimit = 16
  /// A day.
  static let clockOffsetLimitSeconds = 86_400

  /// Checks the keys of a cluster, and the steps of chaos that need one.
  func contradictionsOfCluster(of root: YAMLNode) -> [YAMLDocument.Fault] {
    guard case .spawn(let spawn) = target else { return [] }
    var faults: [YAMLDocument.Fault] = []
    let node = root["spawn"]
    func report(_ key: String, _ found: String, _ expected: String) {
      let line = node?[key]?.line ?? node?.line ?? root.line
      faults.append(.init(line: line, key: "spawn.\(key)", found: found, expected: expected))
    }
    if mode == .echo {
      for key in ["relays", "postgresql", "clock_offsets_s", "tls"] where node?[key] != nil {
        report(key, "has no meaning for mode: echo", "remove it")
      }
      return faults
    }
    if spawn.relays > 1, spawn.postgresql == nil {
      report(
        "relays", "are \(spawn.relays), but have no log in common",
        "add postgresql: { standby: none }, or use one relay")
    }
    if spawn.usesTLS, spawn.relays > 1 {
      report("tls", "is true, but swarm makes one certificate", "use one relay")
    } else if spawn.usesTLS, honestCount < clientCount {
      report("tls", "is true, but hostile clients break the rules without it", "remove them")
    }
    if spawn.clockOffsetsSeconds.count > spawn.relays {
      report(
        "clock_offsets_s", "are for \(spawn.clockOffsetsSeconds.count) relays",
        "expected at most \(spawn.relays)")
    }
    for (index, step) in (root["chaos"]?.list ?? []).enumerated() {
      var ignored: [YAMLDocument.Fault] = []
      guard let first = ChaosStep.steps(step, at: "", &ignored).first else { continue }
      func report(_ key: String, _ found: String, _ expected: String) {
        faults.append(
          .init(
            line: step[key]?.line ?? step.line, key: "chaos[\(index)].\(key)", found: found,
            expected: expected))
      }
      let verb = step["do"]?.text ?? ""
      if first.kind.concernsDatabase, spawn.postgresql == nil {
        report(
          "do", "is \(verb), but the relay has no PostgreSQL",
          "add postgresql: { standby: none } to spawn")
      } else if first.kind.needsStandby, spawn.postgresql == Standby.none {
        report(
          "do", "is \(verb), but PostgreSQL has no standby",
          "give it one: postgresql: { standby: synchronous }")
      } else if first.kind == .powerLoss, spawn.postgresql != nil {
        report("do", "is power_loss, but the log is in PostgreSQL", "use kill_database")
      }
      if let relay = first.relay, relay >= spawn.relays {
        report("relay", "is \(relay + 1)", "expected 1 to \(spawn.relays)")
      }
    }
    return faults
  }
}

extension Scenario.ChaosStep.Kind {
  /// Whether it is about a second server.
  fileprivate var needsStandby: Bool {
    switch self {
    case .database(.promote), .database(.promoteCancelled), .database(.cancelWaits): true
    default: false
    }
  }
}

extension Scenario.Spawn {
  mutating func readCluster(_ fields: inout YAMLFields) {
    if let count = fields.optional(
      "relays", "expected 1 to \(Scenario.relayLimit)",
      { $0.integer(in: 1...Scenario.relayLimit) })
    {
      relays = count
    }
    let names = Scenario.Standby.allCases.map(\.rawValue).joined(separator: ", ")
    postgresql = fields.optional("postgresql", "expected { standby: S }, S one of \(names)") {
      node in
      if node.isNull { return Scenario.Standby.none }
      guard case .mapping(let pairs) = node.content, pairs.allSatisfy({ $0.key == "standby" })
      else { return nil }
      guard let standby = node["standby"] else { return Scenario.Standby.none }
      return standby.text.flatMap(Scenario.Standby.init)
    }
    let limit = Scenario.clockOffsetLimitSeconds
    clockOffsetsSeconds =
      fields.optional("clock_offsets_s", "expected a list of seconds from -\(limit) to \(limit)") {
        node in
        let offsets = node.list?.compactMap { $0.integer(in: -limit...limit) }
        return offsets?.count == node.list?.count ? offsets : nil
      } ?? []
  }
}
