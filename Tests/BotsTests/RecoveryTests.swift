import Bots
import Logging
import Synchronization
import Testing
import Wire

@Suite(.timeLimit(.minutes(30))) struct `No message is answered twice or left out` {
  let clock = TestClock()
  let relay: FakeRelay
  let room = "dm:ada:echo"
  let echo = bot("echo", .echo, replyDelay: .seconds(1) ... .seconds(1))

  init() { relay = FakeRelay(clock: clock) }

  @Test(arguments: [0, 1, 2, 3])
  func `when everything stops after a number of answers`(answers: Int) async throws {
    try await withBots(echo, on: relay) { () async throws in
      _ = try await relay.next { $0.message == .rooms(.init()) }
      for text in ["one", "two", "three"] { relay.post(text, from: "ada", to: room) }
      for _ in 0..<answers {
        await clock.advance()
        _ = try await relay.nextSend()
      }
      // It stops when it has read the next one, and its answers have moved the mark further.
      if answers < 3 {
        _ = try await relay.next { $0.message == .read(room: room, seq: Int64(answers + 1)) }
      }
    }
    relay.restart()
    try await withBots(echo, on: relay) { () async throws in
      for _ in answers..<3 { await clock.advance() }
      relay.post("four", from: "ada", to: room)
      await clock.advance()
      while try await relay.nextSend().text != "four" {}
    }
    #expect(
      relay.log(room).filter { $0.from == "echo" }.map(\.text) == ["one", "two", "three", "four"])
  }

  @Test func `when a part of the answer is missing`() async throws {
    let twice = bot("echo", .echoTwice)
    relay.post("one", from: "ada", to: room)
    relay.post(ClientMessage.Send(room: room, id: "echo-1-1", text: "one"), from: "echo")
    try await withBots(twice, on: relay) { () async throws in
      let send = try await relay.nextSend()
      #expect(send.id == "echo-1-2")
    }
    #expect(relay.texts(room) == ["ada: one", "echo: one", "echo: one"])
  }

  @Test func `when the connection is cut with an answer under way`() async throws {
    try await withBots(echo, on: relay) { () async throws in
      _ = try await relay.next { $0.message == .rooms(.init()) }
      relay.post("one", from: "ada", to: room)
      _ = try await relay.next { $0.message == .read(room: room, seq: 1) }
      relay.dropNextSend()
      await clock.advance(to: .seconds(1) ... .seconds(1))
      #expect(try await relay.nextSend().id == "echo-1-1")
      relay.restart()
      relay.post("two", from: "ada", to: room)
      await clock.advance()
      #expect(try await relay.nextSend().id == "echo-1-1")
      await clock.advance(to: .seconds(1) ... .seconds(1))
      #expect(try await relay.nextSend().id == "echo-2-1")
    }
    #expect(relay.log(room).map(\.text) == ["one", "two", "one", "two"])
  }

  @Test func `when its own lines lie between`() async throws {
    for number in 1...3 {
      relay.post(
        ClientMessage.Send(room: room, id: "every-\(number)", text: "x"), from: "echo")
    }
    relay.post("one", from: "ada", to: room)
    relay.post(ClientMessage.Send(room: room, id: "every-4", text: "x"), from: "echo")
    try await withBots(echo, on: relay) { () async throws in
      await clock.advance()
      #expect(try await relay.nextSend().id == "echo-4-1")
    }
  }

  @Test func `when the host shuts down the bot ends`() async throws {
    let bots = BotSquad(
      [echo], host: relay, clock: clock, log: .init(label: "test"))
    async let end: Void = bots.run()
    _ = try await relay.next { $0.message == .rooms(.init()) }
    relay.shutDown()
    await clock.advance()
    await end
  }
}

@Suite(.timeLimit(.minutes(30))) struct `A bot keeps to the relay's limits` {
  let clock = TestClock()

  @Test func `temporarily refused messages are sent again in order, with the same id`() async throws
  {
    let relay = FakeRelay(clock: clock)
    relay.refuse(WireError(.unavailable, "later", retryAfterMilliseconds: 700))
    try await withBots(bot("echo", .echo), on: relay) { () async throws in
      relay.post("one", from: "ada", to: "dm:ada:echo")
      relay.post("two", from: "ada", to: "dm:ada:echo")
      #expect(try await relay.nextSend().id == "echo-1-1")
      #expect(await clock.advance() == .milliseconds(700))
      let again = try await relay.nextSend()
      #expect(again.id == "echo-1-1")
      #expect(again.at == .milliseconds(700))
      #expect(try await relay.nextSend().id == "echo-2-1")
    }
  }

  @Test func `a message that the relay never accepts is given up`() async throws {
    let relay = FakeRelay(clock: clock)
    relay.refuse(WireError(.tooLarge, "no"))
    try await withBots(bot("echo", .echo), on: relay) { () async throws in
      relay.post("one", from: "ada", to: "dm:ada:echo")
      relay.post("two", from: "ada", to: "dm:ada:echo")
      #expect(try await relay.nextSend().id == "echo-1-1")
      #expect(try await relay.nextSend().id == "echo-2-1")
    }
  }

  @Test func `beyond the limit of rooms the one that was silent longest is left, and found again`()
    async throws
  {
    var limits = ServerMessage.Welcome.Limits()
    limits.rooms = 2
    let relay = FakeRelay(clock: clock, limits: limits)
    let users = ["a", "b", "c", "a", "c", "b"]
    try await withBots(bot("echo", .echo), on: relay) { () async throws in
      _ = try await relay.next { $0.message == .rooms(.init()) }
      for (index, user) in users.enumerated() {
        let room = "dm:\(user):echo"
        relay.post("\(index)", from: user, to: room)
        let send = try await relay.nextSend()
        #expect(send.room == room)
        #expect(send.text == "\(index)")
        // Its answer is acknowledged when the next room is joined, so that it is idle by then.
        #expect(relay.state.withLock { $0.joined["echo"]?.count ?? 0 } <= 2)
      }
    }
    for user in ["a", "b", "c"] { #expect(relay.log("dm:\(user):echo").count == 4) }
  }
}
