import Bots
import Logging
import Testing
import Wire

/// Runs bots against a relay in memory for as long as the test's body takes.
func withBots(
  _ descriptions: BotDescription..., on relay: FakeRelay,
  log: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
  _ body: () async throws -> Void
) async throws {
  let squad = BotSquad(
    descriptions, host: relay, clock: relay.clock,
    log: log)
  let running = Task { await squad.run() }
  do {
    try await body()
  } catch {
    running.cancel()
    throw error
  }
  running.cancel()
  await running.value
}

/// A bot that answers immediately and shows no receipts and typing, unless told otherwise.
func bot(
  _ user: String, _ behaviours: Behaviour..., rooms: [String] = [],
  replyDelay: ClosedRange<Duration> = .zero ... .zero, uploadDelay: Duration = .zero,
  typing: Bool = false, lines: [String] = [], script: [ScriptStep] = [],
  command: [String] = [], seed: UInt64? = nil
) -> BotDescription {
  BotDescription(
    user: user, name: user, behaviours: behaviours, rooms: rooms, replyDelay: replyDelay,
    uploadDelay: uploadDelay, typing: typing, lines: lines, script: script, command: command,
    seed: seed)
}

func isJoin(_ event: FakeRelay.Event) -> Bool {
  if case .join = event.message { true } else { false }
}

