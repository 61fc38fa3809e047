import Messenger
import Terminal
import Testing
import Wire

@Suite struct `Conversations` {
  private func row(
    _ room: String, title: String, head: Int64, unread: Int64, peer: String? = nil, at: Int64 = 1
  ) -> ServerMessage.RoomSummary {
    let last = Desk.entry(
      head, peer ?? "cy", .init(room: room, id: "l\(head)", text: "last of \(title)"), at: at)
    return .init(
      room: room, title: title, head: head, read: head - unread, unread: unread, listed: false,
      peer: peer, last: head > 0 ? last : nil)
  }

  @Test func `are listed by what happened last, and people behind them`() {
    var desk = Desk()
    desk.welcome()
    desk.see(
      .rooms(
        [
          row("general", title: "General", head: 5, unread: 2, at: 10),
          row("dm:ada:bo", title: "Bo", head: 9, unread: 0, peer: "bo", at: 20),
        ], next: nil))
    desk.see(
      .people(
        .init(
          people: [
            .init(
              user: "eve", name: "Eve", avatar: nil, presence: .online, lastSeen: nil,
              isBot: false, room: "dm:ada:eve"),
            .init(
              user: "bo", name: "Bo B.", avatar: nil, presence: .away, lastSeen: nil,
              isBot: false, room: "dm:ada:bo"),
          ], next: nil, source: "local", asOf: 1)))
    desk.chat.settle()
    #expect(desk.chat.listed == ["dm:ada:bo", "general", "dm:ada:eve"])
    #expect(desk.chat.conversations["dm:ada:bo"]?.title == "Bo B.")
    #expect(desk.chat.conversations["general"]?.unread == 2)
    #expect(desk.chat.directory == .complete)
    // Those that one belongs to are followed.
    #expect(desk.effects.contains(.join("general", head: 5)))
  }

  @Test func `come page by page until all are there`() {
    var desk = Desk()
    desk.welcome()
    #expect(desk.requests.contains(.rooms(.init())))
    desk.see(.rooms([row("general", title: "General", head: 5, unread: 2)], next: "1@2@general"))
    #expect(desk.requests.last == .rooms(.init(cursor: "1@2@general", limit: 200)))
    desk.see(.rooms([row("other", title: "Other", head: 5, unread: 1)], next: nil))
    desk.chat.settle()
    #expect(desk.chat.listed == ["general", "other"])
  }

  @Test func `elsewhere raise their unread count, and each entry counts once`() {
    var desk = Desk.talking()
    desk.see(.rooms([row("general", title: "General", head: 5, unread: 2)], next: nil))
    desk.joined("general", head: 5, after: 3)
    // Caught up with: these two are counted already.
    desk.entry(4, "a", in: "general")
    desk.entry(5, "b", in: "general")
    #expect(desk.chat.conversations["general"]?.unread == 2)
    desk.entry(6, "c", in: "general")
    #expect(desk.chat.conversations["general"]?.unread == 3)
    desk.entry(7, from: "ada", "I was elsewhere", in: "general")
    #expect(desk.chat.conversations["general"]?.unread == 0)
  }

  @Test func `that are open are read while somebody looks`() {
    var desk = Desk.talking()
    desk.entry(1, "hi")
    #expect(desk.effects.contains(.mark(Desk.room, received: 1, read: 1)))
    desk.take(.input(.focus(false)))
    desk.entry(2, "are you there?")
    #expect(desk.chat.open?.unread == 1)
    #expect(desk.chat.timeline?.unreadAfter == 1)
    #expect(!desk.effects.contains(.mark(Desk.room, received: 2, read: 2)))
    desk.take(.input(.focus(true)))
    #expect(desk.chat.open?.unread == 0)
    #expect(desk.effects.contains(.mark(Desk.room, received: 2, read: 2)))
  }

