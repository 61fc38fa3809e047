internal import Client
internal import Terminal
internal import Wire
internal import YAML

/// Builds settings from a file and collects all of its errors.
struct SettingsReader {
  /// The file's keys, in the order of the example file.
  static let keys = [
    "url", "user", "token_command", "ca", "profiles", "theme", "messages", "clock", "list",
    "sidebar", "pictures", "links", "mouse", "color", "history_entries", "highlight", "notify",
    "away_after_s", "bell", "sounds", "keymap", "keys",
  ]

  private(set) var settings: Settings
  private(set) var problems: [SettingsError.Problem] = []
  /// The path of the keys that are being read, with a full stop; empty at the top level.
  private var path = ""

  init(settings: Settings = Settings()) { self.settings = settings }

  mutating func read(_ document: YAMLDocument) {
    for fault in document.faults {
      report(fault.line, fault.key, "\(fault.found); \(fault.expected)")
    }
    guard let root = document.root, !root.isNull else { return }
    let pairs = Self.ordered(pairs(of: root, ""))
    for pair in pairs {
      guard Self.keys.contains(pair.key) else {
        reportUnknown(pair, "", "key", known: Self.keys)
        continue
      }
      if pair.key != "profiles" { read(pair) }
    }
    // Last, since they inherit what is after them in the file, too.
    for pair in pairs where pair.key == "profiles" { readProfiles(pair) }
  }

  /// Single keys change the keymap, wherever it is named.
  private static func ordered(_ pairs: [YAMLNode.Pair]) -> [YAMLNode.Pair] {
    pairs.filter { $0.key == "keymap" } + pairs.filter { $0.key != "keymap" }
  }

  private mutating func readProfiles(_ pair: YAMLNode.Pair) {
    if pair.value.isNull { return }
    let profiles = pairs(of: pair.value, "profiles")
    guard profiles.count <= Settings.Profile.limit else {
      return report(
        pair, "has \(profiles.count) profiles; at most \(Settings.Profile.limit) are allowed")
    }
    var common = settings
    defer { (settings, path) = (common, "") }
    var found: [Settings.Profile] = []
    for profile in profiles {
      path = ""
      guard Settings.Profile.isName(profile.key) else {
        report(
          profile.line, "profiles.\(profile.key)",
          "is not a valid name: use 1 to \(Settings.Profile.nameLimitBytes) of a-z A-Z 0-9 . _ -")
        continue
      }
      path = "profiles.\(profile.key)."
      settings = common
      readProfile(profile)
      found.append(.init(name: profile.key, settings: settings))
    }
    common.profiles = found
  }

  private mutating func readProfile(_ profile: YAMLNode.Pair) {
    if profile.value.isNull { return }
    let known = Self.keys.filter { $0 != "profiles" }
    let pairs = Self.ordered(pairs(of: profile.value, ""))
    let keys = Set(pairs.map(\.key))
    // A token is a user's at one relay: it must not be sent to another relay, and would be stronger
    // than another user's name.
    if keys.contains("url") || keys.contains("user") { settings.tokenCommand = nil }
    settings.isProfilesURL = keys.contains("url")
    for pair in pairs {
      guard known.contains(pair.key) else {
        reportUnknown(pair, "", "key of a profile", known: known)
        continue
      }
      read(pair)
    }
  }

  private mutating func read(_ pair: YAMLNode.Pair) {
    switch pair.key {
    case "url": readURL(pair)
    case "user": readUser(pair)
    case "token_command": settings.tokenCommand = text(pair)
    case "ca": settings.ca = text(pair)
    case "theme": choose(pair, \.theme)
    case "messages": choose(pair, \.messages)
    case "clock": choose(pair, \.clock)
    case "list": choose(pair, \.list)
    case "sidebar": decide(pair, \.hasSidebar)
    case "pictures": choose(pair, \.pictures)
    case "links": choose(pair, \.links)
    case "mouse": decide(pair, \.usesMouse)
    case "color": choose(pair, \.color)
    case "history_entries":
      if let count = pair.value.integer(as: Int.self), count >= 0 {
        settings.historyEntries = count
      } else {
        report(pair, "\(pair.value.shown) is not a whole number from 0; 0 keeps all")
      }
    case "highlight": readHighlight(pair)
    case "notify": readNotification(pair)
    case "away_after_s":
      if let seconds = pair.value.integer(as: Int.self), (0...86_400).contains(seconds) {
        settings.awayAfterSeconds = seconds
      } else {
        report(pair, "\(pair.value.shown) is not a whole number from 0 to 86400; 0 means never")
      }
    case "bell": decide(pair, \.bell)
    case "sounds": readSounds(pair)
    case "keymap": choose(pair, \.keymapName)
    default: readKeys(pair)
    }
  }

