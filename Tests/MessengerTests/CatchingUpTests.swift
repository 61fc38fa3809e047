import Client
import Messenger
import Terminal
import Testing
import Wire

/// What is unread, known and read while entries come late, marks come from elsewhere, and logs are
/// replaced.
@Suite struct `A conversation that catches up` {
  private func open(_ desk: Desk) -> Conversation? { desk.chat.conversations[Desk.room] }

  /// Ada looks at another room; bo's was seen up to the fourth entry.
  private func away(read: Int64 = 4, head: Int64 = 10, unread: Int64) -> Desk {
    var desk = Desk()
    var kept = Conversation(room: Desk.room, title: "Bo", peer: "bo")
    (kept.head, kept.latest, kept.read, kept.isMember) = (4, 4, 4, true)
    desk.take(.restored(.init(conversations: [kept], names: [:], outgoing: [])))
    desk.open("general")
    desk.welcome()
    desk.see(
      .rooms(
        [
          .init(
            room: Desk.room, title: "Bo", head: head, read: read, unread: unread, listed: false,
            peer: "bo", last: nil)
        ], next: nil))
    return desk
  }

  @Test func `still has unread what came after one's own message from elsewhere`() {
    var desk = away(read: 5, unread: 5)
    #expect(open(desk)?.unread == 5)
    desk.joined(head: 10, after: 4, read: 5)
    desk.entry(5, from: "ada", "from my telephone")
    for seq in 6...10 { desk.entry(Int64(seq), "and then") }
    #expect(open(desk)?.unread == 5)
  }

  @Test func `has nothing unread that was read elsewhere while there was no connection`() {
    var desk = away(unread: 6)
    desk.joined(head: 10, after: 4, read: 4)
    for seq in 5...10 { desk.entry(Int64(seq), "news") }
    #expect(open(desk)?.unread == 6)
    desk.lose()
    desk.welcome()
    desk.joined(head: 10, after: 10, read: 10)
    #expect(open(desk)?.unread == 0)
  }

  @Test func `tells the relay what was read without it`() {
    var desk = Desk()
    var kept = Conversation(room: Desk.room, title: "Bo", peer: "bo")
    (kept.head, kept.latest, kept.read, kept.isMember) = (10, 10, 10, true)
    desk.take(.restored(.init(conversations: [kept], names: [:], outgoing: [])))
    desk.welcome()
    desk.joined(head: 10, after: 10, read: 7)
    #expect(desk.effects.contains(.mark(Desk.room, received: 0, read: 10)))
  }

  @Test func `counts, tells and reads on when its log was replaced by a shorter one`() {
    var desk = away(read: 10, unread: 0)
    desk.joined(head: 10, after: 10, read: 10)
    desk.take(.input(.focus(false)))
    desk.lose()
    desk.welcome()
    desk.take(
      .client(
        .joined(
          .init(
            room: Desk.room, epoch: "other", head: 2, first: 1, after: 0, resume: .reset, read: 0,
            received: 0, members: []))))
    desk.entry(1, "was there")
    desk.entry(2, "was there too")
    #expect(open(desk)?.unread == 2)
    #expect(open(desk)?.last?.text == "was there too")
    desk.effects = []
    desk.now += 5000
    desk.entry(3, "is new")
    #expect(open(desk)?.unread == 3)
    #expect(desk.effects.contains(.notify(title: "Bo", body: "is new")))
    desk.take(.input(.focus(true)))
    desk.open(Desk.room)
    #expect(open(desk)?.unread == 0)
    #expect(desk.effects.contains(.mark(Desk.room, received: 3, read: 3)))
  }

  @Test func `is listed by the newest, not by what comes late`() {
    var desk = away(unread: 6)
    let newest = Desk.entry(
      10, "bo", .init(room: Desk.room, id: "n", text: "newest"), at: desk.now + 9)
    desk.see(
      .rooms(
        [
          .init(
            room: Desk.room, title: "Bo", head: 10, read: 4, unread: 6, listed: false, peer: "bo",
            last: newest)
        ], next: nil))
    desk.joined(head: 10, after: 4, read: 4)
    desk.entry(5, "old")
    #expect(open(desk)?.last?.text == "newest")
  }

