internal import YAML

extension Scenario.ChaosStep {
  /// What a step may be told besides its time.
  private enum Detail: String, CaseIterable {
    case milliseconds = "ms"
    case share, relay
  }

  /// The keys that each verb takes, in the order in which errors name them.
  private static let verbs: [(verb: String, details: [Detail])] = [
    ("kill", [.relay]), ("restart", [.relay]), ("power_loss", []),
    ("pause", [.milliseconds, .relay]), ("fill_disk", [.milliseconds]), ("cut", [.share]),
    ("backup", []),
    ("take_over", [.relay]),
    ("kill_database", [.milliseconds]), ("stop_database", [.milliseconds]),
    ("restart_database", []),
    ("promote", [.milliseconds]), ("promote_cancelled", [.milliseconds]),
    ("cancel_waits", [.milliseconds]), ("terminate", []),
    ("terminate_commits", [.milliseconds]), ("cut_link", [.relay]), ("cut_commit", [.relay]),
    ("delay_link", [.milliseconds, .relay]), ("freeze_link", [.milliseconds, .relay]), ("any", []),
  ]

  private static func kind(_ verb: String, milliseconds: Int, share: Double) -> Kind {
    switch verb {
    case "kill": .kill
    case "restart": .restart
    case "take_over": .takeOver
    case "power_loss": .powerLoss
    case "backup": .backup
    case "pause": .pause(milliseconds: milliseconds)
    case "fill_disk": .fillDisk(milliseconds: milliseconds)
    case "kill_database": .database(.kill(milliseconds: milliseconds))
    case "stop_database": .database(.stop(milliseconds: milliseconds))
    case "restart_database": .database(.restart)
    case "promote": .database(.promote(milliseconds: milliseconds))
    case "promote_cancelled": .database(.promoteCancelled(milliseconds: milliseconds))
    case "cancel_waits": .database(.cancelWaits(milliseconds: milliseconds))
    case "terminate": .database(.terminate)
    case "terminate_commits": .database(.terminateCommits(milliseconds: milliseconds))
    case "cut_link": .link(.cut)
    case "cut_commit": .link(.cutCommit)
    case "delay_link": .link(.delay(milliseconds: milliseconds))
    case "freeze_link": .link(.freeze(milliseconds: milliseconds))
    case "any": .any
    default: .cut(share: share)
    }
  }

  /// Parses one step, or several at equal intervals.
  static func steps(
    _ node: YAMLNode, at path: String, _ faults: inout [YAMLDocument.Fault]
  ) -> [Self] {
    var fields = YAMLFields(
      node, at: path, known: ["do", "at_s", "times", "every_s", "ms", "share", "relay"])
    let milliseconds = fields.optional("ms", "expected 1 to 600000") { $0.integer(in: 1...600_000) }
    let share = fields.optional("share", "expected more than 0, at most 1") { node in
      node.number.flatMap { $0 > 0 && $0 <= 1 ? $0 : nil }
    }
    let relay = fields.optional("relay", "expected the number of a relay, from 1") {
      $0.integer(in: 1...Scenario.relayLimit)
    }
    let names = verbs.map(\.verb)
    let verb = fields.required(
      "do", "expected \(names.dropLast().joined(separator: ", ")) or any"
    ) { node in node.text.flatMap { names.contains($0) ? $0 : nil } }
    let details = verbs.first { $0.verb == verb }?.details ?? []
    for detail in Detail.allCases {
      if let verb, !details.contains(detail), fields.has(detail.rawValue) {
        fields.report(detail.rawValue, "has no meaning for do: \(verb)", "remove it")
      }
    }
    func seconds(_ node: YAMLNode) -> Double? {
      node.number.flatMap { (0...86_400).contains($0) ? $0 : nil }
    }
    let start = fields.required("at_s", "expected seconds from the start", seconds)
    let times = fields.optional("times", "expected 1 to 1000") { $0.integer(in: 1...1000) } ?? 1
    let every = fields.optional("every_s", "expected seconds", seconds)
    if times > 1, every == nil {
      fields.report("every_s", "is missing", "expected the seconds between repetitions")
    }
    faults += fields.faults
    guard let verb, let start, fields.faults.isEmpty else { return [] }
    let kind = kind(verb, milliseconds: milliseconds ?? 1_000, share: share ?? 1)
    return (0..<times).map {
      Self(
        atMilliseconds: Int((start + Double($0) * (every ?? 0)) * 1000), kind: kind,
        relay: relay.map { $0 - 1 })
    }
  }
}

extension Scenario.ChaosStep {
  /// Returns the lines of `do: fill_disk` in a scenario.
  static func linesOfFillings(_ root: YAMLNode) -> [(index: Int, line: Int)] {
    (root["chaos"]?.list ?? []).enumerated().compactMap { index, step in
      guard let verb = step["do"], verb.text == "fill_disk" else { return nil }
      return (index, verb.line)
    }
  }
}
