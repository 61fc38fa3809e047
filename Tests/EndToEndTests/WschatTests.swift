import Glibc
import TestSupport
import Testing
import Wire

extension `End to end` {
  @Suite struct `wschat, in lines` {
    static let echo = """
      bots: [{ user: echo, behaviour: echo, reply_delay_s: [0.05, 0.1] }]
      """

    private func wschat(
      _ relay: RelayProcess, _ arguments: String..., input: String? = nil
    ) throws -> ChildProcess {
      try ChildProcess(
        [Programs.wschat, relay.url] + arguments, environment: ["TZ=UTC0"], input: input)
    }

    @Test func `a bot is heard typing, and answers`() throws {
      let relay = try RelayProcess(Self.echo)
      let chat = try wschat(
        relay, "--to", "echo", "--user", "ada", "--follow", "--json", input: "hello\n")
      try chat.waitForOutput { $0.lines.contains { $0.isEntry(from: "echo", "hello") } }
      let lines = chat.output.lines
      #expect(lines.contains { $0.contains(#""type":"ack","room":"dm:ada:echo""#) })
      #expect(lines.contains { $0.isEntry(from: "ada", "hello") })
      #expect(
        lines.contains {
          $0.contains(#""type":"typing""#) && $0.contains(#""user":"echo","on":true"#)
        })
      #expect(lines.allSatisfy { $0.hasPrefix("{") && $0.hasSuffix("}") })
      // Interrupted, it says good-bye: all was acknowledged.
      chat.signal(SIGTERM)
      #expect(try chat.wait() == .exit(0))
      #expect(chat.errors.isEmpty)
    }

    @Test func `lines are sent in order, blank ones are not, and the last may lack its end`() throws
    {
      let relay = try RelayProcess()
      let chat = try wschat(
        relay, "--room", "general", "--user", "ada", input: "one\n\n \t\ntwo\r\nthree")
      #expect(try chat.wait() == .exit(0))
      let entries = try RawClient(relay, user: "bo").history("general").entries
      #expect(entries.compactMap(\.text) == ["one", "two", "three"])
      #expect(entries.allSatisfy { $0.from == "ada" })
    }

    @Test func `history is printed as clock, sender and text, and then it ends`() throws {
      let relay = try RelayProcess()
      let bo = try RawClient(relay, user: "bo")
      for number in 1...5 { try bo.say("line \(number)", in: "general", id: "\(number)") }
      // A terminal must not take orders from others.
      try bo.say("tab\tand\u{202E}turn", in: "general", id: "6")
      let chat = try wschat(relay, "--user", "ada", "--history", "3", input: "")
      #expect(try chat.wait() == .exit(0))
      let lines = chat.output.lines
      #expect(lines.count == 3)
      let at = try bo.history("general").entries[3].at / 60_000 % (24 * 60)
      let clock = String("0\(at / 60)".suffix(2)) + ":" + String("0\(at % 60)".suffix(2))
      #expect(lines.first == "\(clock)  bo  line 4")
      #expect(!chat.output.contains("\u{202E}"))
      #expect(chat.errors.isEmpty)
    }

