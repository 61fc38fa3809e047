import Client
import Messenger
import Terminal
import Testing
import Wire

/// A deadline that has passed and stays is a loop that never sleeps.
@Suite struct `A chat that has nothing to do` {
  /// Whether the next tick is later than now, and stays so once it has come.
  private func sleeps(_ desk: Desk, milliseconds: Int64 = 0) -> Bool {
    var desk = desk
    desk.now += milliseconds
    desk.take(.tick)
    return desk.chat.deadline.map { $0 > desk.now } ?? true
  }

  private func page(next: String?) -> Event {
    .client(
      .message(
        .people(
          .init(
            people: [
              .init(
                user: "bo", name: "Bo", avatar: nil, presence: .online, lastSeen: nil, isBot: false,
                room: Desk.room)
            ], next: next, source: "s", asOf: 1))))
  }

  @Test func `sleeps while the relay is gone, also in the middle of a long list of people`() {
    var desk = Desk.talking()
    desk.take(page(next: "bo"))
    #expect(desk.chat.directory == .partial)
    desk.lose()
    #expect(sleeps(desk, milliseconds: 120))
    #expect(sleeps(desk, milliseconds: 60_000))
  }

  @Test func `sleeps while the relay is gone and the list of people has failed`() {
    var desk = Desk.talking()
    desk.see(.error(WireError(.directoryFailed, "It is away.", re: "people")))
    desk.lose()
    #expect(sleeps(desk, milliseconds: 31_000))
  }

  @Test func `sleeps while the relay is gone and nobody looks`() {
    var desk = Desk.talking()
    desk.take(.input(.focus(false)))
    desk.lose()
    #expect(sleeps(desk, milliseconds: 400_000))
  }

  @Test func `goes on when the clock is set back by an hour`() throws {
    var desk = Desk.talking()
    desk.see(.typing(room: Desk.room, user: "bo", on: true))
    desk.take(.failed("Something went wrong."))
    desk.now -= 3_600_000
    desk.take(.tick)
    #expect(try #require(desk.chat.deadline) <= desk.now + 10_000)
    desk.effects = []
    desk.now += 10_000
    desk.take(.tick)
    #expect(desk.chat.notice == nil)
    #expect(desk.chat.conversations[Desk.room]?.typing.isEmpty == true)
    #expect(desk.requests.contains(.ping(t: nil)))
    #expect(sleeps(desk))
  }

  @Test func `sleeps after its token was refused`() {
    var desk = Desk.talking()
    desk.take(.client(.tokenWanted(refused: "expired")))
    #expect(sleeps(desk, milliseconds: 20_000))
  }

  @Test func `forgets who was typing, wherever that is, and when it has to`() throws {
    var desk = Desk.talking()
    desk.see(.typing(room: Desk.room, user: "bo", on: true))
    desk.see(.typing(room: "nowhere", user: "bo", on: true))
    #expect(try #require(desk.chat.deadline) <= desk.now + 6500)
    desk.now += 3000
    desk.see(.typing(room: Desk.room, user: "cy", on: true))
    desk.now += 3500
    desk.take(.tick)
    #expect(desk.chat.conversations[Desk.room]?.typing.map(\.user) == ["cy"])
    #expect(try #require(desk.chat.deadline) <= desk.now + 3000)
    desk.now += 3000
    desk.take(.tick)
    #expect(desk.chat.conversations[Desk.room]?.typing.isEmpty == true)
    #expect(sleeps(desk))
  }
}
