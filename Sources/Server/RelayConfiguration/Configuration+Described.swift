internal import YAML

extension Configuration {
  /// Returns the effective configuration as YAML with every key; loading it gives the same
  /// configuration.
  ///
  /// Bots from `botsFile` are shown as comments below its name.
  public func described() -> String {
    var yaml = ""
    var sections: [Substring] = []
    for key in ConfigurationKey.all {
      let own = Array(key.path.split(separator: ".").dropLast())
      let shared = zip(own, sections).prefix { $0 == $1 }.count
      for depth in shared..<max(shared, own.count) {
        yaml += String(repeating: "  ", count: depth) + "\(own[depth]):\n"
      }
      sections = own
      let indent = String(repeating: "  ", count: own.count)
      switch key.path {
      case "rooms.listed":
        yaml += Self.block(
          key.name,
          rooms.listed.map {
            ["room: \(YAMLText.written($0.room))", "title: \(YAMLText.written($0.title))"]
          },
          indent: indent)
      case "retention":
        yaml += Self.block(key.name, retention.map(\.described), indent: indent)
      case "auth.keys": yaml += Self.block(key.name, auth.keys.map(\.described), indent: indent)
      case "auth.not_before":
        let users = auth.notBefore.sorted { $0.key < $1.key }.map {
          "\(YAMLText.written($0.key)): \($0.value)"
        }
        yaml += "\(indent)\(key.name): {\(users.joined(separator: ", "))}\n"
      case "bots":
        yaml += Self.block(key.name, botsFile.isEmpty ? bots.map(\.described) : [], indent: indent)
      default:
        let name = key.path.split(separator: ".").last ?? ""
        yaml += "\(indent)\(name): \(key.shown(self))\n"
      }
    }
    if !botsFile.isEmpty {
      yaml += Self.block("bots", bots.map(\.described), indent: "# ")
    }
    return yaml
  }

  private static func block(_ name: String, _ elements: [[String]], indent: String) -> String {
    if elements.isEmpty { return "\(indent)\(name): []\n" }
    var yaml = "\(indent)\(name):\n"
    for lines in elements {
      for (index, line) in lines.enumerated() {
        yaml += "\(indent)  \(index == 0 ? "-" : " ") \(line)\n"
      }
    }
    return yaml
  }
}

extension Configuration.Bot {
  /// The bot as YAML, one line per key.
  fileprivate var described: [String] {
    func list(_ elements: [String]) -> String { "[\(elements.joined(separator: ", "))]" }
    func number(_ value: Double) -> String {
      value == value.rounded() ? String(Int(value)) : String(value)
    }
    let steps = script.map { step in
      switch step {
      case .say(let text): YAMLText.written(text)
      case .wait(let seconds): "{ wait_s: \(number(seconds)) }"
      }
    }
    let delays = [replyDelaySeconds.lowerBound, replyDelaySeconds.upperBound]
    var yaml = ["user: \(YAMLText.written(user))"]
    if let name { yaml.append("name: \(YAMLText.written(name))") }
    yaml += [
      "behaviour: \(list(behaviours.map(\.rawValue)))",
      "rooms: \(list(rooms.map(YAMLText.written)))",
      "interval_s: \(number(intervalSeconds))",
      "reply_delay_s: \(list(delays.map(number)))",
      "upload_delay_s: \(number(uploadDelaySeconds))",
      "typing: \(typing)",
      "lines: \(list(lines.map(YAMLText.written)))",
      "script: \(list(steps))",
      "command: \(list(command.map(YAMLText.written)))",
    ]
    if let seed { yaml.append("seed: \(seed)") }
    return yaml
  }
}
