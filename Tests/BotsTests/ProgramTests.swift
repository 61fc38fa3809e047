import Bots
import Logging
import Synchronization
import Testing
import Wire

/// Counts warnings.
private struct WarningCounter: LogHandler {
  final class Count: Sendable { let warnings = Mutex(0) }
  let count: Count
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.trace

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    if event.level == .warning { count.warnings.withLock { $0 += 1 } }
  }
}

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
    var bot = program(script)
    bot.rooms = ["general"]
    try await withBots(bot, on: relay) { () async throws in
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

  @Test func `reacts, replies, edits what it said last, and types`() async throws {
    let script = #"""
      read line
      echo '{"react":"👍"}'; echo '{"react":"👎","target":1,"on":false}'
      echo '{"typing":true}'; echo '{"text":"first","reply_to":1}'
      echo '{"edit":"second"}'; echo '{"edit":"other","target":1}'
      echo '{"text":"x","react":"👍"}'; echo '{"react":1}'; echo '{"typing":1}'; echo '{"edit":"x","room":"dm:bo:prog"}'
      echo '{"text":"last"}'
      cat >/dev/null
      """#
    try await withBots(program(script), on: relay) { () async throws in
      try await start()
      relay.post("go", from: "ada", to: room)
      _ = try await relay.next { $0.message == .typing(room: room, on: true) }
      while try await relay.nextSend().text != "last" {}
    }
    let said = relay.log(room).dropFirst().map {
      "\($0.kind.rawValue) \($0.target ?? $0.replyTo ?? 0) \($0.reaction.map { "\($0.emoji) \($0.isOn)" } ?? $0.text ?? "")"
    }
    #expect(
      said == [
        "react 1 👍 true", "react 1 👎 false", "text 1 first", "edit 4 second", "edit 1 other",
        "text 0 last",
      ])
  }

  @Test func `is given another room's message once it is silent, unless it names rooms`()
    async throws
  {
    let second = "dm:bo:prog"
    let silent = program(#"while read line; do echo '{"text":"a"}'; echo '{"text":"b"}'; done"#)
    try await withBots(silent, on: relay) { () async throws in
      try await start()
      relay.post("go", from: "ada", to: room)
      relay.post("go", from: "bo", to: second)
      // Which one is first depends on the order of the joins.
      var rooms: [String] = []
      for _ in 1...2 { rooms.append(try await relay.nextSend().room) }
      await clock.advance(to: .milliseconds(1) ... .milliseconds(200))
      for _ in 1...2 { rooms.append(try await relay.nextSend().room) }
      #expect(rooms[0] == rooms[1] && rooms[2] == rooms[3])
      #expect(Set(rooms) == [room, second])
    }
    let naming = program(
      #"while read line; do echo "$line" | sed 's/.*"room":\("[^"]*"\).*/{"text":"a","room":\1}/'; done"#
    )
    let other = FakeRelay(clock: clock)
    try await withBots(naming, on: other) { () async throws in
      _ = try await other.next { $0.message == .rooms(.init()) }
      other.post("go", from: "ada", to: room)
      _ = try await other.nextSend()
      // The clock stands still.
      other.post("go", from: "bo", to: second)
      #expect(try await other.nextSend().room == second)
      other.post("go", from: "ada", to: room)
      #expect(try await other.nextSend().room == room)
    }
  }

  @Test func `that prints nonsense fills neither the room nor the log`() async throws {
    let script = #"""
      read line
      for i in $(seq 95); do echo "{nonsense"; done
      echo '{"text":"done"}'; cat >/dev/null
      """#
    let count = WarningCounter.Count()
    let log = Logger(label: "test") { _ in WarningCounter(count: count) }
    try await withBots(program(script), on: relay, log: log) { () async throws in
      try await start()
      relay.post("go", from: "ada", to: room)
      #expect(try await relay.nextSend().text == "done")
      // The clock has stood still: a burst of 20, and one on credit.
      #expect(count.warnings.withLock { $0 } == 21)
    }
  }

  @Test func `cannot write to rooms that the bot is not in`() async throws {
    let script = #"""
      read line
      for room in elsewhere dm:ada:bo sys:canary ../x; do echo "{\"text\":\"x\",\"room\":\"$room\"}"; done
      echo '{"typing":true,"room":"elsewhere"}'
      echo '{"text":"hello","room":"dm:bo:prog"}'; echo '{"text":"done"}'
      cat >/dev/null
      """#
    try await withBots(program(script), on: relay) { () async throws in
      try await start()
      relay.post("go", from: "ada", to: room)
      // Its own direct rooms are open to it, also before the other user writes.
      #expect(try await relay.nextSend().room == "dm:bo:prog")
      #expect(try await relay.nextSend().text == "done")
    }
    for room in ["elsewhere", "dm:ada:bo", "sys:canary", "../x"] {
      #expect(relay.log(room).isEmpty, "\(room)")
    }
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
