import Terminal
import Testing
import Wire

@testable import Messenger

@Suite struct `Writing in an editor` {
  private let key = Key(.character("x"), .control)

  private var writing: Harness {
    var harness = Harness.talking()
    harness.type("a draft")
    harness.press(key)
    return harness
  }

  @Test func `begins with the text of the composer, and ends there, unsent`() {
    var harness = writing
    #expect(harness.effects.contains(.edit("a draft", limitBytes: 65_536)))
    harness.take(.edited("a draft\nand more\n"))
    #expect(harness.chat.composer.text == "a draft\nand more")
    #expect(harness.sent.isEmpty)
    harness.press(Key(.enter))
    #expect(harness.sent.last?.asEntry.text == "a draft\nand more")
  }

  @Test func `that was refused leaves the text and says why`() {
    var harness = writing
    harness.take(.notEdited("The editor ended with exit code 1; the text is unchanged."))
    #expect(harness.chat.composer.text == "a draft")
    #expect(harness.chat.notice?.isError == true)
  }

  @Test func `with nothing left in it, can be brought back`() {
    var harness = writing
    harness.take(.edited("\n"))
    #expect(harness.chat.composer.isEmpty)
    harness.press(Key(.character("z"), .alt))
    #expect(harness.chat.composer.text == "a draft")
  }

  @Test func `without a change, the cursor stays as it was`() {
    var harness = Harness.talking()
    harness.type("a draft")
    harness.press(Key(.left), key)
    harness.take(.edited("a draft\n"))
    #expect(harness.chat.composer.cursor == 6)
  }

  @Test func `control characters in its file are dropped`() {
    var harness = writing
    harness.take(.edited("one\u{1B}[2J\u{7}\r\ntwo"))
    #expect(harness.chat.composer.text == "one[2J\ntwo")
  }

  @Test func `a reply and an edit stay what they are`() {
    var harness = Harness.talking()
    harness.entry(1, "hello")
    harness.press(Key(.up, .control), Key(.character("r")), key)
    harness.take(.edited("an answer\n"))
    harness.press(Key(.enter))
    #expect(harness.sent.last?.reference == .reply(to: 1))
  }

  @Test func `covers what arrives: it is unread and notified until the screen is back`() {
    var harness = Harness.talking()
    harness.take(.input(.focus(true)))
    harness.press(key)
    harness.effects = []
    harness.entry(1, "look at this")
    #expect(harness.chat.open?.unread == 1)
    #expect(
      !harness.effects.contains {
        if case .mark(_, _, let read) = $0 { read == 1 } else { false }
      })
    #expect(harness.effects.contains { if case .notify = $0 { true } else { false } })
    harness.take(.edited(""))
    #expect(harness.chat.open?.unread == 0)
    #expect(
      harness.effects.contains {
        if case .mark(_, _, let read) = $0 { read == 1 } else { false }
      })
  }

  @Test func `comes back to its own conversation, should another be open`() {
    var harness = writing
    harness.open("general")
    harness.take(.edited("for bo\n"))
    #expect(harness.chat.composer.isEmpty)
    harness.open(Harness.room)
    #expect(harness.chat.composer.text == "for bo")
  }

  @Test func `what nobody asked for is not taken`() {
    var harness = Harness.talking()
    harness.type("mine")
    harness.take(.edited("not mine"))
    #expect(harness.chat.composer.text == "mine")
  }

  @Test func `needs a conversation`() {
    var harness = Harness()
    harness.welcome()
    harness.chat.pane = .composer
    harness.press(key)
    #expect(!harness.effects.contains { if case .edit = $0 { true } else { false } })
    #expect(harness.chat.notice?.text == "Choose a conversation first.")
  }
}
