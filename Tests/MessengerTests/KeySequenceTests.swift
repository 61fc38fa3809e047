import Client
import Terminal
import TestSupport
import Testing
import Wire

@testable import Messenger

@Suite struct `Sequences of keys` {
  private func sequence(_ name: String) throws -> KeySequence { try KeySequence.named(name).get() }

  private func settings(_ text: String) throws -> Settings {
    try Settings.read(Array(text.utf8), file: "config.yaml")
  }

  @Test(arguments: [
    ("g g", "gg"), ("ctrl+x ctrl+e", "Ctrl+X Ctrl+E"), ("space g", "Space g"), ("Z Z", "ZZ"),
    ("g", "g"), ("alt+up", "Alt+↑"), (" g  x ", "gx"),
  ])
  func `are named by their keys with spaces between them`(name: String, label: String) throws {
    #expect(try sequence(name).label == label)
  }

  @Test(arguments: ["", " ", "g nonsense", "a b c d e", "ctrl+ g"])
  func `are refused with a key that does not exist, and if they are too long`(name: String) {
    #expect(throws: Key.Unnameable.unknown(name)) { try KeySequence.named(name).get() }
  }

  @Test func `digits that follow each other are one label`() throws {
    func label(_ names: String...) throws -> String {
      KeySequence.label(of: try names.map(sequence))
    }
    #expect(try label("alt+1", "alt+2", "alt+3", "alt+5") == "Alt+1…3, Alt+5")
    #expect(try label("alt+1", "alt+2") == "Alt+1, Alt+2")
    #expect(try label("alt+1", "ctrl+2", "3") == "Alt+1, Ctrl+2, 3")
  }

  private func configured(_ text: String) throws -> Harness {
    var harness = Harness.talking()
    harness.chat.settings = try settings(text)
    for seq in 1...3 { harness.entry(Int64(seq), "message \(seq)") }
    harness.press(Key(.up, .shift))
    return harness
  }

  @Test func `do what they are bound to, once they are complete`() throws {
    var harness = try configured("keys: { first: [g g], mute: [ctrl+g m] }")
    harness.type("g")
    #expect(harness.chat.timeline?.selected?.id == "bo-3")
    harness.type("g")
    #expect(harness.chat.timeline?.selected?.id == "bo-1")
    harness.press(Key(.escape), Key(.character("g"), .control), Key(.character("m")))
    #expect(harness.chat.open?.notifications == Conversation.Notifications.none)
    #expect(harness.chat.composer.isEmpty)
  }

  @Test func `show what may follow, at the bottom of the screen`() throws {
    var harness = try configured("keys: { first: [g g], open-link: [g x], newest: [ctrl+g e] }")
    harness.type("g")
    let status = harness.chat.draw(.plain).grid.text(row: 29)
    #expect(status.contains("g…"))
    #expect(status.contains("g oldest loaded message"))
    #expect(status.contains("x open the link"))
    #expect(status.contains("Esc cancel"))
    #expect(!status.contains("newest message"))
  }

  @Test func `end with Esc, with a key that does not continue them, and with time`() throws {
    var harness = try configured("keys: { first: [g g] }")
    harness.type("g")
    harness.press(Key(.escape))
    #expect(harness.chat.pendingKeys == nil)
    #expect(harness.chat.pane == .messages, "Esc ended only the sequence")
    #expect(harness.chat.notice == nil)
    harness.type("gk")
    #expect(harness.chat.notice?.text == "No command has the keys gk.")
    #expect(harness.chat.timeline?.selected?.id == "bo-3")
    harness.type("g")
    #expect(harness.chat.deadline == harness.now + Chat.sequenceMilliseconds)
    harness.now += Chat.sequenceMilliseconds
    harness.take(.tick)
    #expect(harness.chat.pendingKeys == nil)
    harness.type("g")
    // A key that is late begins anew, whether or not the time was noticed before.
    harness.now += Chat.sequenceMilliseconds
    harness.type("g")
    #expect(harness.chat.timeline?.selected?.id == "bo-3")
    harness.type("g")
    #expect(harness.chat.timeline?.selected?.id == "bo-1")
  }

  @Test func `end with a paste, and wait as long where the clock is set back`() throws {
    var harness = try configured("keys: { first: [g g] }")
    harness.type("g")
    harness.now -= 3_600_000
    harness.take(.tick)
    #expect(harness.chat.pendingKeys?.until == harness.now + Chat.sequenceMilliseconds)
    harness.take(.input(.paste("text")))
    #expect(harness.chat.pendingKeys == nil)
    #expect(harness.chat.composer.text == "text")
  }

