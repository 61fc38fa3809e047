import Client
import Messenger
import Terminal
import Testing
import Wire

/// The unread state if entries arrive late, marks come from other devices, or logs are replaced.
/// are replaced.
@Suite struct `A conversation that catches up` {
  private func open(_ harness: Harness) -> Conversation? {
    harness.chat.conversations[Harness.room]
  }

  /// Ada looks at another room; bo's messages were read up to the fourth entry.
  private func away(read: Int64 = 4, head: Int64 = 10, unread: Int64) -> Harness {
    var harness = Harness()
    var kept = Conversation(room: Harness.room, title: "Bo", peer: "bo")
    (kept.head, kept.latest, kept.read, kept.isMember) = (4, 4, 4, true)
    harness.take(.restored(.init(conversations: [kept], names: [:], outgoing: [])))
    harness.open("general")
    harness.welcome()
    harness.see(
      .rooms(
        [
          .init(
            room: Harness.room, title: "Bo", head: head, read: read, unread: unread, listed: false,
            peer: "bo", last: nil)
        ], next: nil))
    return harness
  }

  @Test func `keeps messages unread that follow a message of the user's other device`() {
    var harness = away(read: 5, unread: 5)
    #expect(open(harness)?.unread == 5)
    harness.joined(head: 10, after: 4, read: 5)
    harness.entry(5, from: "ada", "from my telephone")
    for seq in 6...10 { harness.entry(Int64(seq), "and then") }
    #expect(open(harness)?.unread == 5)
  }

  @Test func `has nothing unread that was read elsewhere while disconnected`() {
    var harness = away(unread: 6)
    harness.joined(head: 10, after: 4, read: 4)
    for seq in 5...10 { harness.entry(Int64(seq), "news") }
    #expect(open(harness)?.unread == 6)
    harness.lose()
    harness.welcome()
    harness.joined(head: 10, after: 10, read: 10)
    #expect(open(harness)?.unread == 0)
  }

  @Test func `sends the relay marks of messages read while disconnected`() {
    var harness = Harness()
    var kept = Conversation(room: Harness.room, title: "Bo", peer: "bo")
    (kept.head, kept.latest, kept.read, kept.isMember) = (10, 10, 10, true)
    harness.take(.restored(.init(conversations: [kept], names: [:], outgoing: [])))
    harness.welcome()
    harness.joined(head: 10, after: 10, read: 7)
    #expect(harness.effects.contains(.mark(Harness.room, received: 0, read: 10)))
  }

  @Test func `counts, notifies and marks as read after its log was replaced by a shorter one`() {
    var harness = away(read: 10, unread: 0)
    harness.joined(head: 10, after: 10, read: 10)
    harness.take(.input(.focus(false)))
    harness.lose()
    harness.welcome()
    harness.take(
      .client(
        .joined(
          .init(
            room: Harness.room, epoch: "other", head: 2, first: 1, after: 0, resume: .reset,
            read: 0,
            received: 0, members: []))))
    harness.entry(1, "was there")
    harness.entry(2, "was there too")
    #expect(open(harness)?.unread == 2)
    #expect(open(harness)?.last?.text == "was there too")
    harness.effects = []
    harness.now += 5000
    harness.entry(3, "is new")
    #expect(open(harness)?.unread == 3)
    #expect(harness.effects.contains(.notify(title: "Bo", body: "is new")))
    harness.take(.input(.focus(true)))
    harness.open(Harness.room)
    #expect(open(harness)?.unread == 0)
    #expect(harness.effects.contains(.mark(Harness.room, received: 3, read: 3)))
  }

  @Test func `is listed by its newest message, not by one that arrives late`() {
    var harness = away(unread: 6)
    let newest = Harness.entry(
      10, "bo", .init(room: Harness.room, id: "n", text: "newest"), at: harness.now + 9)
    harness.see(
      .rooms(
        [
          .init(
            room: Harness.room, title: "Bo", head: 10, read: 4, unread: 6, listed: false,
            peer: "bo",
            last: newest)
        ], next: nil))
    harness.joined(head: 10, after: 4, read: 4)
    harness.entry(5, "old")
    #expect(open(harness)?.last?.text == "newest")
  }

  @Test func `is loading until its first entries are there`() {
    var harness = Harness()
    harness.welcome()
    harness.open(Harness.room)
    #expect(harness.chat.timeline?.isLoading == true)
    harness.joined(head: 2, after: 0)
    #expect(harness.chat.timeline?.isLoading == true)
    harness.entry(1, "first")
    #expect(harness.chat.timeline?.isLoading == false)
    harness.open("empty")
    harness.joined("empty", head: 0)
    #expect(harness.chat.timeline?.isLoading == false)
    harness.open("forbidden")
    harness.take(.client(.joinRefused(room: "forbidden", WireError(.forbidden, "No."))))
    #expect(harness.chat.timeline?.isLoading == false)
  }

  @Test func `continues if nothing can be loaded`() {
    var harness = Harness.talking()
    harness.entry(1, "there")
    harness.take(.noPage(room: Harness.room))
    #expect(harness.texts == ["there"])
    #expect(harness.chat.timeline?.isLoading == false)
  }

  @Test func `loads older messages from the relay, even if none here is shown`() {
    var harness = Harness.talking()
    harness.chat.historyIsAsked(for: Harness.room)
    harness.kept[Harness.room] = [
      Harness.entry(1, "bo", .init(room: Harness.room, id: "o", text: "old"), at: harness.now)
    ]
    harness.see(
      .history(.init(room: Harness.room, entries: [], first: 1, head: 1, more: false, epoch: "E")))
    #expect(harness.texts == ["old"])
    #expect(harness.chat.timeline?.isLoading == false)
  }

  @Test func `that the user must not join is not requested again and again`() {
    var harness = away(unread: 6)
    harness.take(.client(.joinRefused(room: Harness.room, WireError(.tooManyRooms, "No more."))))
    harness.effects = []
    harness.see(
      .activity(
        .init(
          room: Harness.room, head: 11, unread: 7,
          last: Harness.entry(
            11, "bo", .init(room: Harness.room, id: "x", text: "hey"), at: harness.now))))
    #expect(!harness.effects.contains(.join(Harness.room, head: 11)))
    #expect(open(harness)?.unread == 7)
  }
}

@Suite struct `A list of people that is not completely loaded` {
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

  private func questions(_ harness: Harness) -> [ClientMessage] {
    harness.requests.filter { if case .people = $0 { true } else { false } }
  }

  @Test func `is not complete because a name was found`() {
    var harness = Harness()
    harness.welcome()
    for number in 0..<10 {
      harness.see(page((0..<200).map { "user\(number)-\($0)" }, next: "user\(number)-199"))
      harness.now += 200
      harness.take(.tick)
    }
    #expect(harness.chat.directory == .partial)
    let before = questions(harness).count
    harness.chat.pane = .list
    harness.type("zoe")
    harness.now += 300
    harness.take(.tick)
    #expect(questions(harness).count == before + 1)
    harness.see(page(["zoe"], next: nil))
    #expect(harness.chat.directory == .partial)
    harness.type("x")
    harness.now += 300
    harness.take(.tick)
    #expect(questions(harness).count == before + 2)
  }

  @Test func `is requested less and less often if there is none`() {
    var harness = Harness()
    harness.welcome()
    var answered = 0
    for _ in 0..<600 {
      if questions(harness).count > answered {
        answered += 1
        harness.see(page(["dice"], next: nil, asOf: 0))
      }
      harness.now += 1000
      harness.take(.tick)
    }
    #expect(questions(harness).count < 20)
    #expect(harness.chat.directory == .complete)
  }
}
