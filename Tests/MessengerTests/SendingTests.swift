import Client
import Messenger
import Terminal
import Testing
import Wire

@Suite struct `A sent message` {
  @Test func `is shown immediately, and then its state`() throws {
    var harness = Harness.talking()
    harness.type("hello")
    harness.press(Key(.enter))
    #expect(harness.texts == ["hello"])
    #expect(harness.states == [.waiting])
    let send = try #require(harness.sent.first)
    #expect(send.kind == .text)
    harness.acknowledge(send, seq: 1)
    #expect(harness.states == [.sent])
    harness.entry(1, from: "ada", id: send.id, "hello")
    #expect(harness.texts == ["hello"])
    harness.receipt("bo", received: 1, read: 0)
    #expect(harness.states == [.delivered])
    harness.receipt("bo", received: 1, read: 1)
    #expect(harness.states == [.read])
    #expect(harness.chat.composer.isEmpty)
  }

  @Test func `is one message, whichever of ack and entry arrives first`() throws {
    var harness = Harness.talking()
    harness.type("a")
    harness.press(Key(.enter))
    let send = try #require(harness.sent.first)
    harness.entry(1, from: "ada", id: send.id, "a")
    #expect(harness.states == [.sent])
    harness.acknowledge(send, seq: 1)
    #expect(harness.texts == ["a"])
  }

  @Test func `is at its place in the log, however it arrived`() throws {
    var harness = Harness.talking()
    harness.type("mine")
    harness.press(Key(.enter))
    harness.type("another")
    harness.press(Key(.enter))
    // It is the third of the log, and the two before it arrive after its ack.
    harness.acknowledge(harness.sent[0], seq: 3)
    harness.entry(1, "theirs")
    harness.entry(2, "theirs too")
    #expect(harness.texts == ["theirs", "theirs too", "mine", "another"])
    #expect(harness.states == [nil, nil, .sent, .waiting])
  }

  @Test func `waits while there is no relay, in order, and is sent automatically`() {
    var harness = Harness.talking()
    harness.lose()
    harness.type("one")
    harness.press(Key(.enter))
    harness.type("two")
    harness.press(Key(.enter))
    #expect(harness.sent.map(\.id).count == 2)
    #expect(harness.states == [.waiting, .waiting])
    harness.welcome()
    // The client below sends again; the chat does not, or it would be sent twice.
    #expect(harness.sent.count == 2)
  }

  @Test func `by an earlier run is shown again, once`() throws {
    var harness = Harness()
    let send = ClientMessage.Send(room: Harness.room, id: "old-1", text: "from yesterday")
    harness.take(
      .restored(
        .init(
          conversations: [Conversation(room: Harness.room, title: "Bo", peer: "bo")], names: [:],
          outgoing: [.init(send: send, at: harness.now)])))
    harness.open(Harness.room)
    #expect(harness.texts == ["from yesterday"])
    #expect(harness.states == [.waiting])
    harness.welcome()
    harness.joined(head: 1, after: 0)
    // The relay already had it: its ack was lost.
    harness.entry(1, from: "ada", id: "old-1", "from yesterday")
    harness.acknowledge(send, seq: 1)
    #expect(harness.texts == ["from yesterday"])
    #expect(harness.states == [.sent])
  }

  @Test func `as a forward by an earlier run shows its source`() {
    var harness = Harness()
    let original = Harness.entry(
      7, "bo", .init(room: Harness.room, id: "b", text: "a joke"), at: harness.now)
    let send = ClientMessage.Send(
      room: "general", id: "old-1", forward: .init(room: Harness.room, seq: 7, from: nil))
    harness.take(
      .restored(
        .init(
          conversations: [], names: [:], outgoing: [.init(send: send, at: harness.now)],
          originals: ["old-1": original])))
    harness.open("general")
    #expect(harness.texts == ["a joke"])
    #expect(harness.chat.timeline?.messages.last?.forwardedFrom == "bo")
  }

