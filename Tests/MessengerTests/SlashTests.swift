import Terminal
import Testing
import Wire

@testable import Messenger

@Suite struct `Slash commands` {
  private func say(_ text: String, in harness: inout Harness) {
    harness.type(text)
    harness.press(Key(.enter))
  }

  @Test func `no name means two commands, and each command has a text`() {
    let names = SlashCommand.all.flatMap(\.names)
    #expect(Set(names).count == names.count)
    #expect(SlashCommand.all.allSatisfy { !$0.text.isEmpty && !$0.names.isEmpty })
  }

  @Test func `an unknown one is not sent, and stays where it was written`() {
    var harness = Harness.talking()
    say("/jion foo", in: &harness)
    #expect(harness.sent.isEmpty)
    #expect(harness.chat.composer.text == "/jion foo")
    #expect(harness.chat.notice?.text.contains("/jion is no command") == true)
  }

  @Test(arguments: ["/jion foo", "/quit"])
  func `neither is one in a reply`(text: String) {
    var harness = Harness.talking()
    harness.entry(1, "hello")
    harness.press(Key(.up, .shift), Key(.character("r")))
    say(text, in: &harness)
    #expect(harness.sent.isEmpty && !harness.effects.contains(.quit))
    #expect(harness.chat.composer.text == text)
    #expect(harness.chat.notice?.text.contains("is") == true)
    harness.press(Key(.home))
    say("/", in: &harness)
    #expect(harness.sent.map(\.asEntry.text) == [text])
    #expect(harness.sent.map(\.asEntry.replyTo) == [1])
  }

  @Test func `a text that begins with a slash can be taken back, and recalled, to be sent again`() {
    var harness = Harness.talking()
    say("//jion", in: &harness)
    harness.take(.takenBack(room: Harness.room, id: harness.sent[0].id, edits: true))
    #expect(harness.chat.composer.text == "//jion")
    harness.press(Key(.character("u"), .control))
    harness.entry(1, from: "ada", "/etc/hosts")
    harness.press(Key(.character("p"), .control), Key(.character("p"), .control))
    say("", in: &harness)
    #expect(harness.sent.last?.asEntry.text == "/etc/hosts")
  }

  @Test func `two slashes send a text that begins with one`() {
    var harness = Harness.talking()
    say("//jion", in: &harness)
    #expect(harness.sent.first?.asEntry.text == "/jion")
  }

  @Test func `a single slash, and a slash within a text, are text`() {
    var harness = Harness.talking()
    say("/", in: &harness)
    say("either/or", in: &harness)
    #expect(harness.sent.map(\.asEntry.text) == ["/", "either/or"])
  }

  @Test(arguments: ["/join Tea", "/j #tea", "/JOIN tea"])
  func `join opens a room`(text: String) {
    var harness = Harness.talking()
    say(text, in: &harness)
    #expect(harness.chat.timeline?.room == "tea")
    #expect(harness.chat.conversations[Harness.room]?.draft == "")
    #expect(harness.sent.isEmpty)
  }

  @Test func `msg opens the conversation with a person, and sends what follows as it is`() {
    var harness = Harness.talking()
    say("/msg Cy  /quit  you", in: &harness)
    #expect(harness.chat.timeline?.room == "dm:ada:cy")
    #expect(harness.sent.map(\.room) == ["dm:ada:cy"])
    #expect(harness.sent.first?.asEntry.text == "/quit  you")
    say("/msg @bo", in: &harness)
    #expect(harness.chat.timeline?.room == "dm:ada:bo")
    #expect(harness.sent.count == 1)
  }

  @Test(arguments: [
    "/join", "/msg", "/msg ada", "/msg no/body", "/me", "/set", "/set url ws://x",
    "/set bell perhaps", "/notify", "/notify some", "/notify mentions",
  ])
  func `one without a sense is explained, and stays where it was written`(text: String) {
    var harness = Harness.talking()
    say(text, in: &harness)
    #expect(harness.sent.isEmpty)
    #expect(harness.chat.notice?.isError == true)
    #expect(harness.chat.composer.text == text)
  }

  @Test func `me says what one does`() {
    var harness = Harness.talking()
    harness.chat.names["ada"] = "Ada"
    say("/me waves", in: &harness)
    #expect(harness.sent.first?.asEntry.text == "* Ada waves")
  }

