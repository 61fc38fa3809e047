internal import YAML

extension Scenario.RoomGroup {
  init?(_ node: YAMLNode, at path: String, _ faults: inout [YAMLDocument.Fault]) {
    var fields = YAMLFields(
      node, at: path, known: ["name", "shape", "count", "per_client", "exponent"])
    let shape = fields.required("shape", "expected one, many, zipf or dms") {
      $0.text.flatMap(Shape.init)
    }
    let name = fields.optional("name", "expected 1 to 40 of a-z 0-9 -") { node in
      node.text.flatMap { text in
        (1...40).contains(text.utf8.count)
          && text.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 45 }
          ? text : nil
      }
    }
    let limit = 1...100_000
    let count = fields.optional("count", "expected 1 to 100000") { $0.integer(in: limit) }
    let perClient = fields.optional("per_client", "expected 1 to 250") { $0.integer(in: 1...250) }
    let exponent = fields.optional("exponent", "expected 0.1 to 4") { node in
      node.number.flatMap { (0.1...4).contains($0) ? $0 : nil }
    }
    if let count, let perClient, perClient > count, shape != .dms {
      fields.report("per_client", "is more than count", "expected at most \(count)")
    }
    for (key, uses) in [
      ("count", [Shape.many, .zipf]), ("per_client", [.many, .zipf, .dms]), ("exponent", [.zipf]),
    ] {
      if let shape, fields.has(key), !uses.contains(shape) {
        fields.report(key, "has no meaning for shape: \(shape.rawValue)", "remove it")
      }
    }
    faults += fields.faults
    guard let shape, fields.faults.isEmpty else { return nil }
    self.init(
      name: name ?? shape.rawValue, shape: shape, count: count ?? 1, perClient: perClient ?? 1,
      exponent: exponent ?? 1)
  }
}

extension Scenario.ClientGroup {
  /// The keys of a persona other than `persona` and `count`, with their defaults.
  private static let details: [String: [(key: String, usual: Int)]] = [
    "lurker": [], "chatter": [],
    "burst": [("size", 10)],
    "slow_reader": [("bytes_per_s", 16_384)],
    "flapper": [("online_ms", 3_000), ("offline_ms", 500)],
    "mobile": [("awake_ms", 4_000), ("asleep_ms", 3_000)],
    "hostile": [("every_ms", 1_000)],
  ]

  /// The minimum interval of acts. One act takes a connection, a handshake and up to 256 KiB.
  private static let hostileMilliseconds = 100

  init?(_ node: YAMLNode, at path: String, _ faults: inout [YAMLDocument.Fault]) {
    let all = Self.details.values.flatMap { $0.map(\.key) }.sorted()
    var fields = YAMLFields(node, at: path, known: ["persona", "count"] + all)
    let names = "expected lurker, chatter, burst, slow_reader, flapper, mobile or hostile"
    let persona = fields.required("persona", names) { node in
      node.text.flatMap { Self.details[$0] == nil ? nil : $0 }
    }
    let count = fields.required("count", "expected 1 to \(Scenario.clientLimit)") {
      $0.integer(in: 1...Scenario.clientLimit)
    }
    let details = persona.flatMap { Self.details[$0] } ?? []
    for key in all where persona != nil && fields.has(key) {
      if !details.contains(where: { $0.key == key }) {
        fields.report(key, "has no meaning for persona: \(persona ?? "")", "remove it")
      }
    }
    var values: [Int] = []
    for detail in details {
      let value = fields.optional(detail.key, "expected a whole number from 1") {
        $0.integer(in: 1...Scenario.durationLimitMilliseconds)
      }
      values.append(value ?? detail.usual)
    }
    if persona == "hostile", values[0] < Self.hostileMilliseconds {
      fields.report(
        "every_ms", "is \(values[0])",
        "expected at least \(Self.hostileMilliseconds); for a higher rate add clients")
    }
    faults += fields.faults
    guard let persona, let count, fields.faults.isEmpty else { return nil }
    self.count = count
    self.persona =
      switch persona {
      case "burst": .burst(size: values[0])
      case "slow_reader": .slowReader(bytesPerSecond: values[0])
      case "flapper": .flapper(onlineMilliseconds: values[0], offlineMilliseconds: values[1])
      case "mobile": .mobile(awakeMilliseconds: values[0], asleepMilliseconds: values[1])
      case "hostile": .hostile(everyMilliseconds: values[0])
      case "lurker": .lurker
      default: .chatter
      }
  }
}

