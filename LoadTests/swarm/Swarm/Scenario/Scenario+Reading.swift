internal import YAML

extension Scenario {
  static let keys = [
    "name", "spawn", "url", "seed", "rooms", "clients", "phases", "text_bytes", "chaos",
    "thresholds", "patience_ms", "source_addresses", "mode", "raw", "find",
  ]

  /// More than the descriptors that a process can have.
  static let clientLimit = 100_000
  /// A day: a longer run is a mistake in a unit.
  static let durationLimitMilliseconds = 86_400_000
  static let rateLimit = 1_000_000.0

  /// Parses a scenario.
  ///
  /// - Parameter file: The file's name, for errors; without folder and extension it is the
  ///   scenario's default name.
  public init(yaml bytes: [UInt8], file: String) throws(ScenarioError) {
    let document = YAMLDocument(bytes)
    guard let root = document.root, document.faults.isEmpty else {
      let empty = YAMLDocument.Fault(
        line: 1, found: "the file is empty", expected: "expected a scenario")
      throw ScenarioError(
        file: file, faults: document.faults.isEmpty ? [empty] : document.faults)
    }
    let base = file.split(separator: "/").last.map(String.init) ?? file
    name = base.hasSuffix(".yaml") ? String(base.dropLast(5)) : base
    var faults = read(root)
    if faults.isEmpty { faults = contradictions(of: root) }
    if !faults.isEmpty { throw ScenarioError(file: file, faults: faults) }
  }

  private mutating func read(_ root: YAMLNode) -> [YAMLDocument.Fault] {
    var fields = YAMLFields(root, at: "", known: Self.keys)
    if let text = fields.optional("name", "expected a name", \.text) { name = text }
    if let mode = fields.optional(
      "mode", "expected relay or echo", { $0.text.flatMap(Mode.init) })
    {
      self.mode = mode
    }
    if fields.has("spawn"), fields.has("url") {
      fields.report("url", "and spawn are both given", "remove one of them")
    }
    if let url = fields.optional("url", "expected ws://HOST:PORT/ws", \.text) {
      target = .url(url)
    }
    if let seed = fields.optional(
      "seed", "expected a whole number from 0", { $0.integer(as: UInt64.self) })
    {
      self.seed = seed
    }
    sourceAddresses = SourceAddresses.read(&fields)
    if let milliseconds = fields.optional(
      "patience_ms", "expected a whole number from 1",
      { $0.integer(in: 1...Self.durationLimitMilliseconds) })
    {
      patienceMilliseconds = milliseconds
    }
    if let range = fields.optional(
      "text_bytes", "expected two whole numbers from 48 to 8192, the smaller one first",
      { $0.range(in: 48...8192) })
    {
      textBytes = range
    }
    var nodes: [String: YAMLNode] = [:]
    for key in ["spawn", "thresholds", "raw", "find"] {
      nodes[key] = fields.optional(key, "") { $0 }
    }
    var lists: [String: [YAMLNode]] = [:]
    if mode == .echo { refuseWhatEchoHasNot(&fields) }
    for key in mode == .echo ? ["clients", "phases"] : ["rooms", "clients", "phases"] {
      lists[key] = fields.required(key, "expected a non-empty list") {
        $0.list?.isEmpty == false ? $0.list : nil
      }
    }
    if mode == .relay { lists["chaos"] = fields.optional("chaos", "expected a list", \.list) }
    var faults = fields.faults
    if let node = nodes["spawn"], !node.isNull { readSpawn(node, &faults) }
    for (index, node) in (lists["rooms"] ?? []).enumerated() {
      if let group = RoomGroup(node, at: "rooms[\(index)]", &faults) { rooms.append(group) }
    }
    for (index, node) in (lists["clients"] ?? []).enumerated() {
      if let group = ClientGroup(node, at: "clients[\(index)]", &faults) { clients.append(group) }
    }
    for (index, node) in (lists["phases"] ?? []).enumerated() {
      if let phase = Phase(node, at: "phases[\(index)]", &faults) { phases.append(phase) }
    }
    for (index, node) in (lists["chaos"] ?? []).enumerated() {
      chaos += ChaosStep.steps(node, at: "chaos[\(index)]", &faults)
    }
    chaos.sort { $0.atMilliseconds < $1.atMilliseconds }
    if let node = nodes["thresholds"], !node.isNull { readThresholds(node, &faults) }
    if let node = nodes["raw"], !node.isNull { raw = Raw(node, &faults) }
    if let node = nodes["find"], !node.isNull { find = Self.find(node, &faults) }
    if mode == .echo { completeEcho() }
    return faults
  }

