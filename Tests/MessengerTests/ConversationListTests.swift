import Messenger
import Terminal
import Testing
import Wire

@Suite struct `Conversations` {
  private func row(
    _ room: String, title: String, head: Int64, unread: Int64, peer: String? = nil, at: Int64 = 1
  ) -> ServerMessage.RoomSummary {
    let last = Harness.entry(
      head, peer ?? "cy", .init(room: room, id: "l\(head)", text: "last of \(title)"), at: at)
    return .init(
      room: room, title: title, head: head, read: head - unread, unread: unread, listed: false,
      peer: peer, last: head > 0 ? last : nil)
  }

  @Test func `are listed by their latest activity, followed by people`() {
    var harness = Harness()
    harness.welcome()
    harness.see(
      .rooms(
        [
          row("general", title: "General", head: 5, unread: 2, at: 10),
          row("dm:ada:bo", title: "Bo", head: 9, unread: 0, peer: "bo", at: 20),
        ], next: nil))
    harness.see(
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
    harness.chat.prepareToDraw()
    #expect(harness.chat.listed == ["dm:ada:bo", "general", "dm:ada:eve"])
    #expect(harness.chat.conversations["dm:ada:bo"]?.title == "Bo B.")
    #expect(harness.chat.conversations["general"]?.unread == 2)
    #expect(harness.chat.directory == .complete)
    // The user's rooms are joined.
    #expect(harness.effects.contains(.join("general", head: 5)))
  }

  @Test func `are loaded page by page until all are there`() {
    var harness = Harness()
    harness.welcome()
    #expect(harness.requests.contains(.rooms(.init())))
    harness.see(.rooms([row("general", title: "General", head: 5, unread: 2)], next: "1@2@general"))
    #expect(harness.requests.last == .rooms(.init(cursor: "1@2@general", limit: 200)))
    harness.see(.rooms([row("other", title: "Other", head: 5, unread: 1)], next: nil))
    harness.chat.prepareToDraw()
    #expect(harness.chat.listed == ["general", "other"])
  }

  @Test func `elsewhere raise their unread count, and each entry counts once`() {
    var harness = Harness.talking()
    harness.see(.rooms([row("general", title: "General", head: 5, unread: 2)], next: nil))
    harness.joined("general", head: 5, after: 3)
    // Caught up with: these two are counted already.
    harness.entry(4, "a", in: "general")
    harness.entry(5, "b", in: "general")
    #expect(harness.chat.conversations["general"]?.unread == 2)
    harness.entry(6, "c", in: "general")
    #expect(harness.chat.conversations["general"]?.unread == 3)
    // The user's own entry does not count, and marks none of the others as read.
    harness.entry(7, from: "ada", "a script of mine", in: "general")
    #expect(harness.chat.conversations["general"]?.unread == 3)
  }

  @Test func `that are open are read while the terminal is focused`() {
    var harness = Harness.talking()
    harness.entry(1, "hi")
    #expect(harness.effects.contains(.mark(Harness.room, received: 1, read: 1)))
    harness.take(.input(.focus(false)))
    harness.entry(2, "are you there?")
    #expect(harness.chat.open?.unread == 1)
    #expect(harness.chat.timeline?.unreadAfter == 1)
    #expect(!harness.effects.contains(.mark(Harness.room, received: 2, read: 2)))
    harness.take(.input(.focus(true)))
    #expect(harness.chat.open?.unread == 0)
    #expect(harness.effects.contains(.mark(Harness.room, received: 2, read: 2)))
  }

  @Test func `notify while the terminal is not focused, at most once per second`() {
    var harness = Harness.talking()
    harness.take(.input(.focus(false)))
    harness.entry(1, "one")
    harness.entry(2, "two")
    let notifications = harness.effects.filter { if case .notify = $0 { true } else { false } }
    #expect(notifications == [.notify(title: "bo", body: "one")])
    harness.now += 1000
    harness.press(Key(.character("m"), .alt))
    harness.entry(3, "muted")
    #expect(harness.effects.filter { if case .notify = $0 { true } else { false } }.count == 1)
  }

  @Test func `keep their drafts`() {
    var harness = Harness.talking()
    harness.type("unfini")
    harness.open("general")
    #expect(harness.chat.composer.isEmpty)
    harness.type("else")
    harness.open(Harness.room)
    #expect(harness.chat.composer.text == "unfini")
    #expect(harness.chat.conversations["general"]?.draft == "else")
  }

  @Test func `are reached by the next that is unread`() {
    var harness = Harness.talking()
    harness.see(
      .rooms(
        [
          row("general", title: "General", head: 5, unread: 0, at: 30),
          row("random", title: "Random", head: 5, unread: 1, at: 20),
        ], next: nil))
    harness.press(Key(.down, [.alt, .shift]))
    #expect(harness.chat.timeline?.room == "random")
  }

  @Test func `are found by a few letters`() {
    var harness = Harness.talking()
    harness.see(
      .rooms(
        [
          row("general", title: "General", head: 5, unread: 0, at: 30),
          row("dm:ada:zoe", title: "Zoë Ångström", head: 5, unread: 0, peer: "zoe", at: 20),
        ], next: nil))
    harness.press(Key(.character("k"), .control))
    harness.type("zoang")
    harness.press(Key(.enter))
    #expect(harness.chat.timeline?.room == "dm:ada:zoe")
  }

  @Test func `show typing users until they stop`() {
    var harness = Harness.talking()
    harness.see(.typing(room: Harness.room, user: "bo", on: true))
    #expect(harness.chat.open?.typing.map(\.user) == ["bo"])
    harness.entry(1, "there")
    #expect(harness.chat.open?.typing.isEmpty == true)
    harness.see(.typing(room: Harness.room, user: "bo", on: true))
    harness.now += 7000
    harness.take(.tick)
    #expect(harness.chat.open?.typing.isEmpty == true)
  }
}

@Suite struct `The connection` {
  @Test func `shows the round-trip time, and counts down to the next attempt`() {
    var harness = Harness.talking()
    harness.now += 42
    harness.see(.pong(t: nil, time: 0))
    #expect(harness.chat.connection == .live(roundTripMilliseconds: 42))
    harness.lose(retryMilliseconds: 3000)
    guard case .waiting(let until, _) = harness.chat.connection else {
      Issue.record("\(harness.chat.connection)")
      return
    }
    #expect(until == harness.now + 3000)
    #expect((harness.chat.deadline ?? .max) <= harness.now + 1000)
  }

  @Test func `and a rate-limited directory are waited for`() {
    var harness = Harness()
    harness.welcome()
    var error = WireError(.directoryLimited, "GitHub has had enough.", re: .people)
    error.resetAt = harness.now + 60_000
    harness.see(.error(error))
    #expect(harness.chat.directory == .limited(until: harness.now + 60_000))
    let asked = harness.requests.count
    harness.now += 60_000
    harness.take(.tick)
    #expect(harness.requests.count > asked)
  }

  @Test func `that returns puts missed messages in their places`() {
    var harness = Harness.talking()
    harness.entry(1, "one")
    harness.lose()
    harness.welcome()
    harness.joined(head: 3, after: 1)
    #expect(harness.chat.open?.behind == 2)
    harness.entry(2, "two")
    harness.entry(3, "three")
    #expect(harness.texts == ["one", "two", "three"])
    #expect(harness.chat.open?.behind == 0)
  }
}
