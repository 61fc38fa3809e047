import Terminal
import Testing
import Wire

@testable import Messenger

@Suite struct `Leaving a conversation` {
  private func left(_ harness: inout Harness, _ room: String = Harness.room) {
    harness.press(Key(.character("x"), .alt))
    #expect(harness.chat.overlay == .confirmLeaving(room))
    harness.press(Key(.character("y")))
  }

  @Test func `removes it from the list and from this machine, after a question`() {
    var harness = Harness.talking()
    harness.press(Key(.character("x"), .alt), Key(.escape))
    #expect(harness.chat.conversations[Harness.room] != nil)
    left(&harness)
    #expect(harness.effects.contains(.leave(Harness.room)))
    #expect(harness.chat.timeline == nil)
    #expect(!harness.chat.listed.contains(Harness.room))
  }

  @Test func `keeps a person of the directory, without what was said`() {
    var harness = Harness.talking()
    harness.see(
      .people(
        .init(
          people: [
            .init(
              user: "bo", name: "Bo", avatar: nil, presence: .offline, lastSeen: nil, isBot: false,
              room: Harness.room)
          ], next: nil, source: "file", asOf: 1)))
    harness.entry(1, "hello")
    left(&harness)
    #expect(harness.chat.conversations[Harness.room]?.title == "Bo")
    #expect(harness.chat.conversations[Harness.room]?.last == nil)
  }

  @Test func `keeps a room that the relay offers, without what was said`() {
    var harness = Harness.talking()
    harness.see(
      .rooms(
        [
          .init(
            room: "general", title: "General", head: 0, read: 0, unread: 0, listed: true, peer: nil,
            last: nil)
        ], next: nil))
    harness.open("general")
    left(&harness, "general")
    #expect(harness.chat.conversations["general"]?.title == "General")
    #expect(harness.chat.listed.contains("general"))
  }

  @Test func `waits for messages that are on their way`() {
    var harness = Harness.talking()
    harness.type("hello")
    harness.press(Key(.enter), Key(.character("x"), .alt))
    #expect(harness.chat.overlay == nil)
    #expect(harness.chat.notice?.isError == true)
  }

  @Test func `a name that was mistyped goes without a connection`() {
    var harness = Harness.talking()
    harness.lose()
    harness.open("tae")
    harness.press(Key(.character("x"), .alt), Key(.character("y")))
    #expect(harness.chat.conversations["tae"] == nil)
  }
}

@Suite struct `Marks in the list` {
  @Test func `a conversation marked unread has a badge until it is opened`() {
    var harness = Harness.talking()
    harness.press(Key(.character("u"), .alt))
    #expect(harness.chat.timeline == nil)
    #expect(harness.chat.conversations[Harness.room]?.isMarkedUnread == true)
    harness.chat.prepareToDraw()
    #expect(picture(harness.chat.draw(.dark())).contains(" • "))
    harness.press(Key(.down, [.alt, .shift]))
    #expect(harness.chat.timeline?.room == Harness.room)
    #expect(harness.chat.conversations[Harness.room]?.isMarkedUnread == false)
  }

  @Test func `a pinned conversation stays at the top`() {
    var harness = Harness.talking()
    harness.entry(1, "hello")
    harness.open("zoo")
    harness.press(Key(.character("p"), .alt))
    harness.chat.prepareToDraw()
    #expect(harness.chat.listed.first == "zoo")
    harness.press(Key(.character("p"), .alt))
    harness.chat.prepareToDraw()
    #expect(harness.chat.listed.first == Harness.room)
  }
}

@Suite struct `A message that waits` {
  private func waiting() -> Harness {
    var harness = Harness.talking()
    harness.lose()
    harness.type("helo")
    harness.press(Key(.enter))
    return harness
  }

  @Test func `is what ↑ takes, back into the composer`() throws {
    var harness = waiting()
    harness.press(Key(.up))
    let id = try #require(harness.sent.first?.id)
    #expect(harness.effects.last == .takeBack(room: Harness.room, id: id, edits: true))
    harness.take(.takenBack(room: Harness.room, id: id, edits: true))
    #expect(harness.texts == [])
    #expect(harness.chat.composer.text == "helo")
    harness.press(Key(.backspace))
    harness.type("lo")
    harness.press(Key(.enter))
    #expect(harness.texts == ["hello"])
    #expect(harness.sent.count == 2)
  }

  @Test func `is said to be unconfirmed, whichever action it does not have yet`() {
    var harness = waiting()
    harness.press(Key(.up, .shift))
    for key: Character in ["r", "+", "f", "d"] {
      harness.press(Key(.character(key)))
      #expect(harness.chat.notice?.text == "The relay has not confirmed this message yet.")
    }
  }

  @Test func `that was sent stays, and says why`() {
    var harness = waiting()
    harness.press(Key(.up))
    harness.take(.failed("sent already"))
    #expect(harness.texts == ["helo"])
    #expect(harness.chat.notice?.text == "sent already")
  }

  @Test func `can be given up`() throws {
    var harness = waiting()
    harness.press(Key(.up, .shift), Key(.character("x")))
    let id = try #require(harness.sent.first?.id)
    harness.take(.takenBack(room: Harness.room, id: id, edits: false))
    #expect(harness.texts == [])
    #expect(harness.chat.composer.isEmpty)
  }

  @Test func `is a reply again when it comes back`() throws {
    var harness = Harness.talking()
    harness.entry(1, "question")
    harness.lose()
    harness.press(Key(.up, .shift), Key(.character("r")))
    harness.type("answer")
    harness.press(Key(.enter), Key(.up))
    let id = try #require(harness.sent.first?.id)
    harness.take(.takenBack(room: Harness.room, id: id, edits: true))
    harness.press(Key(.enter))
    #expect(harness.sent.last?.asEntry.replyTo == 1)
  }
}