  private mutating func readSpawn(_ node: YAMLNode, _ faults: inout [YAMLDocument.Fault]) {
    var fields = YAMLFields(
      node, at: "spawn",
      known: [
        "binary", "relays", "postgresql", "clock_offsets_s", "config", "disk_bytes", "tls",
      ])
    var spawn = Spawn()
    spawn.binary = fields.optional("binary", "expected the path of a relay", \.text)
    spawn.readCluster(&fields)
    spawn.usesTLS = fields.optional("tls", "expected true or false", \.boolean) ?? false
    let sizes = SmallDisk.leastBytes...SmallDisk.mostBytes
    spawn.diskBytes = fields.optional(
      "disk_bytes", "expected \(sizes.lowerBound) to \(sizes.upperBound) bytes"
    ) { $0.integer(in: sizes) }
    if let tree = fields.optional("config", "", { $0 }), !tree.isNull {
      if case .mapping(let pairs) = tree.content {
        for pair in pairs where ["listen", "data"].contains(pair.key) {
          faults.append(
            .init(
              line: pair.line, key: "spawn.config.\(pair.key)", found: "is set",
              expected: "remove it: swarm chooses a free port and a new folder"))
        }
        spawn.configuration = tree.flow
      } else {
        fields.report("config", "is \(tree.shown)", "expected keys of the relay's configuration")
      }
    }
    faults += fields.faults
    target = .spawn(spawn)
  }

  private mutating func readThresholds(_ node: YAMLNode, _ faults: inout [YAMLDocument.Fault]) {
    let known = Measure.allCases.flatMap { measure in
      Percentile.allCases.map {
        Threshold(measure: measure, percentile: $0, limitMilliseconds: 0)
      }
    }
    var fields = YAMLFields(node, at: "thresholds", known: known.map(\.key))
    for var threshold in known {
      let limit = fields.optional(threshold.key, "expected milliseconds, more than 0") { node in
        node.number.flatMap { $0 > 0 ? $0 : nil }
      }
      guard let limit else { continue }
      threshold.limitMilliseconds = limit
      thresholds.append(threshold)
    }
    faults += fields.faults
  }

  /// Checks combinations of keys.
  private func contradictions(of root: YAMLNode) -> [YAMLDocument.Fault] {
    var faults: [YAMLDocument.Fault] = []
    func report(_ key: String, _ found: String, _ expected: String) {
      guard case .mapping(let pairs) = root.content else { return }
      let line = pairs.first { $0.key == key }?.line ?? root.line
      faults.append(.init(line: line, key: key, found: found, expected: expected))
    }
    if mode == .echo { faults += contradictionsOfEcho(of: root) }
    if clientCount > Self.clientLimit {
      report("clients", "are \(clientCount)", "expected at most \(Self.clientLimit) in all")
    }
    if honestCount == 0 {
      report("clients", "are all hostile", "add a lurker or a chatter, which must not be affected")
    } else if honestCount < 2, rooms.contains(where: { $0.shape == .dms }) {
      report("clients", "are only one", "direct messages require two")
    }
    let speaks = clients.contains { $0.persona.speaks }
    if !speaks, phases.contains(where: { $0.messages != .none }) {
      report("clients", "are silent, but phases have messages", "add a chatter")
    }
    if phases.allSatisfy({ $0.connections == .none }) {
      report("phases", "open no connection", "give one of them connections: { constant: 50 }")
    }
    if case .url = target, needsOwnRelay {
      report(
        "chaos", "requires a relay started by swarm",
        "use spawn instead of url, or only cut steps")
    }
    let end = phases.reduce(0) { $0 + $1.milliseconds }
    if let last = chaos.last, last.atMilliseconds > end {
      report(
        "chaos", "continues until \(Decimal.text(Double(last.atMilliseconds) / 1000)) s",
        "expected no step after the last phase, which ends at \(Decimal.text(Double(end) / 1000)) s"
      )
    }
    faults += contradictionsOfCluster(of: root)
    if case .spawn(let spawn) = target, spawn.diskBytes == nil {
      for (index, line) in ChaosStep.linesOfFillings(root) {
        faults.append(
          .init(
            line: line, key: "chaos[\(index)].do",
            found: "is fill_disk, but the relay has no disk of its own",
            expected: "give spawn the size of a disk, such as disk_bytes: 67108864"))
      }
    }
    var names = Set<String>()
    for group in rooms where !names.insert(group.name).inserted {
      report("rooms", "have the name \(group.name) twice", "use a different name for each group")
    }
    return faults
  }
}
