import Terminal
import TestSupport
import Testing
import YAML

@testable import Messenger

@Suite struct `Settings from a configuration file` {
  private func read(_ text: String) throws -> Settings {
    try Settings.read(Array(text.utf8), file: "config.yaml")
  }

  private func key(_ name: String) throws -> Key { try Key.named(name).get() }

  @Test(arguments: ["", "# nothing\n", "{}", "keys:\nsounds:\nurl:\n", "url: \"\""])
  func `a key that is not set has its default`(text: String) throws {
    #expect(try read(text) == Settings())
  }

  @Test func `every key is read`() throws {
    let settings = try read(
      """
      url: wss://chat.example.org
      user: ada
      token_command: pass chat
      ca: /etc/ca.pem
      theme: dark
      messages: plain
      links: on
      mouse: true
      color: true
      history_entries: 5000
      notify: osc99
      bell: true
      sounds: { sent: a, received: b c }
      keys: { switcher: ctrl+t, send: [enter, ctrl+s], suspend: [] }
      """)
    var expected = Settings()
    expected.url = "wss://chat.example.org"
    expected.user = "ada"
    expected.tokenCommand = "pass chat"
    expected.ca = "/etc/ca.pem"
    expected.theme = .dark
    expected.messages = .plain
    expected.links = .on
    expected.usesMouse = true
    expected.color = .rgb
    expected.historyEntries = 5000
    expected.notify = .osc99
    expected.bell = true
    expected.soundSent = "a"
    expected.soundReceived = "b c"
    expected.keymap.remap(.switcher, to: [try key("ctrl+t")])
    expected.keymap.remap(.send, to: [try key("enter"), try key("ctrl+s")])
    expected.keymap.remap(.suspend, to: [])
    #expect(settings == expected)
    #expect(settings.keymap.command(for: try key("ctrl+z"), in: .composer) == nil)
  }

  @Test func `a notification can be a command`() throws {
    #expect(
      try read("notify: { command: 'notify-send \"$1\"' }").notify
        == .command("notify-send \"$1\""))
  }

  @Test func `commands can swap their keys`() throws {
    let keymap = try read("keys: { copy: r, reply: c }").keymap
    #expect(keymap.command(for: try key("r"), in: .messages) == .copy)
    #expect(keymap.command(for: try key("c"), in: .messages) == .reply)
  }

  @Test(arguments: [
    ("\n\ntheme: drak", "3: theme: \"drak\" is not one of auto, dark, light"),
    ("messages:", "1: messages: empty is not one of bubbles, plain, irc"),
    ("color: 8", "1: color: \"8\" is not one of auto, none, 16, 256, true"),
    ("links: yes", "1: links: \"yes\" is not one of auto, on, off"),
    ("mouse: yes", "1: mouse: \"yes\" is not true or false"),
    (
      "history_entries: -1",
      "1: history_entries: \"-1\" is not a whole number from 0; 0 keeps all"
    ),
    (
      "user: Ada",
      "1: user: \"Ada\" is not a valid user name: use 1 to 64 of a-z 0-9 . _ -, not . or .."
    ),
    ("ca: [a]", "1: ca: a list is not a string"),
    (
      "url: example.org",
      "1: url: \"example.org\" does not begin with ws:// or wss://, as in ws://127.0.0.1:8080/ws"
    ),
    ("them: dark", "1: them: is not a known key; did you mean theme?"),
    (
      "zzz: 1",
      "1: zzz: is not a known key; known: url, user, token_command, ca, profiles, theme, messages, "
        + "clock, list, sidebar, pictures, links, mouse, color, history_entries, highlight, notify, "
        + "away_after_s, bell, sounds, keymap, keys"
    ),
    (
      "theme: dark\ntheme: dark",
      "2: theme: is given twice; the first is on line 1; remove one of them"
    ),
    ("- a", "1: a list is not a mapping of keys to values"),
    ("a: b: c", "1: this is not YAML; mapping values are not allowed in this context"),
    ("sounds: { send: a }", "1: sounds.send: is not a known key; did you mean sounds.sent?"),
    ("sounds: { sent: [] }", "1: sounds.sent: a list is not a string"),
    (
      "notify: beep",
      "1: notify: \"beep\" is not one of auto, osc9, osc99, osc777, off, or a command such as "
        + "{ command: \"notify-send …\" }"
    ),
    ("notify: { cmd: a }", "1: notify.cmd: is not a known key; known: command"),
    (
      "keys:\n  swicher: ctrl+t",
      "2: keys.swicher: is not a known command; did you mean keys.switcher?"
    ),
    (
      "keys:\n  send:\n    - enter\n    - ctlr+s",
      "4: keys.send: \"ctlr+s\" is not a key; expected a character, or enter, tab, space, backspace, "
        + "delete, insert, escape, up, down, left, right, home, end, pageup, pagedown, f1 to f24, "
        + "with ctrl+, alt+ or shift+ before it"
    ),
    (
      "keys: { send: ctrl+m }",
      "1: keys.send: \"ctrl+m\" cannot be told from enter in a terminal; choose another"
    ),
    (
      "keys: { send: s }",
      "1: keys.send: \"s\" is a character that is typed there; add ctrl+ or alt+"
    ),
    ("keys: { quit: [] }", "1: keys.quit: requires a key"),
    (
      "keys:\n  copy: y\n  mute: ctrl+w",
      "3: keys.mute: Ctrl+W is already a key of delete-word; choose another key for one of them"
    ),
    (
      "keys:\n  mute: ctrl+g\n  help: ctrl+g",
      "3: keys.help: Ctrl+G is already a key of mute; choose another key for one of them"
    ),
  ])
  func `an error is reported with its line and the possible values`(text: String, problem: String) {
    let error = #expect(throws: SettingsError.self) { try read(text) }
    #expect(error?.description == "config.yaml:\(problem)")
  }

  @Test func `all errors are reported, in the order of the file`() {
    let error = #expect(throws: SettingsError.self) {
      try read("mouse: 1\nkeys: { quit: [] }\nbell: 2\nbell: 3")
    }
    #expect(error?.problems.map(\.line) == [1, 2, 3, 4])
  }

  // MARK: The example

  @Test func `the example names every key and every command, with its default`() throws {
    let bytes = try readBytes(Self.example)
    #expect(try Settings.read(bytes, file: "config/wschat.yaml") == Settings())
    guard case .mapping(let pairs)? = YAMLDocument(bytes).root?.content else {
      Issue.record("the example is no mapping")
      return
    }
    #expect(pairs.map(\.key) == SettingsReader.keys)
    guard case .mapping(let commands)? = pairs.last?.value.content else {
      Issue.record("the example has no keys")
      return
    }
    #expect(Set(commands.map(\.key)) == Set(Command.allCases.map(\.rawValue)))
    for command in commands {
      let shown = try (command.value.list ?? []).map { try key($0.text ?? "") }
      let bindings = Keymap.defaults.filter { $0.command.rawValue == command.key }
      #expect(Set(shown) == Set(bindings.flatMap(\.keys)), "\(command.key)")
    }
  }

  @Test func `its example of a command for notifications is one`() throws {
    let line = try #require(
      try readFile(Self.example).split(separator: "\n")
        .first { $0.hasPrefix("#   notify:") })
    #expect(
      try read(String(line.dropFirst(4))).notify
        == .command("notify-send \"$1\" \"$2\""))
  }

  private static let example = Project["config/wschat.yaml"]
}
