import Bots
import Testing
import Wire

@Suite(.timeLimit(.minutes(30))) struct `A bot's program` {
  let clock = TestClock()
  let relay: FakeRelay
  let room = "dm:ada:prog"

  init() { relay = FakeRelay(clock: clock) }

  private func program(_ script: String) -> BotDescription {
    bot("prog", .exec, command: ["sh", "-c", script])
  }

  private func start() async throws {
    _ = try await relay.next { $0.message == .rooms(.init()) }
  }

  @Test func `gets one JSON line per message and answers with lines`() async throws {
    // Repeats the line it got, quotes included, as one text.
    let quoting = bot(
      "prog", .exec,
      command: ["sed", "-u", #"s/\\/\\\\/g; s/"/\\"/g; s/.*/{"text":"&"}/"#])
    try await withBots(quoting, on: relay) { () async throws in
      try await start()
      relay.post("hello \"you\"\nthere", from: "ada", to: room)
      let got = try await relay.nextSend()
      let entry = try Entry(decoding: Array(got.text.utf8).span)
      #expect(entry == relay.log(room).first)
      #expect(got.room == room)
    }
  }

  @Test func `may name another room, and lines that are no message are skipped`() async throws {
    let script = """
      read line
      echo 'not json'; echo '{"text":" "}'; echo '{"text":1}'; echo '{}'; echo
      echo '{"text":"a"},"x":{"y":1}'; echo '{"text":"there","room":"general","type":"join"}'
      echo '{"text":"here","id":"mine"}'
      cat >/dev/null
      """
    try await withBots(program(script), on: relay) { () async throws in
      try await start()
      relay.post("go", from: "ada", to: room)
      let first = try await relay.nextSend()
      #expect(first.room == "general")
      #expect(first.text == "there")
      let second = try await relay.nextSend()
      #expect(second.room == room)
      #expect(second.text == "here")
      #expect(second.id != "mine")
    }
    #expect(relay.texts(room) == ["ada: go", "prog: here"])
  }

  @Test func `is started again with a growing delay when it dies`() async throws {
    let script = #"read line; echo '{"text":"one and done"}'"#
    try await withBots(program(script), on: relay) { () async throws in
      try await start()
      for delay in [500, 1000, 2000] {
        relay.post("go", from: "ada", to: room)
        #expect(try await relay.nextSend().text == "one and done")
        let range = Duration.milliseconds(delay) ... .milliseconds(delay)
        #expect(await clock.advance(to: range) == .milliseconds(delay))
      }
    }
  }

  @Test func `that cannot be run does no harm`() async throws {
    let missing = bot("prog", .exec, .echo, command: ["/nonexistent/program"])
    try await withBots(missing, on: relay) { () async throws in
      try await start()
      await clock.advance(to: .milliseconds(500) ... .milliseconds(500))
      relay.post("go", from: "ada", to: room)
      #expect(try await relay.nextSend().text == "go")
      await clock.advance(to: .seconds(1) ... .seconds(1))
    }
  }

  @Test func `that reads nothing is ended after ten seconds and started again`() async throws {
    let hanging = bot("prog", .exec, .echo, command: ["sleep", "1000"])
    try await withBots(hanging, on: relay) { () async throws in
      try await start()
      // More than a pipe holds; meanwhile the bot continues to answer.
      let long = String(repeating: "x", count: 8000)
      for _ in 0..<20 {
        relay.post(long, from: "ada", to: room)
        #expect(try await relay.nextSend().text == long)
      }
      // Each line written is given ten seconds; the pipe accepts the first few immediately.
      let restart = Duration.milliseconds(500)
      while await clock.advance(to: restart ... .seconds(10)) != restart {}
      #expect(clock.now.offset >= .seconds(10) + restart)
    }
  }

  @Test func `that closes its input ends nothing`() async throws {
    let closed = bot("prog", .exec, .echo, command: ["sh", "-c", "exec <&-; exec sleep 1000"])
    try await withBots(closed, on: relay) { () async throws in
      try await start()
      for number in 1...3 {
        relay.post("\(number)", from: "ada", to: room)
        #expect(try await relay.nextSend().text == "\(number)")
      }
    }
  }

  @Test func `that floods is limited to a rate, and endless lines are dropped`() async throws {
    let script = #"""
      read line
      head -c 200000 /dev/zero | tr '\0' x; echo
      while echo '{"text":"spam"}'; do :; done
      """#
    try await withBots(program(script), on: relay) { () async throws in
      try await start()
      relay.post("go", from: "ada", to: room)
      for _ in 1...100 { #expect(try await relay.nextSend().at == .zero) }
      let step = Duration.milliseconds(50)
      for number in 1...5 {
        await clock.advance(to: .zero...step)
        #expect(try await relay.nextSend().at == step * number)
      }
    }
    #expect(relay.log(room).count == 106)
  }
}
