import Client
import Messenger
import Terminal
import Testing
import Wire

/// A deadline that stays in the past is a loop that never sleeps.
@Suite struct `A chat that has no work` {
  /// Whether the next tick is later than now, and stays so once it has come.
  private func sleeps(_ harness: Harness, milliseconds: Int64 = 0) -> Bool {
    var harness = harness
    harness.now += milliseconds
    harness.take(.tick)
    return harness.chat.deadline.map { $0 > harness.now } ?? true
  }

  private func page(next: String?) -> Event {
    .client(
      .message(
        .people(
          .init(
            people: [
              .init(
                user: "bo", name: "Bo", avatar: nil, presence: .online, lastSeen: nil, isBot: false,
                room: Harness.room)
            ], next: next, source: "s", asOf: 1))))
  }

  @Test func `sleeps while the relay is gone, also in the middle of a long list of people`() {
    var harness = Harness.talking()
    harness.take(page(next: "bo"))
    #expect(harness.chat.directory == .partial)
    harness.lose()
    #expect(sleeps(harness, milliseconds: 120))
    #expect(sleeps(harness, milliseconds: 60_000))
  }

  @Test func `sleeps while the relay is gone and the list of people has failed`() {
    var harness = Harness.talking()
    harness.see(.error(WireError(.directoryFailed, "It is away.", re: .people)))
    harness.lose()
    #expect(sleeps(harness, milliseconds: 31_000))
  }

  @Test func `sleeps while there is no connection and the terminal is not focused`() {
    var harness = Harness.talking()
    harness.take(.input(.focus(false)))
    harness.lose()
    #expect(sleeps(harness, milliseconds: 400_000))
  }

  @Test func `continues when the clock is set back by an hour`() throws {
    var harness = Harness.talking()
    harness.see(.typing(room: Harness.room, user: "bo", on: true))
    harness.take(.failed("Something went wrong."))
    harness.now -= 3_600_000
    harness.take(.tick)
    #expect(try #require(harness.chat.deadline) <= harness.now + 10_000)
    harness.effects = []
    harness.now += 10_000
    harness.take(.tick)
    #expect(harness.chat.notice == nil)
    #expect(harness.chat.conversations[Harness.room]?.typing.isEmpty == true)
    #expect(harness.requests.contains(.ping(t: nil)))
    #expect(sleeps(harness))
  }

  @Test func `sleeps after its token was refused`() {
    var harness = Harness.talking()
    harness.take(.client(.tokenWanted(refused: "expired")))
    #expect(sleeps(harness, milliseconds: 20_000))
  }

  @Test func `ends typing indicators in every conversation, at their time`() throws {
    var harness = Harness.talking()
    harness.see(.typing(room: Harness.room, user: "bo", on: true))
    harness.see(.typing(room: "nowhere", user: "bo", on: true))
    #expect(try #require(harness.chat.deadline) <= harness.now + 6500)
    harness.now += 3000
    harness.see(.typing(room: Harness.room, user: "cy", on: true))
    harness.now += 3500
    harness.take(.tick)
    #expect(harness.chat.conversations[Harness.room]?.typing.map(\.user) == ["cy"])
    #expect(try #require(harness.chat.deadline) <= harness.now + 3000)
    harness.now += 3000
    harness.take(.tick)
    #expect(harness.chat.conversations[Harness.room]?.typing.isEmpty == true)
    #expect(sleeps(harness))
  }
}