  // MARK: Values

  /// Returns `nil` if the value is missing or empty.
  private mutating func text(_ pair: YAMLNode.Pair, in path: String = "") -> String? {
    if pair.value.isNull { return nil }
    guard let text = pair.value.text, !text.utf8.contains(0) else {
      report(pair.line, path + pair.key, "\(pair.value.shown) is not a string")
      return nil
    }
    return text.isEmpty ? nil : text
  }

  private mutating func choose<Choice: RawRepresentable<String> & CaseIterable>(
    _ pair: YAMLNode.Pair, _ path: WritableKeyPath<Settings, Choice>
  ) {
    if let chosen = pair.value.text.flatMap(Choice.init(rawValue:)) {
      settings[keyPath: path] = chosen
    } else {
      let possible = Choice.allCases.map(\.rawValue).joined(separator: ", ")
      report(pair, "\(pair.value.shown) is not one of \(possible)")
    }
  }

  private mutating func decide(_ pair: YAMLNode.Pair, _ path: WritableKeyPath<Settings, Bool>) {
    if let decided = pair.value.boolean {
      settings[keyPath: path] = decided
    } else {
      report(pair, "\(pair.value.shown) is not true or false")
    }
  }

  private mutating func readURL(_ pair: YAMLNode.Pair) {
    settings.url = nil
    guard let url = text(pair) else { return }
    do throws(RelayURL.Invalid) {
      _ = try RelayURL(url)
      settings.url = url
    } catch {
      report(pair, "\(error)")
    }
  }

  private mutating func readUser(_ pair: YAMLNode.Pair) {
    settings.user = nil
    guard let user = text(pair) else { return }
    if UserName.isValid(user) {
      settings.user = user
    } else {
      report(
        pair,
        "\(pair.value.shown) is not a valid user name: use 1 to 64 of a-z 0-9 . _ -, not . or ..")
    }
  }

  private mutating func readNotification(_ pair: YAMLNode.Pair) {
    let words: [String: Settings.Notify] = [
      "auto": .auto, "osc9": .osc9, "osc99": .osc99, "osc777": .osc777, "off": .off,
    ]
    if case .mapping = pair.value.content {
      for inner in pairs(of: pair.value, "notify") {
        guard inner.key == "command" else {
          reportUnknown(inner, "notify.", "key", known: ["command"])
          continue
        }
        if let command = text(inner, in: "notify.") { settings.notify = .command(command) }
      }
    } else if let known = pair.value.text.flatMap({ words[$0] }) {
      settings.notify = known
    } else {
      report(
        pair,
        "\(pair.value.shown) is not one of auto, osc9, osc99, osc777, off, "
          + "or a command such as { command: \"notify-send …\" }")
    }
  }

  private mutating func readHighlight(_ pair: YAMLNode.Pair) {
    settings.highlight = []
    if pair.value.isNull { return }
    let nodes = pair.value.list ?? [pair.value]
    guard nodes.count <= Settings.highlightLimit else {
      return report(
        pair, "has \(nodes.count) words; at most \(Settings.highlightLimit) are allowed")
    }
    for node in nodes {
      let word = (node.text ?? "").lowercased()
      guard 1...Settings.highlightLimitBytes ~= word.utf8.count, word.contains(where: \.isLetter)
      else {
        report(
          node.line, pair.key,
          "\(node.shown) is not a word: use 1 to \(Settings.highlightLimitBytes) bytes with a letter"
        )
        continue
      }
      settings.highlight.append(word)
    }
  }

