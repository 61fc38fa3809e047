internal import Relay
internal import YAML

/// Builds a configuration from its sources, in ascending precedence, and collects all errors.
struct ConfigurationReader {
  typealias Place = ConfigurationError.Place

  private(set) var configuration = Configuration()
  private(set) var problems: [ConfigurationError.Problem] = []
  /// The source that last set each key, for rules over several keys.
  private var places: [String: Place] = [:]
  /// The place of each element of `configuration.bots`.
  private var botPlaces: [Place] = []

  // MARK: Sources

  mutating func readFile(_ file: String) {
    guard let root = parse(file) else { return }
    guard case .mapping(let pairs) = root.content else {
      report(.file(file, line: root.line), "", "is \(root.shown)", "expected keys and values")
      return
    }
    let sections = Set(ConfigurationKey.all.compactMap(\.section))
    for pair in pairs {
      if sections.contains(pair.key) {
        readSection(pair, in: file)
      } else {
        readKey(pair.key, pair, in: file)
      }
    }
  }

  mutating func readEnvironment(_ environment: [String: String]) {
    let names = environment.keys.filter { $0.hasPrefix("RELAY_") }.sorted()
    let known = Dictionary(uniqueKeysWithValues: ConfigurationKey.all.map { ($0.variable, $0) })
    for name in names {
      let value = environment[name, default: ""]
      guard let key = known[name] else {
        let settable = known.values.filter { $0.shape != .objects }.map(\.variable)
        reportUnknown(
          .environment, name, "is not a known variable",
          nearest: Spelling.nearest(to: name, among: settable))
        continue
      }
      switch key.shape {
      case .scalar: set(key, to: .text(value), at: .environment, as: name)
      case .list: set(key, to: .list(separatedByCommas: value), at: .environment, as: name)
      case .objects:
        report(
          .environment, name, "cannot be set in the environment",
          "set \(key.path) in a file\(key.path == "bots" ? ", or RELAY_BOTS_FILE" : "")")
      }
    }
  }

  mutating func readCommandLine(_ overrides: Configuration.Overrides) {
    for (path, value) in [("listen", overrides.listen), ("data", overrides.data)] {
      guard let value, let key = ConfigurationKey.all.first(where: { $0.path == path })
      else { continue }
      set(key, to: .text(value), at: .commandLine, as: "--\(path)")
    }
    if overrides.noWeb { configuration.web = false }
  }

  /// Called after all sources, since any of them may have named the file.
  mutating func readBotsFile() {
    let file = configuration.botsFile
    guard !file.isEmpty else { return }
    guard configuration.bots.isEmpty else {
      report(
        places["bots_file", default: .defaults], "bots_file", "and bots are both set",
        "remove one of them")
      return
    }
    guard let root = parse(file) else { return }
    readBots(root, at: "bots", in: file)
  }

  // MARK: Keys

  private mutating func readSection(_ section: YAMLNode.Pair, in file: String) {
    guard case .mapping(let pairs) = section.value.content else {
      if !section.value.isNull {
        report(
          .file(file, line: section.line), section.key, "is \(section.value.shown)",
          "expected keys and values")
      }
      return
    }
    for pair in pairs {
      let path = "\(section.key).\(pair.key)"
      if ConfigurationKey.all.contains(where: { $0.path.hasPrefix("\(path).") }) {
        // A section in the section, such as auth.github.
        readSection(YAMLNode.Pair(key: path, line: pair.line, value: pair.value), in: file)
      } else {
        readKey(path, pair, in: file)
      }
    }
  }

  private mutating func readKey(_ path: String, _ pair: YAMLNode.Pair, in file: String) {
    let place = Place.file(file, line: pair.line)
    guard let key = ConfigurationKey.all.first(where: { $0.path == path }) else {
      reportUnknown(place, path, "is not a known key", nearest: nearestKey(to: path))
      return
    }
    switch path {
    case "rooms.listed": readListedRooms(pair.value, at: path, in: file)
    case "retention": readRetention(pair.value, at: path, in: file)
    case "auth.keys": readTokenKeys(pair.value, at: path, in: file)
    case "auth.not_before": readNotBefore(pair.value, at: path, in: file)
    case "bots": readBots(pair.value, at: path, in: file)
    default: set(key, to: pair.value, at: place, as: path)
    }
    places[path] = place
  }

