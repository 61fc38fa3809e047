import Client
import Messenger
import Terminal
import Testing
import Wire

@Suite struct `The composer` {
  @Test func `confirms and chooses nothing when it is pasted`() {
    var desk = Desk.talking()
    desk.type("mine")
    desk.press(Key(.enter))
    desk.acknowledge(desk.sent[0], seq: 1)
    desk.press(Key(.up, .control), Key(.character("d")))
    desk.take(.input(.paste("y")))
    #expect(desk.sent.count == 1)
    #expect(desk.chat.overlay != nil)
  }

  @Test func `finds its message also when that is not loaded any more`() {
    var desk = Desk.talking()
    desk.entry(1, "old")
    desk.press(Key(.up, .control), Key(.character("r")))
    desk.type("an answer")
    for seq in 2...2100 { desk.entry(Int64(seq), "more") }
    #expect(desk.texts.first != "old")
    desk.press(Key(.enter))
    #expect(desk.sent.last?.reference == .reply(to: 1))
  }

  @Test func `is an edit of a message that is not loaded any more`() {
    var desk = Desk.talking()
    desk.type("old")
    desk.press(Key(.enter))
    desk.acknowledge(desk.sent[0], seq: 1)
    desk.press(Key(.up))
    desk.type("er")
    for seq in 2...2100 { desk.entry(Int64(seq), "more") }
    desk.press(Key(.enter))
    #expect(desk.sent.last?.kind == .edit)
    #expect(desk.chat.composer.isEmpty)
  }

  @Test func `closes what lies over the screen when another conversation is opened`() {
    var desk = Desk.talking()
    desk.entry(1, "hello")
    desk.press(Key(.up, .control), Key(.enter))
    #expect(desk.chat.overlay == .actions(selected: 0))
    desk.open("general")
    #expect(desk.chat.overlay == nil)
  }

  @Test func `waits until it is known who writes`() {
    var desk = Desk()
    desk.chat.user = nil
    desk.open("general")
    desk.type("hello")
    desk.press(Key(.enter))
    #expect(desk.sent.isEmpty)
    #expect(desk.chat.composer.text == "hello")
    desk.welcome()
    desk.press(Key(.enter))
    #expect(desk.texts == ["hello"])
  }
}

@Suite struct `The list` {
  @Test func `says of the last that waits, not of one before it, how far it has come`() {
    var desk = Desk.talking()
    for text in ["one", "two"] {
      desk.type(text)
      desk.press(Key(.enter))
    }
    desk.acknowledge(desk.sent[0], seq: 1)
    #expect(desk.chat.conversations[Desk.room]?.last?.text == "two")
    #expect(desk.chat.conversations[Desk.room]?.last?.state == .waiting)
    desk.acknowledge(desk.sent[1], seq: 2)
    #expect(desk.chat.conversations[Desk.room]?.last?.state == .sent)
    #expect(desk.chat.conversations[Desk.room]?.last?.seq == 2)
  }
}

@Suite struct `What was changed twice` {
  @Test func `does not show the first again when that comes back`() {
    var desk = Desk.talking()
    desk.entry(1, from: "ada", id: "x", "a")
    for more in ["b", "c"] {
      desk.press(Key(.up))
      desk.type(more)
      desk.press(Key(.enter))
    }
    #expect(desk.texts == ["abc"])
    desk.entry(2, from: "ada", desk.sent[0])
    desk.acknowledge(desk.sent[0], seq: 2)
    #expect(desk.texts == ["abc"])
    desk.entry(3, from: "ada", desk.sent[1])
    #expect(desk.texts == ["abc"])
  }
}