  @Test func `shows its state while there is no connection`() {
    var harness = Harness()
    var kept = Conversation(room: Harness.room, title: "Bo", peer: "bo")
    kept.head = 2
    kept.marks["bo"] = .init(received: 2, read: 1)
    kept.last = .init(seq: 2, from: "ada", text: "two", at: harness.now)
    harness.kept[Harness.room] = (1...2).map {
      Harness.entry(
        $0, "ada", .init(room: Harness.room, id: "\($0)", text: "\($0)"), at: harness.now)
    }
    harness.take(.restored(.init(conversations: [kept], names: [:], outgoing: [])))
    harness.open(Harness.room)
    #expect(harness.states == [.read, .delivered])
    #expect(harness.chat.conversations[Harness.room]?.last?.state == .delivered)
    // The reported state is kept for the next time.
    harness.effects = []
    harness.receipt("bo", received: 2, read: 2)
    #expect(harness.effects.contains(.save(Harness.room)))
  }

  @Test func `that was refused is marked, and can be retried or discarded`() throws {
    var harness = Harness.talking()
    harness.type("no")
    harness.press(Key(.enter))
    let send = try #require(harness.sent.first)
    let error = WireError(
      .forbidden, "You may not send here.", re: .send, room: send.room, id: send.id)
    harness.take(.client(.refused(send, error)))
    #expect(harness.states == [.failed("You may not send here.")])
    harness.press(Key(.up, .control), Key(.character("R")))
    #expect(harness.states == [.waiting])
    #expect(harness.chat.conversations[send.room]?.last?.state == .waiting)
    #expect(harness.effects.contains(.retry(send)))
    harness.take(.client(.refused(send, error)))
    harness.press(Key(.up, .control), Key(.character("x")))
    #expect(harness.texts.isEmpty)
    #expect(harness.effects.contains(.discard(room: send.room, id: send.id)))
  }

  @Test func `that was refused because another has its id does not change that message`()
    throws
  {
    var harness = Harness.talking()
    harness.type("two")
    harness.press(Key(.enter))
    let send = try #require(harness.sent.first)
    harness.entry(1, from: "ada", id: send.id, "one")
    let error = WireError(.idConflict, "Entry 1 has this id.", re: .send, id: send.id)
    harness.take(.client(.refused(send, error)))
    #expect(harness.texts == ["one"])
    #expect(harness.states == [.sent])
    #expect(harness.chat.notice?.text == "Entry 1 has this id.")
    #expect(harness.chat.notice?.isError == true)
  }

  @Test func `does not include a paste of several lines`() {
    var harness = Harness.talking()
    harness.take(.input(.paste("rm -rf\nls\n")))
    #expect(harness.sent.isEmpty)
    #expect(harness.chat.composer.text == "rm -rf\nls\n")
  }

  @Test func `that is too long for the relay stays in the composer`() {
    var harness = Harness()
    var limits = ServerMessage.Welcome.Limits()
    limits.textBytes = 10
    harness.take(
      .client(
        .welcomed(
          .init(
            user: "ada", session: "s", server: "relay/1", time: 0, heartbeatSeconds: 30,
            limits: limits))))
    harness.open(Harness.room)
    harness.type("12345678901")
    harness.press(Key(.enter))
    #expect(harness.sent.isEmpty)
    #expect(harness.chat.composer.text == "12345678901")
    #expect(harness.chat.notice?.isError == true)
  }
}

@Suite struct `Text in the composer` {
  @Test func `as an answer is kept when another conversation is opened`() {
    var harness = Harness.talking()
    harness.entry(1, "shall we?")
    harness.press(Key(.up, .control), Key(.character("r")))
    harness.type("perhaps")
    harness.open("general")
    #expect(harness.chat.conversations[Harness.room]?.draft == "perhaps")
    harness.open(Harness.room)
    #expect(harness.chat.composer.text == "perhaps")
  }

  @Test func `is shown again after an edit of another message`() throws {
    var harness = Harness.talking()
    harness.entry(1, from: "ada", id: "x", "helo")
    harness.type("half a thought")
    harness.press(Key(.up, .control), Key(.character("e")))
    #expect(harness.chat.composer.text == "helo")
    harness.type("!")
    harness.press(Key(.enter))
    #expect(harness.sent.last?.kind == .edit)
    #expect(harness.chat.composer.text == "half a thought")
    harness.press(Key(.up, .control), Key(.character("e")), Key(.escape))
    #expect(harness.chat.composer.text == "half a thought")
  }

