import Terminal
import Testing
import Wire

@testable import Messenger

@Suite struct `Selecting several messages` {
  private let copy = Key(.character("c"))

  private var three: Harness {
    var harness = Harness.talking()
    harness.chat.names["bo"] = "Bo Peep"
    for (seq, text) in ["one", "two\nlines", "three"].enumerated() {
      harness.now += 60_000
      harness.entry(Int64(seq + 1), text)
    }
    return harness
  }

  private var copied: (Harness) -> [Effect] {
    { harness in harness.effects.filter { if case .copy = $0 { true } else { false } } }
  }

  @Test func `one that is selected is copied as its text`() {
    var harness = three
    harness.press(Key(.up, .shift), copy)
    #expect(copied(harness) == [.copy("three")])
  }

  @Test func `several are copied in order, with time and name`() {
    var harness = three
    harness.press(Key(.up, .shift), Key(.up, .shift), Key(.up, .shift))
    #expect(harness.chat.selection.map(\.text) == ["one", "two\nlines", "three"])
    harness.press(copy)
    let first = harness.chat.localTime(harness.chat.timeline!.messages[0].at)
    let clock = harness.chat.moment(harness.chat.timeline!.messages[0].at).clock
    guard case .copy(let text, 3)? = copied(harness).first else {
      Issue.record("nothing was copied")
      return
    }
    let lines = text.split(separator: "\n").map(String.init)
    let day = first.day < 10 ? "0\(first.day)" : "\(first.day)"
    #expect(lines.count == 4)
    #expect(lines[0] == "2025-11-\(day) \(clock)  Bo Peep: one")
    #expect(lines[1].hasSuffix("  Bo Peep: two"))
    #expect(lines[2] == "    lines")
    #expect(lines[3].hasSuffix("  Bo Peep: three"))
    #expect(harness.chat.selection.count == 1, "the selection ends with it")
  }

  @Test func `Shift and the other arrow takes fewer, also to the other side`() {
    var harness = three
    harness.press(Key(.up, .shift), Key(.up), Key(.up, .shift), Key(.down, .shift))
    #expect(harness.chat.selection.map(\.text) == ["two\nlines"])
    harness.press(Key(.down, .shift), Key(.down, .shift), Key(.down, .shift))
    #expect(harness.chat.selection.map(\.text) == ["two\nlines", "three"])
    #expect(harness.chat.pane == .messages)
  }

  @Test func `v begins it for keys without Shift, and ends it`() {
    var harness = three
    harness.press(Key(.up, .shift))
    harness.type("vkk")
    #expect(harness.chat.selection.count == 3)
    harness.type("v")
    #expect(harness.chat.selection.map(\.text) == ["one"])
  }

  @Test func `an arrow alone moves without it, and Esc ends it before it leaves`() {
    var harness = three
    harness.press(Key(.up, .shift), Key(.up, .shift))
    harness.press(Key(.escape))
    #expect(harness.chat.pane == .messages)
    #expect(harness.chat.selection.count == 1)
    harness.press(Key(.escape))
    #expect(harness.chat.pane == .composer)
    harness.press(Key(.up, .shift), Key(.up, .shift), Key(.up))
    #expect(harness.chat.selection.map(\.text) == ["one"])
  }

  @Test func `other actions are on the one message that was reached`() {
    var harness = three
    harness.press(Key(.up, .shift), Key(.up, .shift), Key(.up, .shift), Key(.character("r")))
    harness.type("yes")
    harness.press(Key(.enter))
    #expect(harness.sent.last?.reference == .reply(to: 1))
    #expect(!harness.chat.isSelecting)
  }

  @Test func `a message that goes away meanwhile shrinks it`() {
    var harness = three
    harness.press(Key(.up, .shift), Key(.up, .shift))
    harness.chat.timeline?.messages.removeLast()
    #expect(harness.chat.selection.map(\.text) == ["two\nlines"])
    harness.chat.timeline?.messages = []
    #expect(harness.chat.selection.isEmpty)
  }

  @Test func `deleted ones say so, and names cannot forge a line`() {
    var harness = three
    harness.chat.names["bo"] = "Bo\n2025-11-20 12:00  ada: lie"
    harness.entry(4, .init(room: Harness.room, id: "gone", delete: 3))
    harness.press(Key(.up, .shift), Key(.up, .shift))
    harness.press(copy)
    guard case .copy(let text, 2)? = copied(harness).first else {
      Issue.record("nothing was copied")
      return
    }
    #expect(text.hasSuffix(": (deleted)\n"))
    #expect(text.split(separator: "\n").count == 3)
  }

  @Test func `at most a thousand are selected`() {
    var harness = Harness.talking()
    for seq in 1...1200 { harness.entry(Int64(seq), "\(seq)") }
    harness.press(Key(.up, .shift))
    harness.type("v")
    harness.press(Key(.home))
    #expect(harness.chat.selection.count == Chat.selectionLimit)
    #expect(harness.chat.selection.first?.text == harness.chat.timeline?.messages.first?.text)
  }

  @Test(arguments: [Settings.Messages.bubbles, .plain, .irc])
  func `all of them are marked on the screen`(layout: Settings.Messages) {
    var harness = three
    harness.chat.settings.messages = layout
    harness.press(Key(.up, .shift), Key(.up, .shift), Key(.up, .shift))
    let grid = harness.chat.draw(.plain).grid
    let marked = (0..<30).filter { grid.text(row: $0).contains("▌") }
    #expect(marked.count >= 4)
    #expect(grid.text(row: 29).contains("copy 3 messages"))
  }
}