  private mutating func set(
    _ key: ConfigurationKey, to value: YAMLNode, at place: Place, as name: String
  ) {
    if key.set(value, &configuration) {
      places[key.path] = place
      return
    }
    var isReported = false
    if let element = key.element {
      for (index, node) in (value.list ?? []).enumerated() where !element.isValid(node) {
        isReported = true
        var own = place
        if case .file(let file, _) = place { own = .file(file, line: node.line) }
        report(own, "\(name)[\(index)]", "is \(node.shown)", "expected \(element.expected)")
      }
    }
    if isReported { return }
    let isEmptyList = key.element != nil && value.list == []
    let found =
      key.isSecret ? "is invalid" : isEmptyList ? "is an empty list" : "is \(value.shown)"
    report(place, name, found, "expected \(key.expected)")
  }

  /// Returns the most similar key of the same section, or the same key of another section.
  private func nearestKey(to path: String) -> String? {
    let unknown = ConfigurationKey(path: path, expected: "")
    let keys = ConfigurationKey.all
    let siblings = keys.filter { $0.section == unknown.section }.map(\.name)
    let sections = unknown.section == nil ? Set(keys.compactMap(\.section)) : []
    let sibling = Spelling.nearest(
      to: unknown.name, among: siblings + sections.sorted())
    if let sibling {
      return unknown.section.map { "\($0).\(sibling)" } ?? sibling
    }
    return keys.first { $0.name == unknown.name }?.path
  }

  // MARK: Lists of objects

  private mutating func readListedRooms(_ node: YAMLNode, at path: String, in file: String) {
    guard let elements = elements(of: node, at: path, in: file, expected: "a list of rooms")
    else { return }
    configuration.rooms.listed = []
    for (index, element) in elements.enumerated() {
      var fields = YAMLFields(
        element, at: "\(path)[\(index)]", known: ["room", "title"])
      let room = fields.required(
        "room", ConfigurationRules.expectedRoom,
        { $0.text.flatMap { ConfigurationRules.isRoom($0) ? $0 : nil } })
      let title = fields.optional(
        "title", "expected \(ConfigurationRules.expectedTitle)",
        { $0.text.flatMap { ConfigurationRules.isTitle($0) ? $0 : nil } })
      if let room, configuration.rooms.listed.contains(where: { $0.room == room }) {
        fields.report(
          "room", "is \(YAMLText.quoted(room)), which is already listed", "list each room once")
      }
      report(fields.faults, in: file)
      guard let room else { continue }
      configuration.rooms.listed.append(
        Configuration.ListedRoom(room: room, title: title ?? room))
    }
  }

  private mutating func readRetention(_ node: YAMLNode, at path: String, in file: String) {
    guard let elements = elements(of: node, at: path, in: file, expected: "a list of rules")
    else { return }
    configuration.retention = []
    for (index, element) in elements.enumerated() {
      var fields = YAMLFields(element, at: "\(path)[\(index)]", known: Retention.Rule.keys)
      let rule = Retention.Rule(reading: &fields)
      report(fields.faults, in: file)
      if let rule { configuration.retention.append(rule) }
    }
  }

  /// No message has a value: one may be a secret in the wrong place.
  private mutating func readTokenKeys(_ node: YAMLNode, at path: String, in file: String) {
    guard node.isNull || node.list != nil else {
      report(.file(file, line: node.line), path, "is not a list", "expected a list of keys")
      return
    }
    configuration.auth.keys = []
    for (index, element) in (node.list ?? []).enumerated() {
      let path = "\(path)[\(index)]"
      guard case .mapping = element.content else {
        report(
          .file(file, line: element.line), path, "is not a mapping",
          "expected kid, and secret or public_key")
        continue
      }
      var fields = YAMLFields(element, at: path, known: Configuration.TokenKey.keys)
      let key = Configuration.TokenKey(reading: &fields, others: configuration.auth.keys)
      report(fields.faults, in: file)
      if let key { configuration.auth.keys.append(key) }
    }
  }

