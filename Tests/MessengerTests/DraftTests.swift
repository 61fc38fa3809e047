import Archive
import Client
import Terminal
import Testing
import Wire

@testable import Messenger

@Suite struct `Drafts that two instances share` {
  private let altD = Key(.character("d"), .alt)

  private func draft(_ text: String, _ branch: Int64, _ number: Int64) -> Archive.Draft {
    Archive.Draft(version: .init(branch: branch, number: number), text: text)
  }

  private func savings(_ harness: Harness) -> [String] {
    harness.effects.compactMap {
      if case .saveDraft(_, let text, _) = $0 { text } else { nil }
    }
  }

  /// Stores what is typed, as the driver does.
  private func store(_ harness: inout Harness, as version: Archive.Draft.Version) {
    harness.now += 1000
    harness.take(.tick)
    guard
      case .saveDraft(let room, _, let base)? = harness.effects.last(where: {
        if case .saveDraft = $0 { true } else { false }
      })
    else {
      Issue.record("nothing is saved")
      return
    }
    harness.take(.draftKept(room: room, inPlaceOf: base, version))
  }

  @Test func `a newer one appears where nothing is typed`() {
    var harness = Harness.talking()
    harness.take(.drafts([Harness.room: [draft("from there", 1, 5)]]))
    #expect(harness.chat.composer.text == "from there")
    harness.take(.drafts([Harness.room: [draft("from there, on", 1, 6)]]))
    #expect(harness.chat.composer.text == "from there, on")
    // It was sent there.
    harness.take(.drafts([:]))
    #expect(harness.chat.composer.isEmpty)
    #expect(savings(harness).isEmpty)
  }

  @Test func `one that was typed here and continued there is replaced`() {
    var harness = Harness.talking()
    harness.type("half")
    store(&harness, as: .init(branch: 1, number: 2))
    harness.take(.drafts([Harness.room: [draft("half a sentence", 1, 3)]]))
    #expect(harness.chat.composer.text == "half a sentence")
    harness.type("!")
    #expect(harness.chat.conversations[Harness.room]?.draftVersion?.number == 3)
  }

  @Test func `what is typed here stays, and the other is offered`() throws {
    var harness = Harness.talking()
    harness.type("m")
    store(&harness, as: .init(branch: 1, number: 2))
    harness.type("ine")
    harness.take(.drafts([Harness.room: [draft("theirs", 1, 3)]]))
    #expect(harness.chat.composer.text == "mine")
    #expect(harness.chat.notice?.text.contains("Alt+D") == true)
    // The driver stores it in place of what is no longer there, so as another.
    store(&harness, as: .init(branch: 2, number: 4))
    #expect(savings(harness).last == "mine")
    harness.take(.drafts([Harness.room: [draft("mine", 2, 4), draft("theirs", 1, 3)]]))
    #expect(harness.chat.composer.text == "mine")
    #expect(harness.chat.hints.contains { $0.what == "other draft" })
    harness.press(altD)
    #expect(harness.chat.composer.text == "theirs")
    harness.press(altD)
    #expect(harness.chat.composer.text == "mine")
    harness.press(altD)
    #expect(harness.chat.composer.text == "theirs")
  }

  @Test func `what is typed is stored before another is chosen`() {
    var harness = Harness.talking()
    harness.take(.drafts([Harness.room: [draft("b", 2, 2), draft("a", 1, 1)]]))
    #expect(harness.chat.composer.text == "b")
    harness.type("etter")
    harness.press(altD)
    #expect(savings(harness).last == "better")
    harness.take(
      .draftKept(
        room: Harness.room, inPlaceOf: .init(branch: 2, number: 2), .init(branch: 2, number: 3)))
    harness.take(.drafts([Harness.room: [draft("better", 2, 3), draft("a", 1, 1)]]))
    #expect(harness.chat.composer.text == "a")
    harness.press(altD)
    #expect(harness.chat.composer.text == "better")
  }

