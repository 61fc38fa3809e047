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
    Desk.entry(
      $0, "bo", .init(room: Desk.room, id: "bo-\($0)", text: text($0)), at: 1_763_650_000_000)
  }
}

extension Desk {
  /// A conversation with bo that is kept, read up to `read`.
  fileprivate static func kept(
    _ count: Int64, read: Int64, _ text: (Int64) -> String = { "entry \($0)" }
  )
    -> Desk
  {
    var desk = Desk()
    desk.kept[room] = entries(1...count, text)
    var conversation = Conversation(room: room, title: "Bo", peer: "bo")
    conversation.isMember = true
    conversation.head = count
    conversation.latest = count
    conversation.read = read
    conversation.unread = count - read
    desk.take(.restored(.init(conversations: [conversation], names: [:], outgoing: [])))
    return desk
  }
}

@Suite struct `What is read` {
  @Test func `is what was opened, also when all of it had come before`() {
    var desk = Desk.kept(3, read: 0)
    desk.welcome()
    desk.joined(head: 3)
    #expect(desk.chat.conversations[Desk.room]?.unread == 3)
    desk.open(Desk.room)
    #expect(desk.chat.conversations[Desk.room]?.unread == 0)
    #expect(desk.effects.contains(.mark(Desk.room, received: 3, read: 3)))
  }

  @Test func `without a relay is not unread again once it is back`() {
    var desk = Desk.kept(3, read: 0)
    desk.open(Desk.room)
    desk.welcome()
    let row = ServerMessage.RoomSummary(
      room: Desk.room, title: "Bo", head: 3, read: 0, unread: 3, listed: false, peer: "bo",
      last: nil)
    desk.see(.rooms([row], next: nil))
    #expect(desk.chat.conversations[Desk.room]?.unread == 0)
  }

  @Test func `ends where the screen does: it opens at the first that is unread`() throws {
    var desk = Desk.kept(90, read: 10)
    desk.open(Desk.room)
    guard case .at(let key, line: _) = try #require(desk.chat.timeline?.scroll) else {
      Issue.record("it opened at the newest")
      return
    }
    let end = try #require(desk.chat.timeline?.message(key)?.seq)
    #expect(10..<45 ~= end)
    #expect(desk.chat.conversations[Desk.room]?.read == end)
    #expect(desk.chat.timeline?.newBelow == Int(90 - end))
    #expect(desk.chat.timeline?.unreadAfter == 10)
  }

  @Test func `while there was no connection gets its line in the open conversation`() {
    var desk = Desk.kept(3, read: 3)
    desk.open(Desk.room)
    desk.welcome()
    #expect(desk.chat.timeline?.unreadAfter == nil)
    desk.joined(head: 5, after: 3, read: 3)
    desk.entry(4, "four")
    desk.entry(5, "five")
    let row = ServerMessage.RoomSummary(
      room: Desk.room, title: "Bo", head: 5, read: 3, unread: 2, listed: false, peer: "bo",
      last: nil)
    desk.see(.rooms([row], next: nil))
    #expect(desk.chat.timeline?.unreadAfter == 3)
    #expect(desk.chat.conversations[Desk.room]?.unread == 0)
  }

  @Test func `in a log that is no more does not count in the one that took its place`() {
    var desk = Desk.kept(500, read: 500)
    desk.open("general")
    desk.welcome()
    desk.kept[Desk.room] = []
    desk.take(
      .client(
        .joined(
          .init(
            room: Desk.room, epoch: "another", head: 1, first: 1, after: 0, resume: .reset,
            read: 0, received: 0, members: []))))
    desk.entry(1, "hello again")
    #expect(desk.chat.conversations[Desk.room]?.unread == 1)
    #expect(desk.chat.conversations[Desk.room]?.last?.text == "hello again")
    desk.open(Desk.room)
    #expect(desk.chat.conversations[Desk.room]?.unread == 0)
  }

  @Test func `is never a page with a hole in it`() {
    var desk = Desk.kept(3, read: 3)
    desk.open(Desk.room)
    desk.welcome()
    // Too much was missed: the driver has dropped what was kept, and begun behind it.
    desk.kept[Desk.room] = []
    desk.joined(head: 901, after: 900, read: 3)
    desk.entry(901, "much later")
    #expect(desk.texts == ["much later"])
  }
}

@Suite struct `A search` {
  private func search(_ desk: inout Desk, _ query: String) {
    desk.press(Key(.character("f"), .control))
    desk.type(query)
  }

  @Test func `goes on in older pages until it finds something`() {
    var desk = Desk.kept(900, read: 900) { $0 == 40 || $0 == 890 ? "needle \($0)" : "hay \($0)" }
    desk.open(Desk.room)
    search(&desk, "needle")
    #expect(desk.chat.search?.matches.count == 1)
    desk.press(Key(.enter))
    #expect(desk.chat.search?.matches.count == 2)
    #expect(desk.chat.search?.selected == 1)
    #expect(desk.chat.timeline?.selected?.id == "bo-40")
    desk.press(Key(.enter))
    #expect(desk.chat.search?.selected == 1)
    #expect(desk.chat.notice != nil)
  }

  @Test func `finds what is not on the first page at all`() {
    var desk = Desk.kept(400, read: 400) { $0 == 40 ? "needle" : "hay" }
    desk.open(Desk.room)
    search(&desk, "needle")
    #expect(desk.chat.search?.matches.isEmpty == true)
    desk.press(Key(.enter))
    #expect(desk.chat.timeline?.selected?.id == "bo-40")
    #expect(desk.chat.search?.selected == 0)
  }

  @Test func `stops after so many pages, and goes on with the next key`() {
    var desk = Desk.kept(5000, read: 5000) { $0 == 1 ? "needle" : "hay" }
    desk.open(Desk.room)
    search(&desk, "needle")
    desk.press(Key(.enter))
    #expect(desk.texts.count == 2100)
    #expect(desk.chat.notice != nil)
    desk.press(Key(.enter), Key(.enter))
    #expect(desk.chat.timeline?.selected?.id == "bo-1")
  }
}
