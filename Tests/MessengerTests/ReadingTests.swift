import Client
import Messenger
import Terminal
import Testing
import Wire

/// Bo's entries up to a seq.
private func entries(_ seqs: ClosedRange<Int64>, _ text: (Int64) -> String = { "entry \($0)" })
  -> [Entry]
{
  seqs.map {
    Harness.entry(
      $0, "bo", .init(room: Harness.room, id: "bo-\($0)", text: text($0)), at: 1_763_650_000_000)
  }
}

extension Harness {
  /// A stored conversation with bo, read up to `read`.
  fileprivate static func kept(
    _ count: Int64, read: Int64, _ text: (Int64) -> String = { "entry \($0)" }
  )
    -> Harness
  {
    var harness = Harness()
    harness.kept[room] = entries(1...count, text)
    var conversation = Conversation(room: room, title: "Bo", peer: "bo")
    conversation.isMember = true
    conversation.head = count
    conversation.latest = count
    conversation.read = read
    conversation.unread = count - read
    harness.take(.restored(.init(conversations: [conversation], names: [:], outgoing: [])))
    return harness
  }
}

@Suite struct `Read messages` {
  @Test func `are those of an opened conversation, even if all of it arrived before`() {
    var harness = Harness.kept(3, read: 0)
    harness.welcome()
    harness.joined(head: 3)
    #expect(harness.chat.conversations[Harness.room]?.unread == 3)
    harness.open(Harness.room)
    #expect(harness.chat.conversations[Harness.room]?.unread == 0)
    #expect(harness.effects.contains(.mark(Harness.room, received: 3, read: 3)))
  }

  @Test func `without a relay stay read once it is back`() {
    var harness = Harness.kept(3, read: 0)
    harness.open(Harness.room)
    harness.welcome()
    let row = ServerMessage.RoomSummary(
      room: Harness.room, title: "Bo", head: 3, read: 0, unread: 3, listed: false, peer: "bo",
      last: nil)
    harness.see(.rooms([row], next: nil))
    #expect(harness.chat.conversations[Harness.room]?.unread == 0)
  }

  @Test func `end where the screen does: the conversation opens at the first unread one`() throws {
    var harness = Harness.kept(90, read: 10)
    harness.open(Harness.room)
    guard case .at(let key, line: _) = try #require(harness.chat.timeline?.scroll) else {
      Issue.record("it opened at the newest")
      return
    }
    let end = try #require(harness.chat.timeline?.message(key)?.seq)
    #expect(10..<45 ~= end)
    #expect(harness.chat.conversations[Harness.room]?.read == end)
    #expect(harness.chat.timeline?.newBelow == Int(90 - end))
    #expect(harness.chat.timeline?.unreadAfter == 10)
  }

  @Test func `that arrived while disconnected get the unread line in the open conversation`() {
    var harness = Harness.kept(3, read: 3)
    harness.open(Harness.room)
    harness.welcome()
    #expect(harness.chat.timeline?.unreadAfter == nil)
    harness.joined(head: 5, after: 3, read: 3)
    harness.entry(4, "four")
    harness.entry(5, "five")
    let row = ServerMessage.RoomSummary(
      room: Harness.room, title: "Bo", head: 5, read: 3, unread: 2, listed: false, peer: "bo",
      last: nil)
    harness.see(.rooms([row], next: nil))
    #expect(harness.chat.timeline?.unreadAfter == 3)
    #expect(harness.chat.conversations[Harness.room]?.unread == 0)
  }

  @Test func `in a log that was replaced do not count in the new one`() {
    var harness = Harness.kept(500, read: 500)
    harness.open("general")
    harness.welcome()
    harness.kept[Harness.room] = []
    harness.take(
      .client(
        .joined(
          .init(
            room: Harness.room, epoch: "another", head: 1, first: 1, after: 0, resume: .reset,
            read: 0, received: 0, members: []))))
    harness.entry(1, "hello again")
    #expect(harness.chat.conversations[Harness.room]?.unread == 1)
    #expect(harness.chat.conversations[Harness.room]?.last?.text == "hello again")
    harness.open(Harness.room)
    #expect(harness.chat.conversations[Harness.room]?.unread == 0)
  }

  @Test func `are never shown with a gap`() {
    var harness = Harness.kept(3, read: 3)
    harness.open(Harness.room)
    harness.welcome()
    // Too much was missed: the driver has dropped the stored entries, and begun after the gap.
    harness.kept[Harness.room] = []
    harness.joined(head: 901, after: 900, read: 3)
    harness.entry(901, "much later")
    #expect(harness.texts == ["much later"])
  }
}

@Suite struct `A search` {
  private func search(_ harness: inout Harness, _ query: String) {
    harness.press(Key(.character("f"), .control))
    harness.type(query)
  }

  @Test func `continues with older pages until it finds something`() {
    var harness = Harness.kept(900, read: 900) {
      $0 == 40 || $0 == 890 ? "needle \($0)" : "hay \($0)"
    }
    harness.open(Harness.room)
    search(&harness, "needle")
    #expect(harness.chat.search?.matches.count == 1)
    harness.press(Key(.enter))
    #expect(harness.chat.search?.matches.count == 2)
    #expect(harness.chat.search?.selected == 1)
    #expect(harness.chat.timeline?.selected?.id == "bo-40")
    harness.press(Key(.enter))
    #expect(harness.chat.search?.selected == 1)
    #expect(harness.chat.notice != nil)
  }

  @Test func `finds text that is not on the first page`() {
    var harness = Harness.kept(400, read: 400) { $0 == 40 ? "needle" : "hay" }
    harness.open(Harness.room)
    search(&harness, "needle")
    #expect(harness.chat.search?.matches.isEmpty == true)
    harness.press(Key(.enter))
    #expect(harness.chat.timeline?.selected?.id == "bo-40")
    #expect(harness.chat.search?.selected == 0)
  }

  @Test func `stops after a number of pages, and continues with the next key`() {
    var harness = Harness.kept(5000, read: 5000) { $0 == 1 ? "needle" : "hay" }
    harness.open(Harness.room)
    search(&harness, "needle")
    harness.press(Key(.enter))
    #expect(harness.texts.count == 2100)
    #expect(harness.chat.notice != nil)
    harness.press(Key(.enter), Key(.enter))
    #expect(harness.chat.timeline?.selected?.id == "bo-1")
  }
}
