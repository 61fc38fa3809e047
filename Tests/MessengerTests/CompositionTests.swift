import Client
import Messenger
import Terminal
import Testing
import Wire

@Suite struct `The composer` {
  @Test func `does not confirm or choose anything when text is pasted`() {
    var harness = Harness.talking()
    harness.type("mine")
    harness.press(Key(.enter))
    harness.acknowledge(harness.sent[0], seq: 1)
    harness.press(Key(.up, .control), Key(.character("d")))
    harness.take(.input(.paste("y")))
    #expect(harness.sent.count == 1)
    #expect(harness.chat.overlay != nil)
  }

  @Test func `finds its message even if it is no longer loaded`() {
    var harness = Harness.talking()
    harness.entry(1, "old")
    harness.press(Key(.up, .control), Key(.character("r")))
    harness.type("an answer")
    for seq in 2...2100 { harness.entry(Int64(seq), "more") }
    #expect(harness.texts.first != "old")
    harness.press(Key(.enter))
    #expect(harness.sent.last?.reference == .reply(to: 1))
  }

  @Test func `can edit a message that is no longer loaded`() {
    var harness = Harness.talking()
    harness.type("old")
    harness.press(Key(.enter))
    harness.acknowledge(harness.sent[0], seq: 1)
    harness.press(Key(.up))
    harness.type("er")
    for seq in 2...2100 { harness.entry(Int64(seq), "more") }
    harness.press(Key(.enter))
    #expect(harness.sent.last?.kind == .edit)
    #expect(harness.chat.composer.isEmpty)
  }

  @Test func `closes overlays when another conversation is opened`() {
    var harness = Harness.talking()
    harness.entry(1, "hello")
    harness.press(Key(.up, .control), Key(.enter))
    #expect(harness.chat.overlay == .actions(selected: 0))
    harness.open("general")
    #expect(harness.chat.overlay == nil)
  }

  @Test func `waits until the user is known`() {
    var harness = Harness()
    harness.chat.user = nil
    harness.open("general")
    harness.type("hello")
    harness.press(Key(.enter))
    #expect(harness.sent.isEmpty)
    #expect(harness.chat.composer.text == "hello")
    harness.welcome()
    harness.press(Key(.enter))
    #expect(harness.texts == ["hello"])
  }
}

@Suite struct `The list` {
  @Test func `shows the state of the last waiting message, not of an earlier one`() {
    var harness = Harness.talking()
    for text in ["one", "two"] {
      harness.type(text)
      harness.press(Key(.enter))
    }
    harness.acknowledge(harness.sent[0], seq: 1)
    #expect(harness.chat.conversations[Harness.room]?.last?.text == "two")
    #expect(harness.chat.conversations[Harness.room]?.last?.state == .waiting)
    harness.acknowledge(harness.sent[1], seq: 2)
    #expect(harness.chat.conversations[Harness.room]?.last?.state == .sent)
    #expect(harness.chat.conversations[Harness.room]?.last?.seq == 2)
  }
}

@Suite struct `A message that was changed twice` {
  @Test func `is not shown in its first form when that arrives again`() {
    var harness = Harness.talking()
    harness.entry(1, from: "ada", id: "x", "a")
    for more in ["b", "c"] {
      harness.press(Key(.up))
      harness.type(more)
      harness.press(Key(.enter))
    }
    #expect(harness.texts == ["abc"])
    harness.entry(2, from: "ada", harness.sent[0])
    harness.acknowledge(harness.sent[0], seq: 2)
    #expect(harness.texts == ["abc"])
    harness.entry(3, from: "ada", harness.sent[1])
    #expect(harness.texts == ["abc"])
  }
}
