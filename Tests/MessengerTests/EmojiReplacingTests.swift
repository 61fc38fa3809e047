import Emojis
import Terminal
import Testing
import Wire

@testable import Messenger

@Suite struct `Names of emoji in a text` {
  @Test(arguments: [
    (":tada:", "🎉"), ("done :tada: at last", "done 🎉 at last"), (":tada::rocket:", "🎉🚀"),
    ("(:+1:)", "(👍)"), (":tada:!", "🎉!"), ("a\n:fire:\nb", "a\n🔥\nb"), (":100:", "💯"),
    ("すごい:tada:です", "すごい🎉です"), ("é :heart:", "é ❤️"), ("::tada:", "::tada:"),
    ("`a` :eyes: `b`", "`a` 👀 `b`"), ("one ` :eyes:", "one ` 👀"),
    ("https://example.org/ :link:", "https://example.org/ 🔗"),
  ])
  func `become the emoji, also next to each other and to punctuation`(text: String, shown: String) {
    #expect(Emoji.replacingCodes(in: text) == shown)
  }

  @Test(arguments: [
    "", ":", "::", ":::", ":tada", "tada:", ":no_such_name:", "a:b:c", "12:30:45", "1:100:2",
    "std::x::y", "a:x:b", "x:tada:", ":tada:x", "_:tada:", ":TADA:", ": tada :", "`:tada:`",
    "``a ` :tada:``", "```\n:tada:\n```", "https://example.org/:tada:/x", "http://[::1:100:]/",
    ":tada:100", "key:fire:ice", "::1", "fe80::x:",
  ])
  func `stay where they are none: unknown ones, code, links, times`(text: String) {
    #expect(Emoji.replacingCodes(in: text) == text)
  }

  @Test func `cost no more than a longer text should`() {
    let text = String(repeating: "`:a ``:", count: 9000)
    #expect(Emoji.replacingCodes(in: text).utf8.count <= text.utf8.count)
  }

  @Test func `are replaced in what is sent, replied and edited, and kept in the history of it`() {
    var harness = Harness.talking()
    harness.entry(1, "hello")
    harness.type("well done :tada:")
    harness.press(Key(.enter))
    harness.acknowledge(harness.sent[0], seq: 2)
    harness.press(Key(.up))
    harness.type(" :rocket:")
    harness.press(Key(.enter))
    harness.type("/me is :fire:")
    harness.press(Key(.enter))
    #expect(
      harness.sent.map { $0.asEntry.text }
        == ["well done 🎉", "well done 🎉 🚀", "* ada is 🔥"])
    harness.press(Key(.character("p"), .control))
    #expect(harness.chat.composer.text == "/me is :fire:")
  }

  @Test func `count as what they become where the relay limits the length`() {
    var harness = Harness.talking()
    harness.chat.textLimitBytes = 8
    harness.type(":tada::tada:")
    harness.press(Key(.enter))
    #expect(harness.sent.map { $0.asEntry.text } == ["🎉🎉"])
  }
}

@Suite struct `Choosing a reaction` {
  private var reacting: Harness {
    var harness = Harness.talking()
    harness.entry(1, "hello")
    harness.press(Key(.up, .shift), Key(.character("+")))
    return harness
  }

  private func isLast(_ harness: Harness, _ emoji: String) -> Bool {
    guard let last = harness.sent.last else { return false }
    return last == .init(room: Harness.room, id: last.id, react: 1, emoji: emoji, isOn: true)
  }

  private func choices(_ harness: Harness) -> [String] {
    guard case .reactions(_, let query) = harness.chat.overlay else { return [] }
    return harness.chat.reactionChoices(for: query).map(\.emoji)
  }

  @Test func `begins with the usual ones, which digits choose`() {
    var harness = reacting
    #expect(choices(harness) == Emoji.quick)
    harness.press(Key(.character("4")))
    #expect(isLast(harness, "🎉"))
    #expect(harness.chat.overlay == nil)
  }

  @Test func `goes on with those whose name is typed`() {
    var harness = reacting
    harness.type("roc")
    #expect(choices(harness).contains("🚀"))
    harness.type("ket")
    #expect(choices(harness) == ["🚀"])
    harness.press(Key(.backspace), Key(.character("e")), Key(.enter))
    harness.press(Key(.backspace))
    #expect(harness.sent.last == nil, "nothing has this name")
    harness.press(Key(.enter))
    #expect(isLast(harness, "🚀"))
  }

  @Test func `moves through the found ones, and colons around a name do not matter`() {
    var harness = reacting
    harness.type(":heart:")
    #expect(choices(harness).first == "❤️")
    harness.press(Key(.down), Key(.enter))
    #expect(!isLast(harness, "❤️"))
    #expect(harness.sent.count == 1)
  }

  @Test func `left and right move along the usual ones, and the cursor within a name`() throws {
    var harness = reacting
    harness.press(Key(.right), Key(.right), Key(.left), Key(.enter))
    #expect(isLast(harness, Emoji.quick[1]))
    harness = reacting
    harness.press(Key(.left), Key(.enter))
    #expect(isLast(harness, try #require(Emoji.quick.last)))
    harness = reacting
    harness.type("hert")
    harness.press(Key(.left), Key(.left))
    harness.type("a")
    guard case .reactions(_, let query) = harness.chat.overlay else {
      Issue.record("the list has gone")
      return
    }
    #expect(query.text == "heart")
    harness.press(Key(.down), Key(.right))
    #expect(harness.chat.overlay == .reactions(selected: 1, query: query.moved(.right)))
    #expect(harness.chat.hints.map(\.what) == ["react", "up", "down", "close"])
  }

  @Test func `takes an emoji itself, and a paste chooses nothing`() {
    var harness = reacting
    harness.take(.input(.paste("4")))
    #expect(harness.sent.isEmpty)
    harness.press(Key(.character("u"), .control))
    harness.take(.input(.paste("🧑‍🚀")))
    #expect(choices(harness) == ["🧑‍🚀"])
    harness.press(Key(.enter))
    #expect(isLast(harness, "🧑‍🚀"))
  }

  @Test func `a digit is text within a name, and Esc closes`() {
    var harness = reacting
    harness.type(":1")
    #expect(harness.sent.isEmpty)
    #expect(choices(harness).contains("🥇"))
    harness.press(Key(.escape))
    #expect(harness.chat.overlay == nil)
    #expect(harness.sent.isEmpty)
  }

  @Test func `is drawn as a list with names, of which the mouse chooses one`() throws {
    var harness = reacting
    harness.type("fire")
    let drawing = harness.chat.draw(.plain)
    let rows = (0..<30).map { drawing.grid.text(row: $0) }
    let row = try #require(rows.firstIndex { $0.contains("🔥 fire") })
    #expect(rows.contains { $0.contains("› fire") })
    let target = drawing.targets.last { $0.target == .choice(0) }
    #expect(target?.rect.row == row)
    let place = try #require(target?.rect)
    harness.take(
      .input(
        .mouse(
          Mouse(.press, .left, at: Position(column: place.column, row: row)))))
    #expect(isLast(harness, "🔥"))
  }
}

extension LineEditor {
  fileprivate func moved(_ command: Command) -> LineEditor {
    var editor = self
    _ = editor.perform(command)
    return editor
  }
}