extension Scenario.Phase {
  init?(_ node: YAMLNode, at path: String, _ faults: inout [YAMLDocument.Fault]) {
    var fields = YAMLFields(
      node, at: path, known: ["name", "seconds", "connections", "messages"])
    let name = fields.optional("name", "expected a name", \.text)
    let seconds = fields.required("seconds", "expected a number, more than 0, at most 86400") {
      $0.number.flatMap { $0 > 0 && $0 <= 86_400 ? $0 : nil }
    }
    var wrong: [YAMLDocument.Fault] = []
    let connections = fields.optional("connections", "") {
      Scenario.Arrivals($0, at: "\(path).connections", &wrong)
    }
    let messages = fields.optional("messages", "") {
      Scenario.Arrivals($0, at: "\(path).messages", &wrong)
    }
    faults += fields.faults + wrong
    guard let seconds, fields.faults.isEmpty, wrong.isEmpty else { return nil }
    self.init(
      name: name ?? String(path.drop { !$0.isNumber }.prefix { $0.isNumber }),
      milliseconds: Int(seconds * 1000), connections: connections ?? .none,
      messages: messages ?? .none)
  }
}

extension Scenario.Arrivals {
  /// Errors are reported with the number that they concern; the value is then `none`.
  init(_ node: YAMLNode, at path: String, _ faults: inout [YAMLDocument.Fault]) {
    self = .none
    let shapes = "expected one of constant: R, poisson: R, ramp: [FROM, TO], spike: [BASE, PEAK]"
    let known = ["constant", "poisson", "ramp", "spike"]
    var fields = YAMLFields(node, at: path, known: known)
    let limit = "numbers from 0 to \(Int(Scenario.rateLimit)), per second"
    func rate(_ node: YAMLNode) -> Double? {
      node.number.flatMap { (0...Scenario.rateLimit).contains($0) ? $0 : nil }
    }
    func two(_ node: YAMLNode) -> (Double, Double)? {
      guard let list = node.list, list.count == 2, let from = rate(list[0]), let to = rate(list[1])
      else { return nil }
      return (from, to)
    }
    if let rate = fields.optional("constant", "expected one of the \(limit)", rate) {
      self = .constant(rate)
    }
    if let rate = fields.optional("poisson", "expected one of the \(limit)", rate) {
      self = .poisson(rate)
    }
    if let (from, to) = fields.optional("ramp", "expected two \(limit)", two) {
      self = .ramp(from: from, to: to)
    }
    if let (base, peak) = fields.optional("spike", "expected two \(limit)", two) {
      self = .spike(base: base, peak: peak)
    }
    faults += fields.faults
    if fields.faults.isEmpty, known.count(where: fields.has) != 1 {
      faults.append(.init(line: node.line, key: path, found: "is not one rate", expected: shapes))
    }
  }
}

extension YAMLNode {
  /// Returns the value of a key of a mapping.
  subscript(key: String) -> YAMLNode? {
    guard case .mapping(let pairs) = content else { return nil }
    return pairs.first { $0.key == key }?.value
  }

  func integer(in range: ClosedRange<Int>) -> Int? {
    integer(as: Int.self).flatMap { range.contains($0) ? $0 : nil }
  }

  /// Parses two numbers, or a single one that is used for both.
  func range(in limits: ClosedRange<Int>) -> ClosedRange<Int>? {
    if let one = integer(in: limits) { return one...one }
    guard let two = list?.compactMap({ $0.integer(in: limits) }), two.count == 2,
      list?.count == 2, two[0] <= two[1]
    else { return nil }
    return two[0]...two[1]
  }

  /// The node on one line, as equivalent YAML.
  var flow: String {
    switch content {
    case .scalar(let text, isPlain: true): text
    case .scalar(let text, isPlain: false): YAMLText.quoted(text)
    case .list(let elements): "[\(elements.map(\.flow).joined(separator: ", "))]"
    case .mapping(let pairs):
      "{\(pairs.map { "\(YAMLText.quoted($0.key)): \($0.value.flow)" }.joined(separator: ", "))}"
    }
  }
}
