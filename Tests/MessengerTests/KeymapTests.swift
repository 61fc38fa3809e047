import Terminal
import Testing

@testable import Messenger

@Suite struct `The keymap` {
  private func key(_ name: String) throws -> Key { try Key.named(name).get() }

  @Test func `no key does two things`() {
    #expect(Keymap().conflicts.isEmpty)
  }

  @Test func `every command has a key and a line in the help`() {
    let keymap = Keymap()
    for command in Command.allCases {
      #expect(keymap.bindings.contains { $0.command == command }, "\(command)")
    }
    let rows = keymap.help.flatMap(\.rows)
    #expect(rows.count == keymap.bindings.count)
    #expect(rows.allSatisfy { !$0.keys.isEmpty && !$0.text.isEmpty })
    #expect(
      keymap.help.map(\.section)
        == [
          "Everywhere", "Writing", "Messages", "Conversations", "Members of a room",
          "Choices and searches",
        ])
  }

  @Test(
    arguments: [
      ("enter", .composer, .send), ("alt+enter", .composer, .newLine),
      ("shift+enter", .composer, .newLine), ("ctrl+j", .composer, .newLine),
      ("ctrl+k", .composer, .switcher), ("ctrl+k", .messages, .switcher),
      ("alt+shift+down", .list, .nextUnread), ("ctrl+c", .overlay, .quit),
      ("?", .messages, .help), ("?", .composer, nil), ("?", .overlay, nil),
      ("f1", .composer, .help),
      ("j", .messages, .down), ("j", .composer, nil), ("R", .messages, .retry),
      ("r", .messages, .reply), ("up", .composer, .lineUp), ("tab", .composer, .complete),
      ("tab", .list, .nextPane), ("end", .messages, .newest), ("end", .list, .last),
      ("ctrl+w", .overlay, .deleteWord), ("shift+up", .composer, .selectMessage),
    ] as [(String, Keymap.Context, Command?)])
  func `keys have their customary commands`(
    name: String, context: Keymap.Context, command: Command?
  ) throws {
    #expect(Keymap().command(for: try key(name), in: context) == command)
  }

  @Test(arguments: [
    ("ctrl+k", "Ctrl+K"), ("Alt+UP", "Alt+↑"), ("alt+shift+down", "Alt+Shift+↓"), ("f12", "F12"),
    ("shift+tab", "Shift+Tab"), ("?", "?"), ("+", "+"), ("ctrl++", "Ctrl++"), ("plus", "+"),
    ("c", "c"), ("shift+r", "R"), ("alt+shift+m", "Alt+Shift+M"), ("alt+m", "Alt+M"),
    ("space", "Space"), ("pgup", "PgUp"), ("del", "Del"), ("return", "Enter"), ("é", "é"),
    ("ctrl+alt+x", "Ctrl+Alt+X"),
  ])
  func `a key's name is read, and written for a person`(name: String, label: String) throws {
    #expect(try key(name).label == label)
  }

  @Test(arguments: [
    "", "ctrl", "ctrl+", "hyper+x", "f0", "f25", "f01", "ab", " ", "shift+1", "ctrl+upp",
  ])
  func `an unknown name is no key`(name: String) {
    #expect(throws: Key.Unnameable.unknown(name)) { try Key.named(name).get() }
  }

  @Test(arguments: [
    ("ctrl+m", "enter"), ("ctrl+i", "tab"), ("ctrl+[", "escape"), ("ctrl+shift+k", "ctrl+k"),
  ])
  func `keys that terminals send as the same bytes are the same`(name: String, same: String) {
    #expect(throws: Key.Unnameable.sameAs(same)) { try Key.named(name).get() }
  }

  @Test func `other keys replace the earlier ones`() throws {
    var keymap = Keymap()
    keymap.remap(.switcher, to: [try key("ctrl+t")])
    #expect(keymap.command(for: try key("ctrl+t"), in: .composer) == .switcher)
    #expect(keymap.command(for: try key("ctrl+k"), in: .composer) == nil)
    #expect(keymap.label(of: .switcher, in: .composer) == "Ctrl+T")
    #expect(keymap.help[0].rows[1].keys == "Ctrl+T")
    #expect(keymap.conflicts.isEmpty)
  }

  @Test func `a label is that of the focused place`() {
    let keymap = Keymap()
    #expect(keymap.label(of: .help, in: .composer) == "F1")
    #expect(keymap.label(of: .help, in: .messages) == "?")
    #expect(keymap.label(of: .up, in: .messages) == "↑")
    #expect(keymap.label(of: .copy, in: .composer) == nil)
  }

  @Test func `a key that types text is a command only where no text is typed`() throws {
    var keymap = Keymap()
    keymap.remap(.help, to: [try key("f2"), try key("h")])
    #expect(keymap.command(for: try key("h"), in: .messages) == .help)
    #expect(keymap.command(for: try key("h"), in: .composer) == nil)
    #expect(keymap.command(for: try key("f2"), in: .composer) == .help)
    #expect(!keymap.canBind(try key("s"), to: .send))
    #expect(keymap.canBind(try key("ctrl+s"), to: .send))
    #expect(keymap.canBind(try key("y"), to: .copy))
  }

  @Test func `a key for two commands in one place is a conflict`() throws {
    var keymap = Keymap()
    keymap.remap(.mute, to: [try key("ctrl+w")])
    #expect(
      keymap.conflicts == [.init(key: try key("ctrl+w"), commands: [.mute, .deleteWord])])
    keymap.remap(.deleteWord, to: [try key("alt+m")])
    #expect(keymap.conflicts.isEmpty)
    keymap.remap(.copy, to: [try key("/")])
    #expect(keymap.conflicts.isEmpty, "one is for messages, the other for the list")
  }
}
