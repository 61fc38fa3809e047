import Bots
import Testing
import Wire

@Suite(.timeLimit(.minutes(30))) struct `A bot posts at an interval` {
  let clock = TestClock()
  let relay: FakeRelay

  init() { relay = FakeRelay(clock: clock) }

  @Test func `in turn, while a user that is not a bot is subscribed`() async throws {
    relay.setSubscribers(2, in: "general")
    relay.setSubscribers(2, in: "lounge")
    let chatty = bot("chatty", .every, rooms: ["general", "lounge"], lines: ["x", "y"])
    let other = bot("other", .echo, rooms: ["general"])
    func line(in room: String) async throws -> (String, Duration) {
      while true {
        let event = try await relay.next { $0.user == "chatty" }
        guard case .send(let send) = event.message, send.room == room else { continue }
        return (FakeRelay.text(of: send), event.at)
      }
    }
    try await withBots(chatty, other, on: relay) { () async throws in
      // In the lounge there is one bot, so the second is a person; in general both are bots.
      for (index, text) in ["x", "y", "x"].enumerated() {
        #expect(await clock.advance() == .seconds(5))
        #expect(try await line(in: "lounge") == (text, .seconds(5 * (index + 1))))
      }
      relay.setSubscribers(3, in: "general")
      relay.setSubscribers(1, in: "lounge")
      #expect(try await waitUntilRead("general") == "hello?")
      for text in ["x", "y"] {
        await clock.advance()
        #expect(try await line(in: "general").0 == text)
      }
    }
    #expect(relay.texts("lounge") == ["chatty: x", "chatty: y", "chatty: x"])
    #expect(relay.log("general").filter { $0.from == "chatty" }.map(\.text) == ["x", "y"])
  }

  /// Posts a message and waits until the bot has seen it, and so all messages before it.
  private func waitUntilRead(_ room: String) async throws -> String? {
    relay.post("hello?", from: "ada", to: room)
    let seq = Int64(relay.log(room).count)
    _ = try await relay.next { $0.user == "chatty" && $0.message == .read(room: room, seq: seq) }
    return relay.log(room).first { $0.seq == seq }?.text
  }

  @Test func `besides answering`() async throws {
    let room = "dm:ada:echo"
    try await withBots(bot("echo", .echo, .every, lines: ["x"]), on: relay) { () async throws in
      _ = try await relay.next { $0.message == .rooms(.init()) }
      relay.post("hello", from: "ada", to: room)
      #expect(try await relay.nextSend().text == "hello")
      await clock.advance()
      #expect(try await relay.nextSend().text == "x")
      relay.setSubscribers(1, in: room)
      relay.post("again", from: "ada", to: room)
      #expect(try await relay.nextSend().text == "again")
    }
  }
}

@Suite(.timeLimit(.minutes(30))) struct `A script` {
  let clock = TestClock()
  let relay: FakeRelay
  let room = "dm:ada:guide"
  let guide = bot(
    "guide", .script, script: [.say("welcome"), .wait(.seconds(10)), .say("still there?")])

  init() { relay = FakeRelay(clock: clock) }

  @Test func `plays from the first message on, and again after its end`() async throws {
    try await withBots(guide, on: relay) { () async throws in
      _ = try await relay.next { $0.message == .rooms(.init()) }
      relay.post("hi", from: "ada", to: room)
      #expect(try await relay.nextSend().id == "script-1-0")
      relay.post("yes", from: "ada", to: room)
      #expect(await clock.advance() == .seconds(10))
      let last = try await relay.nextSend()
      #expect(last.text == "still there?")
      #expect(last.id == "script-1-2")
      #expect(last.at == .seconds(10))
      relay.post("once more", from: "ada", to: room)
      #expect(try await relay.nextSend().id == "script-5-0")
    }
  }

  @Test func `continues at its last line after a restart of everything`() async throws {
    try await withBots(guide, on: relay) { () async throws in
      relay.post("hi", from: "ada", to: room)
      _ = try await relay.nextSend()
    }
    relay.restart()
    try await withBots(guide, on: relay) { () async throws in
      #expect(await clock.advance() == .seconds(10))
      #expect(try await relay.nextSend().id == "script-1-2")
    }
    #expect(relay.texts(room) == ["ada: hi", "guide: welcome", "guide: still there?"])
  }
}