  private mutating func readNotBefore(_ node: YAMLNode, at path: String, in file: String) {
    configuration.auth.notBefore = [:]
    if node.isNull { return }
    guard case .mapping(let pairs) = node.content else {
      report(
        .file(file, line: node.line), path, "is \(node.shown)",
        "expected users and seconds since 1970")
      return
    }
    for pair in pairs {
      let place = Place.file(file, line: pair.line)
      guard ConfigurationRules.isUser(pair.key) else {
        report(
          place, path, "names \(YAMLText.quoted(pair.key))", ConfigurationRules.expectedUser)
        continue
      }
      // Beyond, they would not fit as milliseconds.
      guard let time = pair.value.integer(as: Int64.self), (0...9_007_199_254_740).contains(time)
      else {
        report(
          place, "\(path).\(pair.key)", "is \(pair.value.shown)",
          "expected seconds since 1970, such as those of \"date +%s\"")
        continue
      }
      configuration.auth.notBefore[pair.key] = time
    }
  }

  private mutating func readBots(_ node: YAMLNode, at path: String, in file: String) {
    guard let elements = elements(of: node, at: path, in: file, expected: "a list of bots")
    else { return }
    for (index, element) in elements.enumerated() {
      var fields = YAMLFields(
        element, at: "\(path)[\(index)]", known: Configuration.Bot.keys)
      let bot = Configuration.Bot(reading: &fields)
      if let bot, configuration.bots.contains(where: { $0.user == bot.user }) {
        fields.report(
          "user", "is \(YAMLText.quoted(bot.user)), which another bot has",
          "use a different name for each bot")
      }
      report(fields.faults, in: file)
      if let bot {
        configuration.bots.append(bot)
        botPlaces.append(.file(file, line: element.line))
      }
    }
  }

  private mutating func elements(
    of node: YAMLNode, at path: String, in file: String, expected: String
  ) -> [YAMLNode]? {
    if node.isNull { return [] }
    guard let list = node.list else {
      report(.file(file, line: node.line), path, "is \(node.shown)", "expected \(expected)")
      return nil
    }
    return list
  }

  // MARK: Problems

  /// See `Configuration.adoptOrganization`.
  mutating func adoptOrganization() { configuration.adoptOrganization() }

  /// Checks the complete configuration for contradictions between keys.
  mutating func checkWhole() {
    for finding in configuration.contradictions() {
      let place = finding.bot.map { botPlaces[$0] } ?? places[finding.key, default: .defaults]
      report(place, finding.key, finding.found, finding.expected)
    }
  }

  private mutating func parse(_ file: String) -> YAMLNode? {
    do throws(ConfigurationFile.Failure) {
      let document = YAMLDocument(try ConfigurationFile.read(file))
      report(document.faults, in: file)
      return document.root.flatMap { $0.isNull ? nil : $0 }
    } catch {
      report(.file(file, line: nil), "", error.found, error.expected)
      return nil
    }
  }

  private mutating func report(_ faults: [YAMLDocument.Fault], in file: String) {
    for fault in faults {
      report(.file(file, line: fault.line), fault.key, fault.found, fault.expected)
    }
  }

  private mutating func reportUnknown(
    _ place: Place, _ key: String, _ found: String, nearest: String?
  ) {
    report(
      place, key, found,
      nearest.map { "did you mean \($0)?" } ?? "see config/relay.yaml for all keys")
  }

  private mutating func report(
    _ place: Place, _ key: String, _ found: String, _ expected: String
  ) {
    problems.append(.init(place: place, key: key, found: found, expected: expected))
  }
}

extension YAMLNode {
  /// A value that does not come from a file.
  fileprivate static func text(_ text: String) -> YAMLNode {
    YAMLNode(line: 0, content: .scalar(text, isPlain: true))
  }

  fileprivate static func list(separatedByCommas text: String) -> YAMLNode {
    let elements = text.split(separator: ",").map { element in
      let trimmed = element.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()
      return YAMLNode.text(String(trimmed))
    }
    return YAMLNode(line: 0, content: .list(elements))
  }
}
