import Client
import Messenger
import Terminal
import Testing
import Wire

@Suite struct `What is sent` {
  @Test func `is seen at once, and then how far it has come`() throws {
    var desk = Desk.talking()
    desk.type("hello")
    desk.press(Key(.enter))
    #expect(desk.texts == ["hello"])
    #expect(desk.states == [.waiting])
    let send = try #require(desk.sent.first)
    #expect(send.kind == .text)
    desk.acknowledge(send, seq: 1)
    #expect(desk.states == [.sent])
    desk.entry(1, from: "ada", id: send.id, "hello")
    #expect(desk.texts == ["hello"])
    desk.receipt("bo", received: 1, read: 0)
    #expect(desk.states == [.delivered])
    desk.receipt("bo", received: 1, read: 1)
    #expect(desk.states == [.read])
    #expect(desk.chat.composer.isEmpty)
  }

  @Test func `is one message, whichever of ack and entry comes first`() throws {
    var desk = Desk.talking()
    desk.type("a")
    desk.press(Key(.enter))
    let send = try #require(desk.sent.first)
    desk.entry(1, from: "ada", id: send.id, "a")
    #expect(desk.states == [.sent])
    desk.acknowledge(send, seq: 1)
    #expect(desk.texts == ["a"])
  }

  @Test func `stands where the log has it, however it came`() throws {
    var desk = Desk.talking()
    desk.type("mine")
    desk.press(Key(.enter))
    desk.type("another")
    desk.press(Key(.enter))
    // It is the third of the log, and the two before it come after its ack.
    desk.acknowledge(desk.sent[0], seq: 3)
    desk.entry(1, "theirs")
    desk.entry(2, "theirs too")
    #expect(desk.texts == ["theirs", "theirs too", "mine", "another"])
    #expect(desk.states == [nil, nil, .sent, .waiting])
  }

  @Test func `waits while there is no relay, in its order, and is sent by itself`() {
    var desk = Desk.talking()
    desk.lose()
    desk.type("one")
    desk.press(Key(.enter))
    desk.type("two")
    desk.press(Key(.enter))
    #expect(desk.sent.map(\.id).count == 2)
    #expect(desk.states == [.waiting, .waiting])
    desk.welcome()
    // The client below sends again; the chat does not, or it would be twice.
    #expect(desk.sent.count == 2)
  }

  @Test func `by an earlier run is there again, once`() throws {
    var desk = Desk()
    let send = ClientMessage.Send(room: Desk.room, id: "old-1", text: "from yesterday")
    desk.take(
      .restored(
        .init(
          conversations: [Conversation(room: Desk.room, title: "Bo", peer: "bo")], names: [:],
          outgoing: [.init(send: send, at: desk.now)])))
    desk.open(Desk.room)
    #expect(desk.texts == ["from yesterday"])
    #expect(desk.states == [.waiting])
    desk.welcome()
    desk.joined(head: 1, after: 0)
    // The relay had it already: its ack was lost.
    desk.entry(1, from: "ada", id: "old-1", "from yesterday")
    desk.acknowledge(send, seq: 1)
    #expect(desk.texts == ["from yesterday"])
    #expect(desk.states == [.sent])
  }

  @Test func `as a copy of another by an earlier run says what it is a copy of`() {
    var desk = Desk()
    let original = Desk.entry(
      7, "bo", .init(room: Desk.room, id: "b", text: "a joke"), at: desk.now)
    let send = ClientMessage.Send(
      room: "general", id: "old-1", forward: .init(room: Desk.room, seq: 7, from: nil))
    desk.take(
      .restored(
        .init(
          conversations: [], names: [:], outgoing: [.init(send: send, at: desk.now)],
          originals: ["old-1": original])))
    desk.open("general")
    #expect(desk.texts == ["a joke"])
    #expect(desk.chat.timeline?.messages.last?.forwardedFrom == "bo")
  }

  @Test func `shows how far it had come also while there is no relay`() {
    var desk = Desk()
    var kept = Conversation(room: Desk.room, title: "Bo", peer: "bo")
    kept.head = 2
    kept.marks["bo"] = .init(received: 2, read: 1)
    kept.last = .init(seq: 2, from: "ada", text: "two", at: desk.now)
    desk.kept[Desk.room] = (1...2).map {
      Desk.entry($0, "ada", .init(room: Desk.room, id: "\($0)", text: "\($0)"), at: desk.now)
    }
    desk.take(.restored(.init(conversations: [kept], names: [:], outgoing: [])))
    desk.open(Desk.room)
    #expect(desk.states == [.read, .delivered])
    #expect(desk.chat.conversations[Desk.room]?.last?.state == .delivered)
    // What is told now is kept for the next time.
    desk.effects = []
    desk.receipt("bo", received: 2, read: 2)
    #expect(desk.effects.contains(.save(Desk.room)))
  }

  @Test func `and refused is marked, and can be tried again or given up`() throws {
    var desk = Desk.talking()
    desk.type("no")
    desk.press(Key(.enter))
    let send = try #require(desk.sent.first)
    let error = WireError(
      .forbidden, "You may not send here.", re: "send", room: send.room, id: send.id)
    desk.take(.client(.refused(send, error)))
    #expect(desk.states == [.failed("You may not send here.")])
    desk.press(Key(.up, .control), Key(.character("R")))
    #expect(desk.states == [.waiting])
    #expect(desk.chat.conversations[send.room]?.last?.state == .waiting)
    #expect(desk.effects.contains(.retry(send)))
    desk.take(.client(.refused(send, error)))
    desk.press(Key(.up, .control), Key(.character("x")))
    #expect(desk.texts.isEmpty)
    #expect(desk.effects.contains(.discard(room: send.room, id: send.id)))
  }