  @Test func `an old one does not come into a composer that was just emptied`() {
    var harness = Harness.talking()
    harness.take(.drafts([Harness.room: [draft("b", 2, 2), draft("a", 1, 1)]]))
    harness.press(Key(.enter))
    #expect(harness.sent.map(\.asEntry.text) == ["b"])
    let ended = Effect.endDraft(room: Harness.room, .init(branch: 2, number: 2))
    #expect(harness.effects.filter { $0 == ended }.count == 1)
    harness.take(.drafts([Harness.room: [draft("a", 1, 1)]]))
    #expect(harness.chat.composer.isEmpty)
    // It is still offered.
    harness.press(altD)
    #expect(harness.chat.composer.text == "a")
  }

  @Test func `without another, nothing happens`() {
    var harness = Harness.talking()
    harness.type("mine")
    harness.press(altD)
    #expect(harness.chat.composer.text == "mine")
    #expect(harness.chat.notice?.text == "There is no other draft here.")
  }

  @Test func `an edit is not disturbed, and the draft after it is the newer one`() {
    var harness = Harness.talking()
    harness.entry(1, from: "ada", id: "x", "helo")
    harness.press(Key(.up, .control), Key(.character("e")))
    harness.type("!")
    harness.take(.drafts([Harness.room: [draft("newer", 1, 5)]]))
    #expect(harness.chat.composer.text == "helo!")
    harness.press(altD)
    #expect(harness.chat.composer.text == "helo!")
    harness.press(Key(.escape))
    #expect(harness.chat.composer.text == "newer")
  }

  @Test func `a conversation that is opened later has its draft`() {
    var harness = Harness.talking()
    harness.take(.drafts(["tea": [draft("there", 1, 5)]]))
    harness.open("tea")
    #expect(harness.chat.composer.text == "there")
  }

  @Test func `a draft of a conversation that was left does not come back`() {
    var harness = Harness.talking()
    harness.take(.drafts([Harness.room: [draft("secret", 1, 5)]]))
    harness.press(Key(.character("x"), .alt), Key(.enter))
    harness.open(Harness.room)
    #expect(harness.chat.composer.isEmpty)
  }

  @Test func `a slash command leaves no draft`() {
    var harness = Harness.talking()
    harness.type("/pin")
    store(&harness, as: .init(branch: 1, number: 2))
    harness.press(Key(.escape), Key(.enter))
    let emptied = Effect.saveDraft(
      room: Harness.room, "", inPlaceOf: .init(branch: 1, number: 2))
    #expect(harness.effects.filter { $0 == emptied }.count == 1)
    #expect(harness.chat.conversations[Harness.room]?.draftVersion == nil)
  }

  // MARK: The rest

  @Test func `messages of an instance that has ended are taken over, each once`() {
    var harness = Harness.talking()
    harness.entry(1, from: "ada", id: "known", "arrived already")
    let lines = ["known", "new"].map {
      Chat.Outgoing(send: .init(room: Harness.room, id: $0, text: $0), at: harness.now + 1)
    }
    harness.take(.takenOver(lines, originals: [:]))
    #expect(harness.texts == ["arrived already", "new"])
    #expect(harness.states.last == .waiting)
    harness.take(.takenOver(lines, originals: [:]))
    #expect(harness.texts == ["arrived already", "new"])
    harness.acknowledge(lines[1].send, seq: 2)
    #expect(harness.states.last == .sent)
  }

  @Test func `pins, levels of notifications and read marks of another instance are taken`() {
    var harness = Harness.talking(head: 9)
    harness.take(
      .shared([
        .init(
          room: Harness.room, read: 4, unread: 0,
          notifications: Conversation.Notifications.none.rawValue, isPinned: true,
          isMarkedUnread: false)
      ]))
    let conversation = harness.chat.conversations[Harness.room]
    #expect(conversation?.isPinned == true)
    #expect(conversation?.notifications == Conversation.Notifications.none)
    // A mark does not go back.
    #expect(conversation?.read == 9)
  }
}