@Suite(.timeLimit(.minutes(30))) struct `The answers of a bot` {
  let clock = TestClock()
  let relay: FakeRelay
  let room = "dm:ada:echo"

  init() { relay = FakeRelay(clock: clock) }

  @Test func `an echo has receipts and typing before it, in this order`() async throws {
    let echo = bot("echo", .echo, replyDelay: .seconds(1) ... .seconds(3), typing: true)
    try await withBots(echo, on: relay) { () async throws in
      _ = try await relay.next { $0.message == .rooms(.init()) }
      relay.post("hello", from: "ada", to: room)
      _ = try await relay.next(isJoin)
      #expect(try await relay.next().message == .received(room: room, seq: 1))
      #expect(try await relay.next().message == .read(room: room, seq: 1))
      #expect(try await relay.next().message == .typing(room: room, on: true))
      let delay = await clock.advance()
      #expect(delay >= .seconds(1))
      #expect(delay <= .seconds(3))
      let send = try await relay.nextSend()
      #expect(send.id == "echo-1-1")
      #expect(send.text == "hello")
      #expect(send.at == delay)
      #expect(relay.texts(room) == ["ada: hello", "echo: hello"])
    }
  }

  @Test func `the upload delay is between the end of typing and the send`() async throws {
    let echo = bot(
      "echo", .echo, replyDelay: .seconds(5) ... .seconds(5), uploadDelay: .seconds(2),
      typing: true)
    try await withBots(echo, on: relay) { () async throws in
      _ = try await relay.next { $0.message == .rooms(.init()) }
      relay.post("hello", from: "ada", to: room)
      _ = try await relay.next { $0.message == .typing(room: room, on: true) }
      // The relay ends typing after 6 s, so it is renewed in time.
      await clock.advance()
      let renewed = try await relay.next()
      #expect(renewed.message == .typing(room: room, on: true))
      #expect(renewed.at == .seconds(4))
      await clock.advance()
      let ended = try await relay.next()
      #expect(ended.message == .typing(room: room, on: false))
      #expect(ended.at == .seconds(5))
      await clock.advance()
      #expect(try await relay.nextSend().at == .seconds(7))
    }
  }

  @Test func `messages that wait are answered one by one, in order`() async throws {
    let echo = bot("echo", .echo, replyDelay: .seconds(1) ... .seconds(1))
    try await withBots(echo, on: relay) { () async throws in
      _ = try await relay.next { $0.message == .rooms(.init()) }
      for text in ["one", "two", "three"] { relay.post(text, from: "ada", to: room) }
      for text in ["one", "two", "three"] {
        await clock.advance()
        #expect(try await relay.nextSend().text == text)
      }
    }
  }

  @Test func `messages beyond its limit wait in the log`() async throws {
    let echo = bot("echo", .echo)
    let count = 1000
    try await withBots(echo, on: relay) { () async throws in
      for number in 1...count { relay.post("\(number)", from: "ada", to: room) }
      for number in 1...count { #expect(try await relay.nextSend().text == "\(number)") }
    }
    #expect(relay.log(room).count == 2 * count)
  }

  @Test func `a post comes back as two messages`() async throws {
    try await withBots(bot("echo", .echoTwice), on: relay) { () async throws in
      relay.post("hello", from: "ada", to: room)
      #expect(try await relay.nextSend().id == "echo-1-1")
      #expect(try await relay.nextSend().id == "echo-1-2")
      #expect(relay.texts(room) == ["ada: hello", "echo: hello", "echo: hello"])
    }
  }

  @Test func `data is returned byte for byte`() async throws {
    let data = Array(#""data":{"a" : [1.50, null]}"#.utf8)
    try await withBots(bot("echo", .echo), on: relay) { () async throws in
      relay.post(
        ClientMessage.Send(room: room, id: "d", kind: .data, body: data), from: "ada")
      _ = try await relay.nextSend()
      #expect(relay.log(room).last?.body == data)
    }
  }

  @Test func `a bot does not answer bots, and answers all other users in a listed room`()
    async throws
  {
    let first = bot("echo", .echo, rooms: ["general"])
    let second = bot("parrot", .echo, rooms: ["general"])
    try await withBots(first, second, on: relay) { () async throws in
      for _ in 0..<4 { _ = try await relay.next(isJoin) }
      relay.post("hello", from: "ada", to: "general")
      _ = try await relay.nextSend()
      _ = try await relay.nextSend()
      relay.post("bye", from: "bo", to: "general")
      _ = try await relay.nextSend()
      _ = try await relay.nextSend()
    }
    let said = relay.texts("general")
    #expect(said.count == 6)
    #expect(
      Set(said) == [
        "ada: hello", "bo: bye", "echo: hello", "echo: bye", "parrot: hello", "parrot: bye",
      ])
  }

  @Test func `messages in a room before its first join are not answered`() async throws {
    relay.post("old", from: "ada", to: "general")
    try await withBots(bot("echo", .echo, rooms: ["general"]), on: relay) { () async throws in
      _ = try await relay.next {
        if case .join(let join) = $0.message { join.after == 1 } else { false }
      }
      relay.post("new", from: "ada", to: "general")
      #expect(try await relay.nextSend().text == "new")
    }
  }
}

@Suite(.timeLimit(.minutes(30))) struct `A conversation is the same for the same seed` {
  private struct Said: Equatable {
    var text: String
    var at: Duration
  }

  private func converse(seed: UInt64, othersFirst: Bool) async throws -> [Said] {
    let clock = TestClock()
    let relay = FakeRelay(clock: clock)
    let echo = bot("echo", .echoTwice, replyDelay: .zero ... .seconds(60), seed: seed)
    var said: [Said] = []
    try await withBots(echo, on: relay) { () async throws in
      _ = try await relay.next { $0.message == .rooms(.init()) }
      if othersFirst {
        relay.post("before", from: "zoe", to: "dm:echo:zoe")
        for _ in 0..<2 {
          await clock.advance()
          _ = try await relay.nextSend()
        }
      }
      let start = clock.now.offset
      for text in ["a", "b", "c"] { relay.post(text, from: "ada", to: "dm:ada:echo") }
      for _ in 0..<6 {
        await clock.advance()
        let send = try await relay.nextSend()
        said.append(Said(text: send.text, at: send.at - start))
      }
    }
    return said
  }

  @Test func `independently of other rooms`() async throws {
    let alone = try await converse(seed: 1, othersFirst: false)
    #expect(try await converse(seed: 1, othersFirst: true) == alone)
    #expect(try await converse(seed: 2, othersFirst: false) != alone)
  }
}