  @Test func `is not what was pasted, however many lines that has`() {
    var desk = Desk.talking()
    desk.take(.input(.paste("rm -rf\nls\n")))
    #expect(desk.sent.isEmpty)
    #expect(desk.chat.composer.text == "rm -rf\nls\n")
  }

  @Test func `too long for the relay stays in the composer`() {
    var desk = Desk()
    var limits = ServerMessage.Welcome.Limits()
    limits.textBytes = 10
    desk.take(
      .client(
        .welcomed(
          .init(
            user: "ada", session: "s", server: "relay/1", time: 0, heartbeatSeconds: 30,
            limits: limits))))
    desk.open(Desk.room)
    desk.type("12345678901")
    desk.press(Key(.enter))
    #expect(desk.sent.isEmpty)
    #expect(desk.chat.composer.text == "12345678901")
    #expect(desk.chat.notice?.isError == true)
  }
}

@Suite struct `What is being written` {
  @Test func `as an answer is kept when another conversation is opened`() {
    var desk = Desk.talking()
    desk.entry(1, "shall we?")
    desk.press(Key(.up, .control), Key(.character("r")))
    desk.type("perhaps")
    desk.open("general")
    #expect(desk.chat.conversations[Desk.room]?.draft == "perhaps")
    desk.open(Desk.room)
    #expect(desk.chat.composer.text == "perhaps")
  }

  @Test func `is there again after another message was changed`() throws {
    var desk = Desk.talking()
    desk.entry(1, from: "ada", id: "x", "helo")
    desk.type("half a thought")
    desk.press(Key(.up, .control), Key(.character("e")))
    #expect(desk.chat.composer.text == "helo")
    desk.type("!")
    desk.press(Key(.enter))
    #expect(desk.sent.last?.kind == .edit)
    #expect(desk.chat.composer.text == "half a thought")
    desk.press(Key(.up, .control), Key(.character("e")), Key(.escape))
    #expect(desk.chat.composer.text == "half a thought")
  }

  @Test func `stays when an answer becomes a message of its own`() {
    var desk = Desk.talking()
    desk.entry(1, "shall we?")
    desk.press(Key(.up, .control), Key(.character("r")))
    desk.type("well")
    desk.press(Key(.escape))
    #expect(desk.chat.composition == .new)
    #expect(desk.chat.composer.text == "well")
  }

  @Test func `is sent without the line break that a pasted line ends with`() {
    var desk = Desk.talking()
    desk.take(.input(.paste("\n  indented\nline\n\n")))
    desk.press(Key(.enter))
    #expect(desk.texts == ["  indented\nline"])
  }
}

@Suite struct `What is said about a message` {
  @Test func `says why something cannot be done with it`() {
    var desk = Desk.talking()
    desk.entry(1, "theirs")
    desk.press(Key(.up, .control), Key(.character("d")))
    #expect(desk.chat.overlay == nil)
    #expect(desk.chat.notice?.text == "Only your own messages can be changed.")
  }

  @Test func `an edit, a reaction and a deletion are seen at once and stay`() throws {
    var desk = Desk.talking()
    desk.type("helo")
    desk.press(Key(.enter))
    desk.entry(1, from: "ada", id: desk.sent[0].id, "helo")
    desk.acknowledge(desk.sent[0], seq: 1)
    desk.press(Key(.up))
    #expect(desk.chat.composer.text == "helo")
    desk.press(Key(.backspace))
    desk.type("lo")
    desk.press(Key(.enter))
    #expect(desk.texts == ["hello"])
    #expect(desk.sent[1].kind == .edit)
    desk.entry(2, from: "ada", desk.sent[1])
    desk.acknowledge(desk.sent[1], seq: 2)
    #expect(desk.chat.timeline?.messages.first?.isEdited == true)
    desk.entry(3, from: "bo", .init(room: Desk.room, id: "r", react: 1, emoji: "🎉", isOn: true))
    #expect(desk.chat.timeline?.messages.first?.reactions.first?.users == ["bo"])
    desk.press(Key(.up, .control), Key(.character("d")))
    #expect(desk.chat.overlay != nil)
    desk.press(Key(.enter))
    #expect(desk.sent[2].kind == .delete)
    #expect(desk.chat.timeline?.messages.first?.isDeleted == true)
  }

  @Test func `of very many reactions those are counted that are not named`() {
    var desk = Desk.talking()
    desk.kept["many"] = [
      Entry(
        room: "many", seq: 1, id: "1", from: "bo", at: 1, kind: .text,
        body: Array(
          #""text":"hi","reactions":{"👍":["bo"]},"reactions_more":{"👍":41}"#.utf8))
    ]
    desk.open("many")
    #expect(desk.chat.timeline?.messages.first?.reactions.first?.count == 42)
  }

  @Test func `a refused edit is taken back`() throws {
    var desk = Desk.talking()
    desk.kept[Desk.room] = [
      Desk.entry(1, "ada", .init(room: Desk.room, id: "x", text: "first"), at: desk.now)
    ]
    desk.entry(1, from: "ada", id: "x", "first")
    desk.press(Key(.up))
    desk.type("!")
    desk.press(Key(.enter))
    #expect(desk.texts == ["first!"])
    let edit = try #require(desk.sent.last)
    desk.take(.client(.refused(edit, WireError(.noSuchEntry, "It is gone.", id: edit.id))))
    #expect(desk.texts == ["first"])
  }

  @Test func `a reply quotes what it answers`() throws {
    var desk = Desk.talking()
    desk.entry(1, "shall we?")
    desk.press(Key(.up, .control), Key(.character("r")))
    desk.type("yes")
    desk.press(Key(.enter))
    #expect(desk.sent.last?.reference == .reply(to: 1))
    #expect(desk.chat.timeline?.messages.last?.quote?.text == "shall we?")
  }
}
