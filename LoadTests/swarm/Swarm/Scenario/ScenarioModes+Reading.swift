internal import YAML

extension Scenario.Raw {
  init?(_ node: YAMLNode, _ faults: inout [YAMLDocument.Fault]) {
    var fields = YAMLFields(
      node, at: "raw",
      known: ["window", "rate", "release", "seconds", "warm_up_s", "processor", "dialect"])
    let window = fields.optional("window", "expected 1 to 100000 messages per room") {
      $0.integer(in: 1...100_000)
    }
    let rate = fields.optional("rate", "expected sends per second, more than 0") { node in
      node.number.flatMap { $0 > 0 && $0 <= Scenario.rateLimit ? $0 : nil }
    }
    if fields.has("window"), fields.has("rate") {
      fields.report("rate", "and window are both given", "remove one of them")
    } else if !fields.has("window"), !fields.has("rate") {
      fields.report(
        "window", "and rate are both missing",
        "expected window: N messages in flight per room, or rate: N sends per second")
    }
    let release = fields.optional("release", "expected delivery or ack") {
      $0.text.flatMap(RawLoad.Release.init)
    }
    if fields.has("release"), fields.has("rate") {
      fields.report("release", "has no meaning for a rate", "remove it")
    }
    let seconds = fields.optional("seconds", "expected a number, more than 0, at most 86400") {
      $0.number.flatMap { $0 > 0 && $0 <= 86_400 ? $0 : nil }
    }
    let warmUp = fields.optional("warm_up_s", "expected seconds, from 0 to 86400") {
      $0.number.flatMap { (0...86_400).contains($0) ? $0 : nil }
    }
    let processor = fields.optional("processor", "expected the number of a processor, from 0") {
      $0.integer(in: 0...1023)
    }
    let names = RawDialect.known.map(\.name)
    let dialect = fields.optional("dialect", "expected \(names.joined(separator: ", "))") { node in
      RawDialect.known.first { $0.name == node.text }
    }
    faults += fields.faults
    guard fields.faults.isEmpty else { return nil }
    self.dialect = dialect
    if let window {
      pace = .window(window)
    } else if let rate {
      pace = .rate(rate)
    } else {
      return nil
    }
    self.release = release ?? self.release
    self.seconds = seconds ?? self.seconds
    warmUpSeconds = warmUp ?? warmUpSeconds
    self.processor = processor
  }
}

/// The restrictions of a scenario with `mode: echo`.
extension Scenario {
  /// Enables the relay's echo.
  private static let echoConfiguration = "{debug: {echo: true}}"

  func refuseWhatEchoHasNot(_ fields: inout YAMLFields) {
    for key in ["rooms", "chaos"] where fields.has(key) {
      fields.report(key, "has no meaning for mode: echo", "remove it")
    }
  }

  mutating func completeEcho() {
    // Each connection is a room of its own.
    rooms = [RoomGroup(name: "echo", shape: .many, count: max(1, clientCount))]
    guard case .spawn(var spawn) = target, spawn.configuration.isEmpty else { return }
    spawn.configuration = Self.echoConfiguration
    target = .spawn(spawn)
  }

  func contradictionsOfEcho(of root: YAMLNode) -> [YAMLDocument.Fault] {
    guard case .mapping(let pairs) = root.content else { return [] }
    var faults: [YAMLDocument.Fault] = []
    for group in clients.indices {
      switch clients[group].persona {
      case .lurker, .chatter, .burst: continue
      default: break
      }
      let line = pairs.first { $0.key == "clients" }?.value.list?[group].line ?? root.line
      faults.append(
        .init(
          line: line, key: "clients[\(group)].persona", found: "has no meaning for mode: echo",
          expected: "expected lurker, chatter or burst"))
    }
    for threshold in thresholds where ![.connect, .deliver].contains(threshold.measure) {
      let pair = pairs.first { $0.key == "thresholds" }
      faults.append(
        .init(
          line: pair?.line ?? root.line, key: "thresholds.\(threshold.key)",
          found: "has no meaning for mode: echo",
          expected: "expected connect or deliver: an echo has no \(threshold.measure.rawValue)"))
    }
    return faults
  }
}