  @Test func `set changes a setting, mute and pin the conversation, quit ends`() {
    var harness = Harness.talking()
    say("/set messages plain", in: &harness)
    #expect(harness.chat.settings.messages == .plain)
    say("/mute", in: &harness)
    #expect(harness.chat.conversations[Harness.room]?.isMuted == true)
    say("/mute", in: &harness)
    #expect(harness.chat.conversations[Harness.room]?.isMuted == true)
    for _ in 0..<2 {
      say("/unmute", in: &harness)
      #expect(harness.chat.conversations[Harness.room]?.notifications == .all)
    }
    for _ in 0..<2 {
      say("/pin", in: &harness)
      #expect(harness.chat.conversations[Harness.room]?.isPinned == true)
    }
    say("/unpin", in: &harness)
    #expect(harness.chat.conversations[Harness.room]?.isPinned == false)
    say("/q", in: &harness)
    #expect(harness.effects.last == .quit)
  }

  @Test func `notify chooses which messages of a room notify`() {
    var harness = Harness.talking()
    harness.open("general")
    for (text, level) in [
      ("/notify mentions", Conversation.Notifications.mentions), ("/notify NONE", .none),
      ("/notify all", .all),
    ] {
      say(text, in: &harness)
      #expect(harness.chat.conversations["general"]?.notifications == level)
      #expect(harness.effects.contains(.save("general")))
    }
  }

  @Test func `search begins with the text`() {
    var harness = Harness.talking()
    harness.entry(1, "a needle")
    say("/search needle", in: &harness)
    #expect(harness.chat.search?.matches.count == 1)
  }

  @Test func `Tab completes the name of a command, in a new message only`() {
    var harness = Harness.talking()
    harness.type("/rec")
    harness.press(Key(.tab))
    #expect(harness.chat.composer.text == "/reconnect")
    harness.press(Key(.character("u"), .control))
    harness.type("/m")
    harness.press(Key(.tab))
    #expect(
      harness.chat.completion?.candidates.map(\.replacement) == [
        "/msg ", "/me ", "/members", "/mention", "/mute ",
      ])
  }

  @Test func `Tab offers all of them, and says how many are out of sight`() throws {
    var harness = Harness.talking()
    harness.type("/")
    harness.press(Key(.tab))
    let offered = SlashCommand.offered(in: try #require(harness.chat.open))
    let count = offered.count
    #expect(harness.chat.completion?.candidates.count == count)
    #expect(picture(harness.chat.draw(.plain)).contains("↓ \(count - 8) more"))
    let left = try #require(popup(harness).map(\.column).min())
    let width = try #require(popup(harness).map(\.columns).max())
    for step in 1..<count {
      harness.press(Key(.down))
      let rows = popup(harness)
      #expect(rows.count == 8 && rows.allSatisfy { $0.column == left && $0.columns == width })
      let text = picture(harness.chat.draw(.plain))
      let (above, below) = (max(0, step - 7), min(count - 8, count - 1 - step))
      #expect(text.contains("↑ \(above) more") == (above > 0), "\(text)")
      #expect(text.contains("↓ \(below) more") == (below > 0), "\(text)")
      #expect(text.contains(offered[step].usage))
    }
    harness.press(Key(.down))
    #expect(harness.chat.completion?.selected == 0)
  }

  /// The rows of the completions.
  private func popup(_ harness: Harness) -> [Rect] {
    harness.chat.draw(.plain).targets.compactMap {
      if case .choice = $0.target { $0.rect } else { nil }
    }
  }

  @Test(arguments: SlashCommand.all.filter(\.arguments.isEmpty).map { "/\($0.names[0]) now" })
  func `one that takes no argument refuses one, and does nothing`(text: String) {
    var harness = Harness.talking()
    harness.entry(1, "hello")
    harness.type(text)
    let before = harness.chat.conversations[Harness.room]
    harness.effects = []
    harness.press(Key(.enter))
    let name = text.dropLast(" now".count)
    #expect(harness.chat.notice?.text.hasPrefix("\(name) takes no argument.") == true)
    #expect(harness.chat.notice?.isError == true)
    #expect(harness.chat.composer.text == text)
    #expect(harness.chat.conversations[Harness.room] == before)
    #expect(harness.chat.overlay == nil && harness.sent.isEmpty && !harness.effects.contains(.quit))
    say("", in: &harness)
    #expect(harness.chat.composer.text == text)
  }

  @Test func `the help lists all of them`() {
    var harness = Harness.talking()
    harness.take(.resized(Size(columns: 100, rows: 200)))
    say("/help", in: &harness)
    let text = picture(harness.chat.draw(.dark()))
    for command in SlashCommand.all { #expect(text.contains(command.usage), "\(command.usage)") }
  }

  @Test func `an edit that begins with a slash is text`() throws {
    var harness = Harness.talking()
    say("hello", in: &harness)
    harness.acknowledge(try #require(harness.sent.first), seq: 1)
    harness.press(Key(.up))
    harness.press(Key(.character("u"), .control))
    say("/quit", in: &harness)
    #expect(harness.sent.last?.kind == .edit)
    #expect(harness.effects.last != .quit)
  }
}