  @Test func `tell of what comes while nobody looks, at most once a second`() {
    var desk = Desk.talking()
    desk.take(.input(.focus(false)))
    desk.entry(1, "one")
    desk.entry(2, "two")
    let notifications = desk.effects.filter { if case .notify = $0 { true } else { false } }
    #expect(notifications == [.notify(title: "bo", body: "one")])
    desk.now += 1000
    desk.press(Key(.character("m"), .alt))
    desk.entry(3, "muted")
    #expect(desk.effects.filter { if case .notify = $0 { true } else { false } }.count == 1)
  }

  @Test func `keep what was being written`() {
    var desk = Desk.talking()
    desk.type("unfini")
    desk.open("general")
    #expect(desk.chat.composer.isEmpty)
    desk.type("else")
    desk.open(Desk.room)
    #expect(desk.chat.composer.text == "unfini")
    #expect(desk.chat.conversations["general"]?.draft == "else")
  }

  @Test func `are reached by the next that is unread`() {
    var desk = Desk.talking()
    desk.see(
      .rooms(
        [
          row("general", title: "General", head: 5, unread: 0, at: 30),
          row("random", title: "Random", head: 5, unread: 1, at: 20),
        ], next: nil))
    desk.press(Key(.down, [.alt, .shift]))
    #expect(desk.chat.timeline?.room == "random")
  }

  @Test func `are found by a few letters`() {
    var desk = Desk.talking()
    desk.see(
      .rooms(
        [
          row("general", title: "General", head: 5, unread: 0, at: 30),
          row("dm:ada:zoe", title: "Zoë Ångström", head: 5, unread: 0, peer: "zoe", at: 20),
        ], next: nil))
    desk.press(Key(.character("k"), .control))
    desk.type("zoang")
    desk.press(Key(.enter))
    #expect(desk.chat.timeline?.room == "dm:ada:zoe")
  }

  @Test func `show who is typing until it ends`() {
    var desk = Desk.talking()
    desk.see(.typing(room: Desk.room, user: "bo", on: true))
    #expect(desk.chat.open?.typing.map(\.user) == ["bo"])
    desk.entry(1, "there")
    #expect(desk.chat.open?.typing.isEmpty == true)
    desk.see(.typing(room: Desk.room, user: "bo", on: true))
    desk.now += 7000
    desk.take(.tick)
    #expect(desk.chat.open?.typing.isEmpty == true)
  }
}

@Suite struct `The connection` {
  @Test func `says how long the way is, and counts down to the next attempt`() {
    var desk = Desk.talking()
    desk.now += 42
    desk.see(.pong(t: nil, time: 0))
    #expect(desk.chat.connection == .live(roundTripMilliseconds: 42))
    desk.lose(retryMilliseconds: 3000)
    guard case .waiting(let until, _) = desk.chat.connection else {
      Issue.record("\(desk.chat.connection)")
      return
    }
    #expect(until == desk.now + 3000)
    #expect((desk.chat.deadline ?? .max) <= desk.now + 1000)
  }

  @Test func `and a directory that has had enough are waited for`() {
    var desk = Desk()
    desk.welcome()
    var error = WireError(.directoryLimited, "GitHub has had enough.", re: "people")
    error.resetAt = desk.now + 60_000
    desk.see(.error(error))
    #expect(desk.chat.directory == .limited(until: desk.now + 60_000))
    let asked = desk.requests.count
    desk.now += 60_000
    desk.take(.tick)
    #expect(desk.requests.count > asked)
  }

  @Test func `that comes back brings what was missed into its place`() {
    var desk = Desk.talking()
    desk.entry(1, "one")
    desk.lose()
    desk.welcome()
    desk.joined(head: 3, after: 1)
    #expect(desk.chat.open?.behind == 2)
    desk.entry(2, "two")
    desk.entry(3, "three")
    #expect(desk.texts == ["one", "two", "three"])
    #expect(desk.chat.open?.behind == 0)
  }
}