    @Test func `history is unrolled into messages with --json`() throws {
      let relay = try RelayProcess()
      let bo = try RawClient(relay, user: "bo")
      for number in 1...5 { try bo.say("line \(number)", in: "general", id: "\(number)") }
      let chat = try wschat(relay, "--user", "ada", "--history", "2", "--json", input: "")
      #expect(try chat.wait() == .exit(0))
      let entries = chat.output.lines.filter { $0.contains(#""type":"message""#) }
      #expect(entries.count == 2)
      #expect(entries.first?.isEntry(from: "bo", "line 4") == true)
      #expect(entries.last?.isEntry(from: "bo", "line 5") == true)
      #expect(!chat.output.contains(#""type":"history""#))
    }

    @Test func `a line that is refused is reported with its number, the others arrive`() throws {
      let relay = try RelayProcess("limits: { text_bytes: 20 }")
      let chat = try wschat(
        relay, "--user", "ada",
        input: "short\n\n\(String(repeating: "long", count: 8))\nagain\n")
      #expect(try chat.wait() == .exit(1))
      #expect(chat.errors.contains("line 3 was refused: "))
      #expect(!chat.errors.contains("line 1"))
      #expect(!chat.errors.contains("line 4"))
      let entries = try RawClient(relay, user: "bo").history("general").entries
      #expect(entries.compactMap(\.text) == ["short", "again"])
    }

    @Test func `wrong usage ends with 2, and an error names it`() throws {
      for (arguments, complaint) in [
        (["--room", "a/b", "--user", "ada"], "\"a/b\" is not a valid room name"),
        (["--room", "a", "--to", "bo", "--user", "ada"], "cannot be combined"),
        (["--user", "Ada"], "\"Ada\" is not a valid user name"),
        (["--user", "ada", "--to", "ada"], "--to must name another user"),
        (["ftp://127.0.0.1", "--user", "ada"], "does not begin with ws://"),
        (["--user", "ada", "--to", "#general"], "\"#general\" is a room: use --room general"),
        (["--user", "ada", "--to", String(repeating: "Ä", count: 101)], "at most 200 bytes"),
        (["--user", "ada", "--quiet", "--json"], "--quiet prints no entries"),
        (["--user", "ada", "--quiet", "--history", "3"], "--quiet prints no entries"),
        (["--nonsense"], "--nonsense"),
      ] {
        let chat = try ChildProcess([Programs.wschat] + arguments, input: "")
        #expect(try chat.wait() == .exit(2), "\(arguments)")
        #expect(chat.errors.contains(complaint), "\(arguments)")
      }
    }

    @Test func `a client that is not admitted ends with 4`() throws {
      let relay = try RelayProcess(Self.echo)
      let asBot = try wschat(relay, "--user", "echo", input: "")
      #expect(try asBot.wait() == .exit(4))
      #expect(asBot.errors.contains("echo is a bot of this relay; choose another name"))
      let withToken = try wschat(relay, "--token", "abc", input: "")
      #expect(try withToken.wait() == .exit(4))
      #expect(withToken.errors.contains("does not use tokens"))
      let inAForeignRoom = try wschat(
        relay, "--user", "ada", "--room", "dm:bo:cy", input: "hello\n")
      #expect(try inAForeignRoom.wait() == .exit(4))
      #expect(inAForeignRoom.errors.contains("dm:bo:cy"))
    }

    @Test func `without a relay it ends with 5 after its timeout`() throws {
      let relay = try RelayProcess()
      try relay.stop()
      let chat = try wschat(relay, "--user", "ada", "--timeout", "0.5", input: "hello\n")
      #expect(try chat.wait() == .exit(5))
      #expect(chat.errors.contains("cannot connect"))
    }

    @Test func `a line that is not acknowledged in time ends with 1`() throws {
      let relay = try RelayProcess()
      let chat = try wschat(relay, "--user", "ada", "--timeout", "0.5", "--json")
      try chat.waitForOutput { $0.contains(#""type":"joined""#) }
      // It exists, and does nothing any more.
      relay.process.signal(SIGSTOP)
      chat.write("hello\n")
      chat.closeInput()
      #expect(try chat.wait() == .exit(1))
      #expect(chat.errors.contains("not acknowledged, the first is line 1"))
      try relay.kill()
    }

    @Test func `a line typed while the relay is away is delivered once it is back`() throws {
      let relay = try RelayProcess()
      let chat = try wschat(
        relay, "--room", "general", "--user", "ada", "--follow", "--timeout", "60")
      chat.write("before\n")
      try chat.waitForOutput { $0.lines.contains { $0.hasSuffix("  ada  before") } }
      try relay.kill()
      try chat.waitForErrors { $0.contains("retrying") }
      chat.write("meanwhile\n")
      try relay.start()
      try chat.waitForOutput { $0.lines.contains { $0.hasSuffix("  ada  meanwhile") } }
      let bo = try RawClient(relay, user: "bo")
      try bo.say("and others", in: "general", id: "1")
      chat.write("after\n")
      try chat.waitForOutput { $0.lines.contains { $0.hasSuffix("  ada  after") } }
      chat.closeInput()
      chat.signal(SIGTERM)
      #expect(try chat.wait() == .exit(0))
      let texts = chat.output.lines.map { $0.drop { $0 != " " } }
      #expect(
        texts == ["  ada  before", "  ada  meanwhile", "  bo  and others", "  ada  after"])
      #expect(
        try bo.history("general").entries.compactMap(\.text)
          == ["before", "meanwhile", "and others", "after"])
    }
  }
}

extension String {
  fileprivate var lines: [String] { split(separator: "\n").map(String.init) }

  fileprivate func isEntry(from user: String, _ text: String) -> Bool {
    contains(#""type":"message""#) && contains(#""from":"\#(user)""#)
      && contains(#""text":"\#(text)""#)
  }
}