  @Test(arguments: [
    ("keys: { first: [j j] }", "j", "keys.first: jj begins with j, which is already a key of down"),
    (
      "keys:\n  first: [g g]\n  help: [g]", "g",
      "keys.help: g is the beginning of gg, which are already keys of first"
    ),
    (
      "keys: { mute: [ctrl+k m] }", "m",
      "keys.mute: Ctrl+K m begins with Ctrl+K, which is already a key of switcher"
    ),
    ("keys: { first: [g, g g] }", "g", "keys.first: gg begins with g"),
    ("keys:\n  first: [g g]\n  help: [g g]", "g", "keys.help: gg is already a key of first"),
    ("keys: { send: [s ctrl+s] }", "s", "is a character that is typed there"),
    ("keys: { send: [ctrl+s] }\nkeymap: emacs", "", "keymap: \"emacs\" is not one of default, vim"),
  ])
  func `are in conflict with a key that is their beginning`(
    text: String, key: String, problem: String
  ) {
    let error = #expect(throws: SettingsError.self) { try settings(text) }
    #expect(error?.description.contains(problem) == true, "\(error?.description ?? "")")
  }

  @Test func `in different places do not meet`() throws {
    #expect(throws: Never.self) { try settings("keys: { copy: [y y], filter: [y] }") }
    #expect(throws: SettingsError.self) { try settings("keys: { copy: [y y], reply: [y] }") }
  }
}

@Suite struct `The n-th conversation of the list` {
  private var harness: Harness {
    var harness = Harness()
    harness.welcome()
    for room in ["general", "tea", "work"] { harness.open(room) }
    return harness
  }

  @Test func `is opened by Alt and its number, as the list shows them`() {
    var harness = harness
    harness.chat.prepareToDraw()
    let listed = harness.chat.listed
    for (place, room) in listed.enumerated() {
      harness.press(Key(.character(Character("\(place + 1)")), .alt))
      #expect(harness.chat.timeline?.room == room)
    }
    harness.press(Key(.character("9"), .alt))
    #expect(harness.chat.notice?.text == "The list has only \(listed.count) conversations.")
    #expect(harness.chat.timeline?.room == listed.last)
  }

  @Test func `is opened by the n-th key of the command, whichever it is`() throws {
    var harness = harness
    harness.chat.settings = try Settings.read(
      Array("keys: { nth-conversation: [f7, ctrl+g b] }".utf8), file: "c")
    harness.chat.prepareToDraw()
    let listed = harness.chat.listed
    harness.press(Key(.function(7)))
    #expect(harness.chat.timeline?.room == listed[0])
    harness.press(Key(.character("g"), .control), Key(.character("b")))
    #expect(harness.chat.timeline?.room == listed[1])
  }

  @Test func `keeps the draft, and ends overlays and the filter`() {
    var harness = harness
    harness.chat.prepareToDraw()
    harness.type("a draft")
    let room = harness.chat.timeline?.room
    let other = harness.chat.listed.firstIndex { $0 != room } ?? 0
    harness.press(Key(.character("k"), .control), Key(.character(Character("\(other + 1)")), .alt))
    #expect(harness.chat.overlay == nil)
    #expect(room.flatMap { harness.chat.conversations[$0]?.draft } == "a draft")
    #expect(harness.chat.timeline?.room == harness.chat.listed[other])
  }
}

@Suite struct `The vim keymap` {
  private func vim() throws -> Harness {
    var harness = Harness.talking()
    harness.chat.settings = try Settings.read(Array("keymap: vim".utf8), file: "c")
    for seq in 1...40 {
      harness.entry(Int64(seq), from: seq == 40 ? "ada" : "bo", "message \(seq)")
    }
    return harness
  }

  @Test func `has no key that does two things, and no other commands than the default`() {
    let keymap = Keymap(.vim)
    #expect(keymap.conflicts.isEmpty, "\(keymap.conflicts)")
    #expect(Set(keymap.bindings.map(\.command)) == Set(Command.allCases))
    #expect(keymap.help.flatMap(\.rows).count == keymap.bindings.count)
  }

  @Test func `Esc leaves the composer for the messages, and i comes back`() throws {
    var harness = try vim()
    harness.type("half a text")
    harness.press(Key(.escape))
    #expect(harness.chat.pane == .messages)
    #expect(harness.chat.timeline?.selected?.id == "ada-40")
    harness.press(Key(.escape))
    #expect(harness.chat.pane == .messages)
    harness.type("q5zi more")
    #expect(harness.chat.composer.text == "half a text more", "letters are never typed there")
  }

