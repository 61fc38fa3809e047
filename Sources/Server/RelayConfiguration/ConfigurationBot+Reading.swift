internal import YAML

extension Configuration.Bot {
  package static let keys = [
    "user", "name", "behaviour", "rooms", "interval_s", "reply_delay_s", "upload_delay_s",
    "typing", "lines", "script", "command", "seed",
  ]

  /// Reads one element of `bots`; `nil` if it has no valid name. Reports errors to `fields`, under
  /// the bot's name once that is known.
  init?(reading fields: inout YAMLFields) {
    let user = fields.required(
      "user", ConfigurationRules.expectedUser,
      { $0.text.flatMap { ConfigurationRules.isUser($0) ? $0 : nil } })
    fields.owner = user.map { "the bot \(YAMLText.quoted($0))" }

    var behaviours: [Configuration.Behaviour] = []
    let alternatives = ConfigurationRules.alternatives(of: Configuration.Behaviour.self)
    for behaviour in fields.list(
      "behaviour", "expected \(alternatives)", orOne: true,
      { $0.text.flatMap(Configuration.Behaviour.init(rawValue:)) })
    {
      if behaviours.contains(behaviour) {
        fields.report(
          "behaviour", "names \(behaviour.rawValue) twice", "list each behaviour once")
      } else {
        behaviours.append(behaviour)
      }
    }
    if !fields.has("behaviour"), user != nil {
      fields.report("behaviour", "is missing", "expected \(alternatives), or a list of them")
    }

    self.init(user: user ?? "", behaviours: behaviours)
    readManners(&fields)
    readContents(&fields)
    if user == nil { return nil }
  }

  private mutating func readManners(_ fields: inout YAMLFields) {
    name = fields.optional(
      "name", "expected \(ConfigurationRules.expectedTitle)",
      { $0.text.flatMap { ConfigurationRules.isTitle($0) ? $0 : nil } })
    for room in fields.list(
      "rooms", ConfigurationRules.expectedRoom,
      { $0.text.flatMap { ConfigurationRules.isRoom($0) ? $0 : nil } })
    where !rooms.contains(room) {
      rooms.append(room)
    }
    if let interval = fields.optional(
      "interval_s", "expected seconds from 0.1 to 86400", { $0.number(in: 0.1...86_400) })
    {
      intervalSeconds = interval
    }
    if let delay = fields.optional(
      "reply_delay_s",
      "expected the shortest and the longest delay, 0 to 3600 seconds, such as [1, 3]",
      { $0.delays(in: 0...3600) })
    {
      replyDelaySeconds = delay
    }
    if let delay = fields.optional(
      "upload_delay_s", "expected seconds from 0 to 3600", { $0.number(in: 0...3600) })
    {
      uploadDelaySeconds = delay
    }
    if let isTyping = fields.optional("typing", "expected true or false", { $0.boolean }) {
      typing = isTyping
    }
    seed = fields.optional(
      "seed", "expected a whole number from 0 to \(UInt64.max)", { $0.integer(as: UInt64.self) })
  }

  private mutating func readContents(_ fields: inout YAMLFields) {
    let sayable = "expected a text that is not blank and has no control characters"
    lines = fields.list(
      "lines", sayable, { $0.text.flatMap { ConfigurationRules.isSayable($0) ? $0 : nil } })
    script = fields.list(
      "script", "expected a text, or a wait such as { wait_s: 2 } (0 to 86400 seconds)",
      { Configuration.ScriptStep($0) })
    command = fields.list(
      "command", "expected a program and its arguments, such as [./bots/dice, --sides, \"6\"]",
      { $0.text.flatMap { $0.utf8.contains(0) ? nil : $0 } })

    for (behaviour, key, isGiven) in [
      (Configuration.Behaviour.every, "lines", !lines.isEmpty),
      (.script, "script", !script.isEmpty),
      (.exec, "command", command.first.map { !$0.isEmpty } ?? false),
    ] where behaviours.contains(behaviour) && !isGiven {
      fields.report(
        key, fields.has(key) ? "is empty" : "is missing",
        "the behaviour \(behaviour.rawValue) requires it")
    }
  }
}

extension Configuration.ScriptStep {
  fileprivate init?(_ node: YAMLNode) {
    if let text = node.text {
      guard ConfigurationRules.isSayable(text) else { return nil }
      self = .say(text)
      return
    }
    guard case .mapping(let pairs) = node.content, pairs.count == 1, pairs[0].key == "wait_s",
      let seconds = pairs[0].value.number(in: 0...86_400)
    else { return nil }
    self = .wait(seconds: seconds)
  }
}

extension YAMLNode {
  func number(in range: ClosedRange<Double>) -> Double? {
    number.flatMap { range.contains($0) ? $0 : nil }
  }

  fileprivate func delays(in range: ClosedRange<Double>) -> ClosedRange<Double>? {
    guard let list, list.count == 2, let shortest = list[0].number(in: range),
      let longest = list[1].number(in: range), shortest <= longest
    else { return nil }
    return shortest...longest
  }
}