  @Test func `is loading until its first entries are there`() {
    var desk = Desk()
    desk.welcome()
    desk.open(Desk.room)
    #expect(desk.chat.timeline?.isLoading == true)
    desk.joined(head: 2, after: 0)
    #expect(desk.chat.timeline?.isLoading == true)
    desk.entry(1, "first")
    #expect(desk.chat.timeline?.isLoading == false)
    desk.open("empty")
    desk.joined("empty", head: 0)
    #expect(desk.chat.timeline?.isLoading == false)
    desk.open("forbidden")
    desk.take(.client(.joinRefused(room: "forbidden", WireError(.forbidden, "No."))))
    #expect(desk.chat.timeline?.isLoading == false)
  }

  @Test func `goes on where nothing can be loaded`() {
    var desk = Desk.talking()
    desk.entry(1, "there")
    desk.take(.noPage(room: Desk.room))
    #expect(desk.texts == ["there"])
    #expect(desk.chat.timeline?.isLoading == false)
  }

  @Test func `loads what the relay finds further back, also when nothing here says anything`() {
    var desk = Desk.talking()
    desk.chat.historyIsAsked(for: Desk.room)
    desk.kept[Desk.room] = [
      Desk.entry(1, "bo", .init(room: Desk.room, id: "o", text: "old"), at: desk.now)
    ]
    desk.see(.history(.init(room: Desk.room, entries: [], first: 1, head: 1, more: false)))
    #expect(desk.texts == ["old"])
    #expect(desk.chat.timeline?.isLoading == false)
  }

  @Test func `that would not have us is not asked again and again`() {
    var desk = away(unread: 6)
    desk.take(.client(.joinRefused(room: Desk.room, WireError(.tooManyRooms, "No more."))))
    desk.effects = []
    desk.see(
      .activity(
        .init(
          room: Desk.room, head: 11, unread: 7,
          last: Desk.entry(11, "bo", .init(room: Desk.room, id: "x", text: "hey"), at: desk.now))))
    #expect(!desk.effects.contains(.join(Desk.room, head: 11)))
    #expect(open(desk)?.unread == 7)
  }
}

@Suite struct `A list of people that is longer than what is loaded` {
  private func page(_ users: [String], next: String?, asOf: Int64 = 1) -> ServerMessage {
    .people(
      .init(
        people: users.map {
          .init(
            user: $0, name: $0, avatar: nil, presence: .offline, lastSeen: nil, isBot: asOf == 0,
            room: RoomName.direct("ada", $0))
        },
        next: next, source: "s", asOf: asOf))
  }

  private func questions(_ desk: Desk) -> [ClientMessage] {
    desk.requests.filter { if case .people = $0 { true } else { false } }
  }

  @Test func `is not complete because a name was found`() {
    var desk = Desk()
    desk.welcome()
    for number in 0..<10 {
      desk.see(page((0..<200).map { "user\(number)-\($0)" }, next: "user\(number)-199"))
      desk.now += 200
      desk.take(.tick)
    }
    #expect(desk.chat.directory == .partial)
    let before = questions(desk).count
    desk.chat.pane = .list
    desk.type("zoe")
    desk.now += 300
    desk.take(.tick)
    #expect(questions(desk).count == before + 1)
    desk.see(page(["zoe"], next: nil))
    #expect(desk.chat.directory == .partial)
    desk.type("x")
    desk.now += 300
    desk.take(.tick)
    #expect(questions(desk).count == before + 2)
  }

  @Test func `is asked for less and less where there is none`() {
    var desk = Desk()
    desk.welcome()
    var answered = 0
    for _ in 0..<600 {
      if questions(desk).count > answered {
        answered += 1
        desk.see(page(["dice"], next: nil, asOf: 0))
      }
      desk.now += 1000
      desk.take(.tick)
    }
    #expect(questions(desk).count < 20)
    #expect(desk.chat.directory == .complete)
  }
}