  @Test func `gg and G, k and j, and half pages move through the messages`() throws {
    var harness = try vim()
    harness.press(Key(.escape))
    harness.type("gg")
    #expect(harness.chat.timeline?.selected == harness.chat.timeline?.messages.first?.key)
    harness.press(Key(.character("d"), .control))
    let place = try #require(
      harness.chat.timeline?.selected.flatMap { harness.chat.timeline?.index(of: $0) })
    #expect((5...20).contains(place))
    harness.press(Key(.character("u"), .control))
    #expect(harness.chat.timeline?.selected == harness.chat.timeline?.messages.first?.key)
    harness.type("jjk")
    #expect(harness.chat.timeline?.selected?.id == "bo-2")
    harness.type("G")
    #expect(harness.chat.timeline?.selected?.id == "ada-40")
    harness.type("j")
    harness.press(Key(.character("d"), .control))
    #expect(harness.chat.pane == .messages, "the last line is the end")
  }

  @Test func `yy copies and dd deletes, but neither does one letter`() throws {
    var harness = try vim()
    harness.press(Key(.escape))
    harness.type("k")
    harness.type("yy")
    #expect(harness.effects.contains(.copy("message 39")))
    harness.type("Gd")
    #expect(harness.chat.overlay == nil)
    harness.type("d")
    harness.press(Key(.enter))
    #expect(harness.sent.last?.kind == .delete)
    #expect(harness.chat.pane == .messages)
  }

  @Test func `a search ends at the match`() throws {
    var harness = try vim()
    harness.press(Key(.escape))
    harness.type("/message 17")
    harness.press(Key(.escape))
    #expect(harness.chat.search == nil)
    #expect(harness.chat.pane == .messages)
    #expect(harness.chat.timeline?.selected?.id == "bo-17")
  }

  @Test func `gt goes through the conversations without writing into one`() throws {
    var harness = try vim()
    for room in ["r1", "r2", "r3"] { harness.open(room) }
    harness.press(Key(.escape))
    harness.type("gTgTgtj")
    #expect(harness.chat.pane != .composer)
    #expect(harness.chat.composer.isEmpty)
    let drafts = harness.chat.conversations.values.map(\.draft).joined()
    #expect(drafts.isEmpty)
  }

  @Test func `Esc on the messages ends a reply that was begun`() throws {
    var harness = try vim()
    harness.press(Key(.escape))
    harness.type("r")
    #expect(harness.chat.pane == .composer)
    harness.press(Key(.escape))
    #expect(harness.chat.composition != .new)
    harness.press(Key(.escape))
    #expect(harness.chat.composition == .new)
    #expect(harness.chat.pane == .messages)
  }

  @Test func `h is the list, gt and gT the neighbours, l opens`() throws {
    var harness = try vim()
    for room in ["tea", "work"] { harness.open(room) }
    harness.open(Harness.room)
    harness.press(Key(.escape))
    harness.type("h")
    #expect(harness.chat.pane == .list)
    harness.type("gg")
    #expect(harness.chat.listSelection == harness.chat.listed.first)
    harness.type("Gl")
    #expect(harness.chat.timeline?.room == harness.chat.listed.last)
    harness.press(Key(.tab, .shift))
    if harness.chat.pane != .list { harness.press(Key(.tab, .shift)) }
    harness.type("zz")
    #expect(!harness.chat.isFiltering)
    harness.type("/t")
    #expect(harness.chat.isFiltering)
    harness.press(Key(.escape))
    harness.type("gT")
    #expect(harness.chat.timeline?.room == harness.chat.listed.dropLast().last)
  }

  @Test func `single commands have other keys there as well`() throws {
    let keymap = try Settings.read(
      Array("keys: { copy: [y c] }\nkeymap: vim".utf8), file: "c"
    ).keymap
    #expect(
      keymap.meaning(of: try KeySequence.named("y c").get(), in: .messages) == .command(.copy))
    #expect(keymap.meaning(of: try KeySequence.named("y y").get(), in: .messages) == .none)
    #expect(
      keymap.meaning(of: try KeySequence.named("d d").get(), in: .messages) == .command(.delete))
  }

  @Test func `is in the manual, key by key`() throws {
    let text = try readFile(Project["Sources/Commands/WschatCommand/wschat.1"])
    let rows = text.split(separator: "\n").drop { $0 != ".Sh KEYMAPS" }
      .prefix { $0 != ".Sh COMMANDS" }
    var told: [String] = []
    for line in rows {
      if line.hasPrefix(".It ") { told.append(String(line.dropFirst(4))) }
      if !line.hasPrefix("."), let last = told.indices.last { told[last] += " = \(line)" }
    }
    let expected = Keymap.vimChanges.map { change in
      let labels = change.keys.split(separator: ",").compactMap {
        try? KeySequence.named(String($0)).get().label
      }
      let place = change.section == "Messages" ? "on a message" : "in the list"
      let keys = labels.joined(separator: " , ").replacing("/", with: "\\&/")
      return "\(keys) = \(place): \(change.text)"
    }
    #expect(told == expected)
  }
}