  @Test func `stays when an answer becomes a message of its own`() {
    var harness = Harness.talking()
    harness.entry(1, "shall we?")
    harness.press(Key(.up, .control), Key(.character("r")))
    harness.type("well")
    harness.press(Key(.escape))
    #expect(harness.chat.composition == .new)
    #expect(harness.chat.composer.text == "well")
  }

  @Test func `is sent without the line break at the end of a pasted line`() {
    var harness = Harness.talking()
    harness.take(.input(.paste("\n  indented\nline\n\n")))
    harness.press(Key(.enter))
    #expect(harness.texts == ["  indented\nline"])
  }
}

@Suite struct `Replies, edits and reactions` {
  @Test func `shows why an action is not possible`() {
    var harness = Harness.talking()
    harness.entry(1, "theirs")
    harness.press(Key(.up, .control), Key(.character("d")))
    #expect(harness.chat.overlay == nil)
    #expect(harness.chat.notice?.text == "You can only change your own messages.")
  }

  @Test func `an edit, a reaction and a deletion are seen immediately and stay`() throws {
    var harness = Harness.talking()
    harness.type("helo")
    harness.press(Key(.enter))
    harness.entry(1, from: "ada", id: harness.sent[0].id, "helo")
    harness.acknowledge(harness.sent[0], seq: 1)
    harness.press(Key(.up))
    #expect(harness.chat.composer.text == "helo")
    harness.press(Key(.backspace))
    harness.type("lo")
    harness.press(Key(.enter))
    #expect(harness.texts == ["hello"])
    #expect(harness.sent[1].kind == .edit)
    harness.entry(2, from: "ada", harness.sent[1])
    harness.acknowledge(harness.sent[1], seq: 2)
    #expect(harness.chat.timeline?.messages.first?.isEdited == true)
    harness.entry(
      3, from: "bo", .init(room: Harness.room, id: "r", react: 1, emoji: "🎉", isOn: true))
    #expect(harness.chat.timeline?.messages.first?.reactions.first?.users == ["bo"])
    harness.press(Key(.up, .control), Key(.character("d")))
    #expect(harness.chat.overlay != nil)
    harness.press(Key(.enter))
    #expect(harness.sent[2].kind == .delete)
    #expect(harness.chat.timeline?.messages.first?.isDeleted == true)
  }

  @Test func `the count of very many reactions includes the unnamed ones`() {
    var harness = Harness.talking()
    harness.kept["many"] = [
      Entry(
        room: "many", seq: 1, id: "1", from: "bo", at: 1, kind: .text,
        body: Array(
          #""text":"hi","reactions":{"👍":["bo"]},"reactions_more":{"👍":41}"#.utf8))
    ]
    harness.open("many")
    #expect(harness.chat.timeline?.messages.first?.reactions.first?.count == 42)
  }

  @Test func `a refused edit is taken back`() throws {
    var harness = Harness.talking()
    harness.kept[Harness.room] = [
      Harness.entry(1, "ada", .init(room: Harness.room, id: "x", text: "first"), at: harness.now)
    ]
    harness.entry(1, from: "ada", id: "x", "first")
    harness.press(Key(.up))
    harness.type("!")
    harness.press(Key(.enter))
    #expect(harness.texts == ["first!"])
    let edit = try #require(harness.sent.last)
    harness.take(.client(.refused(edit, WireError(.noSuchEntry, "It is gone.", id: edit.id))))
    #expect(harness.texts == ["first"])
  }

  @Test func `a reply quotes its message`() throws {
    var harness = Harness.talking()
    harness.entry(1, "shall we?")
    harness.press(Key(.up, .control), Key(.character("r")))
    harness.type("yes")
    harness.press(Key(.enter))
    #expect(harness.sent.last?.reference == .reply(to: 1))
    #expect(harness.chat.timeline?.messages.last?.quote?.text == "shall we?")
  }
}
