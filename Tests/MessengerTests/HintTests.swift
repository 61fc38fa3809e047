import Terminal
import Testing
import Wire

@testable import Messenger

@Suite struct `The keys at the bottom` {
  private func hints(_ harness: Harness) -> [String] { harness.chat.hints.map(\.what) }

  @Test func `name only actions that the selected message has`() {
    var harness = Harness.talking()
    harness.entry(1, "see https://example.org")
    harness.press(Key(.up, .shift))
    #expect(hints(harness).contains("open link") && hints(harness).contains("reply"))
    #expect(!hints(harness).contains("edit") && !hints(harness).contains("delete"))
    harness.entry(2, from: "ada", "mine")
    harness.press(Key(.down))
    #expect(hints(harness).contains("edit") && hints(harness).contains("delete"))
    #expect(!hints(harness).contains("open link") && !hints(harness).contains("resend"))
  }

  @Test func `fit what is being done`() {
    var harness = Harness.talking()
    harness.entry(1, "hello")
    #expect(hints(harness).prefix(2) == ["send", "new line"])
    harness.press(Key(.character("f"), .control))
    #expect(hints(harness) == ["older match", "newer match", "close"])
    harness.press(Key(.escape), Key(.function(1)))
    #expect(hints(harness) == ["up", "down", "next page", "close"])
    harness.press(Key(.escape), Key(.up, .shift))
    harness.type("r")
    #expect(hints(harness).prefix(3) == ["reply", "new line", "no reply"])
    harness.press(Key(.escape))
    harness.type("mine")
    harness.press(Key(.enter))
    harness.acknowledge(harness.sent[0], seq: 2)
    harness.press(Key(.up))
    #expect(hints(harness).prefix(3) == ["save", "new line", "cancel"])
    harness.press(Key(.escape), Key(.up, .shift))
    harness.type("d")
    #expect(hints(harness) == ["delete", "keep"])
  }

  @Test func `letters are text if no message is selected`() {
    var harness = Harness.talking()
    harness.entry(1, from: "ada", "mine")
    harness.press(Key(.up, .shift))
    #expect(harness.chat.pane == .messages)
    // The selected message has gone, as one that is no longer kept does.
    harness.chat.timeline?.messages[0].key.id = "another"
    harness.type("down")
    #expect(harness.chat.composer.text == "down")
    #expect(harness.chat.overlay == nil)
  }

  @Test func `a word is not typed in parts while a message is selected`() {
    var harness = Harness.talking()
    harness.entry(1, from: "ada", "mine")
    harness.press(Key(.up, .shift))
    harness.type("hush")
    #expect(harness.chat.composer.isEmpty)
    #expect(harness.chat.pane == .messages)
    #expect(harness.chat.notice?.text.contains("Esc goes back to the composer.") == true)
    harness.press(Key(.escape))
    harness.type("hush")
    #expect(harness.chat.composer.text == "hush")
  }

  @Test func `a word that begins with d deletes nothing`() {
    var harness = Harness.talking()
    harness.entry(1, from: "ada", "mine")
    harness.press(Key(.up, .shift))
    harness.type("day")
    #expect(harness.chat.overlay == nil)
    #expect(harness.sent.isEmpty)
  }

  @Test func `a paste is written, also while a message is selected`() {
    var harness = Harness.talking()
    harness.entry(1, "theirs")
    harness.press(Key(.up, .shift))
    harness.take(.input(.paste("rude words")))
    #expect(harness.chat.composer.text == "rude words")
  }

  @Test func `End in the list goes to its last row, and stays there`() {
    var harness = Harness()
    harness.welcome()
    for name in ["a", "b", "c"] {
      harness.see(
        .rooms(
          [
            .init(
              room: name, title: name, head: 0, read: 0, unread: 0, listed: true, peer: nil,
              last: nil)
          ],
          next: nil))
    }
    harness.chat.enter(.list)
    harness.chat.prepareToDraw()
    harness.press(Key(.end))
    harness.chat.prepareToDraw()
    #expect(harness.chat.listSelection == "c")
    harness.press(Key(.home))
    harness.chat.prepareToDraw()
    #expect(harness.chat.listSelection == "a")
  }
}

@Suite struct `The window's title` {
  @Test func `names the conversation, and counts what is unread and not muted`() {
    var harness = Harness()
    #expect(harness.chat.windowTitle == "wschat")
    harness = .talking()
    harness.chat.conversations[Harness.room]?.title = "Bo"
    #expect(harness.chat.windowTitle == "Bo – wschat")
    harness.chat.addConversation("general")
    harness.chat.conversations["general"]?.unread = 3
    #expect(harness.chat.windowTitle == "(3) Bo – wschat")
    harness.open("general")
    #expect(harness.chat.windowTitle == "(3) #general – wschat")
    harness.chat.conversations["general"]?.isMuted = true
    #expect(harness.chat.windowTitle == "#general – wschat")
  }
}

@Suite struct `The beginning of a conversation` {
  private func top(_ harness: Harness) -> Bool {
    picture(harness.chat.draw(.dark())).contains("the conversation begins here")
  }

  @Test func `is shown above the user's own first message, before and after its ack`() {
    var harness = Harness()
    harness.welcome()
    harness.open(Harness.room)
    // Nothing is in the archive, which does not say that the relay has nothing.
    harness.take(.page(room: Harness.room, before: nil, [], isComplete: false))
    harness.joined()
    harness.type("first")
    harness.press(Key(.enter))
    #expect(top(harness))
    harness.acknowledge(harness.sent[0], seq: 1)
    #expect(top(harness))
  }

  @Test func `is not shown while it is unknown what precedes the first message`() {
    var harness = Harness()
    harness.open(Harness.room)
    harness.take(.page(room: Harness.room, before: nil, [], isComplete: false))
    harness.type("written offline")
    harness.press(Key(.enter))
    #expect(!top(harness))
    harness.welcome()
    harness.joined(head: 40, after: 39)
    harness.take(.page(room: Harness.room, before: nil, [], isComplete: false))
    #expect(!top(harness))
  }
}