  private mutating func readSounds(_ pair: YAMLNode.Pair) {
    if pair.value.isNull { return }
    for inner in pairs(of: pair.value, "sounds") {
      switch inner.key {
      case "sent": settings.soundSent = text(inner, in: "sounds.")
      case "received": settings.soundReceived = text(inner, in: "sounds.")
      default: reportUnknown(inner, "sounds.", "key", known: ["sent", "received"])
      }
    }
  }

  // MARK: Keys

  private mutating func readKeys(_ pair: YAMLNode.Pair) {
    if pair.value.isNull { return }
    var lines: [Command: Int] = [:]
    for inner in pairs(of: pair.value, "keys") {
      guard let command = Command(rawValue: inner.key) else {
        reportUnknown(inner, "keys.", "command", known: Command.allCases.map(\.rawValue))
        continue
      }
      lines[command] = inner.line
      let nodes = inner.value.isNull ? [] : inner.value.list ?? [inner.value]
      let keys = nodes.compactMap { readKey($0, command) }
      // The errors of these keys are reported already.
      guard keys.count == nodes.count else { continue }
      if command == .quit, keys.isEmpty {
        report(inner.line, "keys.quit", "requires a key")
      } else {
        settings.keymap.remap(command, toSequences: keys)
      }
    }
    for conflict in settings.keymap.conflicts {
      let given = conflict.commands.filter { lines[$0] != nil }
      guard let command = given.max(by: { lines[$0, default: 0] < lines[$1, default: 0] })
      else { continue }
      report(
        lines[command, default: pair.line], "keys.\(command.rawValue)",
        Self.describe(conflict, of: command))
    }
  }

  /// Says which other command has the key, and whether one is the beginning of the other.
  private static func describe(_ conflict: Keymap.Conflict, of command: Command) -> String {
    let isLater = conflict.commands[1] == command
    let key = isLater ? conflict.key : conflict.other
    let other = isLater ? conflict.other : conflict.key
    let owner = conflict.commands[isLater ? 0 : 1].rawValue
    if key == other {
      return "\(key.label) is already a key of \(owner); choose another key for one of them"
    }
    return key.extends(other)
      ? "\(key.label) begins with \(other.label), which is already a key of \(owner); "
        + "choose other keys for one of them"
      : "\(key.label) is the beginning of \(other.label), which are already keys of \(owner); "
        + "choose other keys for one of them"
  }

  private mutating func readKey(_ node: YAMLNode, _ command: Command) -> KeySequence? {
    let path = "keys.\(command.rawValue)"
    guard let name = node.text else {
      report(node.line, path, "\(node.shown) is not a key; expected \(Key.names)")
      return nil
    }
    switch KeySequence.named(name) {
    case .failure(.unknown):
      report(node.line, path, "\(node.shown) is not a key; expected \(Key.names)")
      return nil
    case .failure(.sameAs(let other)):
      report(
        node.line, path, "\(node.shown) cannot be told from \(other) in a terminal; choose another")
      return nil
    case .success(let key):
      guard settings.keymap.canBind(key, to: command) else {
        report(
          node.line, path, "\(node.shown) is a character that is typed there; add ctrl+ or alt+")
        return nil
      }
      return key
    }
  }

  // MARK: Problems

  /// Returns the pairs of a mapping; reports an error if the node is not one.
  private mutating func pairs(of node: YAMLNode, _ key: String) -> [YAMLNode.Pair] {
    if case .mapping(let pairs) = node.content { return pairs }
    report(node.line, key, "\(node.shown) is not a mapping of keys to values")
    return []
  }

  private mutating func reportUnknown(
    _ pair: YAMLNode.Pair, _ path: String, _ kind: String, known: [String]
  ) {
    let nearest = Spelling.nearest(to: pair.key, among: known).map {
      "did you mean \(self.path)\(path)\($0)?"
    }
    report(
      pair.line, path + pair.key,
      "is not a known \(kind); \(nearest ?? "known: \(known.joined(separator: ", "))")")
  }

  private mutating func report(_ pair: YAMLNode.Pair, _ text: String) {
    report(pair.line, pair.key, text)
  }

  private mutating func report(_ line: Int, _ key: String, _ text: String) {
    var key = path + key
    // A value as a whole has no key after the path.
    if key.last == "." { key.removeLast() }
    problems.append(.init(line: line, key: key, text: text))
  }
}
