import Bots
import Logging
import Testing
import Wire

/// Runs bots against a relay in memory for as long as the test's body takes.
func withBots(
  _ descriptions: BotDescription..., on relay: FakeRelay,
  _ body: () async throws -> Void
) async rethrows {
  let squad = BotSquad(
    descriptions, host: relay, clock: relay.clock,
    log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  let running = Task { await squad.run() }
  defer { running.cancel() }
  try await body()
  running.cancel()
  await running.value
}

@Suite(.timeLimit(.minutes(1))) struct `A bot answers` {
  let clock = TestClock()
  let relay: FakeRelay
  let echo = BotDescription(
    user: "echo", name: "Echo", behaviours: [.echo],
    replyDelay: .seconds(1) ... .seconds(3), seed: 7)

  init() { relay = FakeRelay(clock: clock) }

  @Test func `with what it was sent, typing first, with receipts before`() async {
    await withBots(echo, on: relay) {
      _ = await relay.next { $0.message == .rooms }
      relay.post("hello", from: "ada", to: "dm:ada:echo")
      let room = "dm:ada:echo"
      _ = await relay.next { if case .join = $0.message { true } else { false } }
      #expect(await relay.next().message == .received(room: room, seq: 1))
      #expect(await relay.next().message == .read(room: room, seq: 1))
      #expect(await relay.next().message == .typing(room: room, on: true))
      let delay = await clock.advance()
      #expect(delay >= .seconds(1) && delay <= .seconds(3))
      let send = await relay.nextSend()
      #expect(send.id == "echo-1-1" && send.text == "hello" && send.at == delay)
      #expect(relay.texts(room) == ["ada: hello", "echo: hello"])
    }
  }
}
