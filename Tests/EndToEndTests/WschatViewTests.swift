import TestSupport
import Testing
import Wire

extension `End to end` {
  /// What the screen shows, and the keys and settings that change it.
  @Suite struct `wschat's views` {
    static let echo = "bots: [{ user: echo, name: Echo, behaviour: [] }]"

    @Test func `a newcomer sees the room above the people, and the list can be compact or hidden`()
      throws
    {
      let relay = try RelayProcess(Self.echo)
      let terminal = try TerminalSession.wschat(relay)
      let screen = try terminal.wait(for: "rooms above people") { screen in
        guard let rooms = screen.list.firstIndex(where: { $0.contains("Rooms") }),
          let general = screen.list.firstIndex(where: { $0.contains("General") }),
          let people = screen.list.firstIndex(where: { $0.contains("People") }),
          let echo = screen.list.firstIndex(where: { $0.contains("Echo") })
        else { return false }
        return rooms < general && general < people && people < echo
      }
      #expect(screen.list.contains { $0.contains("People") && $0.contains("Ctrl+K finds") })
      let place = try #require(screen.row(of: "Echo"))
      try terminal.press("M-c")
      try terminal.wait(for: "one row for each") { $0.row(of: "Echo") == place - 1 }

      try terminal.go(to: "Echo")
      try terminal.waitForConversation("Echo")
      try terminal.press("M-s")
      try terminal.wait(for: "no list") { !$0.contains("General") && !$0.contains("│") }
      let bo = try RawClient(relay, user: "bo")
      try bo.say("are you there?", in: "dm:ada:bo", id: "1")
      try terminal.wait(for: "the count in the title") { $0.lines[0].contains("1 unread") }
      try terminal.press("M-s")
      try terminal.wait(for: "the list") { $0.list.contains { $0.contains("General") } }
    }

    @Test func `two users of a relay that knows no people find each other in the list`() throws {
      let relay = try RelayProcess()
      func shows(_ screen: TerminalSession.Screen, _ presence: String, _ name: String) -> Bool {
        screen.list.contains { $0.contains(presence) && $0.contains("  \(name) ") }
      }
      let ada = try TerminalSession.wschat(relay)
      try ada.wait(for: "the room") { $0.list.contains { $0.contains("General") } }
      let bo = try TerminalSession.wschat(relay, user: "bo")
      try bo.wait(for: "ada, online") { shows($0, "●", "ada") }
      try ada.wait(for: "bo, online") { shows($0, "●", "bo") }
      try bo.press("C-q")
      try ada.wait(for: "bo, offline") { shows($0, "○", "bo") }
      try ada.go(to: "bo")
      try ada.waitForConversation("bo")
    }

    @Test func `a mention has a badge, also after a restart, and a room can be limited to them`()
      throws
    {
      let relay = try RelayProcess(Self.echo + "\n" + RelayProcess.withoutLimits)
      let folder = try TemporaryFolder()
      let bo = try RawClient(relay, user: "bo")
      try RawClient(relay, user: "ada").say("I am here", in: "general", id: "0")
      var terminal = try TerminalSession.wschat(relay, ["--to", "echo"], in: folder)
      try terminal.waitForConversation("Echo")
      try bo.say("hello everyone", in: "general", id: "1")
      try bo.say("@ada, have a look", in: "general", id: "2")
      try terminal.wait(for: "the badge") { $0.list.contains { $0.contains(" @1  2") } }
      try terminal.press("C-q")
      try terminal.wait(for: "its end") { !$0.isAlternate }
      try terminal.end()
      terminal = try TerminalSession.wschat(relay, ["--to", "echo"], in: folder)
      try terminal.wait(for: "the badge again") { $0.list.contains { $0.contains(" @1  2") } }
      try terminal.go(to: "General")
      try terminal.waitForConversation("General")
      try terminal.wait(for: "no badge") { !$0.list.contains { $0.contains("@1") } }
      #expect(try terminal.styledText().contains(/\u{1B}\[[0-9;]*m@ada\u{1B}\[/))
      try terminal.press("M-m", "M-m")
      try terminal.wait(for: "the level") { $0.lines[0].contains("mentions only") }
      try terminal.press("C-q")
      try terminal.wait(for: "its end") { !$0.isAlternate }
      try terminal.end()
      terminal = try TerminalSession.wschat(relay, ["--room", "general"], in: folder)
      try terminal.wait(for: "the level again") { $0.lines[0].contains("mentions only") }
    }

    @Test func `messages in lines have the time and the name, and a long text is aligned`() throws {
      let relay = try RelayProcess(Self.echo + "\n" + RelayProcess.withoutLimits)
      let bo = try RawClient(relay, user: "bo")
      let long = (1...20).map { "word\($0)" }.joined(separator: " ")
      try bo.say(long, in: "general", id: "1")
      for number in 2...30 { try bo.say("line \(number)", in: "general", id: "\(number)") }
      let folder = try TemporaryFolder()
      try folder.write("messages: irc\nclock: 12h\n", to: "wschat.yaml")
      let terminal = try TerminalSession.wschat(
        relay, ["--room", "general", "--config", folder["wschat.yaml"]], columns: 100)
      try terminal.waitForConversation("General")
      try terminal.say("mine")
      let screen = try terminal.wait(for: "lines") { screen in
        screen.messages(with: "line 30").count == 1
          && screen.messages(with: "mine").contains { $0.contains("✓") }
      }
      let theirs = try #require(screen.messages(with: "line 30").first)
      let own = try #require(screen.messages(with: "mine").first)
      #expect(theirs.contains(/\d:\d\d [ap]m .* bo  line 30$/))
      // Both texts begin in the same column, and follow without a gap.
      #expect(column(of: "line 30", in: theirs) == column(of: "mine", in: own))
      let last = try #require(screen.row(of: "line 30"))
      #expect(try #require(screen.row(of: "line 29")) == last - 1)
      // Scrolled to the top, the date is in the title, and the long text is aligned.
      let top = try terminal.wait(for: "the long text") { screen in
        if !screen.messages(with: "word20").isEmpty { return true }
        try terminal.press("PPage")
        return false
      }
      let first = try #require(top.messages(with: "word1 ").first)
      let second = try #require(top.messages(with: "word20").first)
      #expect(column(of: "word1", in: first) == second.prefix { $0 == " " }.count)
      #expect(top.lines[0].contains("Today"))
      try terminal.press("C-End")
      try terminal.wait(for: "no date") { !$0.lines[0].contains("Today") }
    }

    private func column(of text: String, in line: String) -> Int? {
      line.ranges(of: text).first.map {
        line.distance(from: line.startIndex, to: $0.lowerBound)
      }
    }

    @Test func `the window's title counts what is unread, and is restored at the end`() throws {
      let relay = try RelayProcess(Self.echo)
      let terminal = try TerminalSession.wschat(relay, ["--to", "echo"])
      try terminal.waitForConversation("Echo")
      _ = try becomesTrue { try terminal.title.contains("Echo – wschat") }
      let bo = try RawClient(relay, user: "bo")
      try bo.say("are you there?", in: "dm:ada:bo", id: "1")
      let isCounted = try becomesTrue { try terminal.title.contains("(1) Echo – wschat") }
      let counted = try terminal.title
      #expect(isCounted, "the title is \(counted)")
      try terminal.press("C-q")
      let isRestored = try becomesTrue { try !terminal.title.contains("wschat") }
      let restored = try terminal.title
      #expect(isRestored, "the title is \(restored)")
    }

    @Test func `the name in a token stands above the list, and a first message begins it all`()
      throws
    {
      let secret = "0123456789abcdef0123456789abcdef"
      let relay = try RelayProcess("auth: { mode: jwt, secret: \(secret) }\n\(Self.echo)")
      let issue = try ChildProcess(
        [Programs.relay, "token", "--user", "ada", "--name", "Ada \"Zoë\" Lovelace"],
        environment: ["RELAY_AUTH_SECRET=\(secret)"], input: "")
      guard try issue.wait() == .exit(0) else { throw Unexpected(issue.errors) }
      let terminal = try TerminalSession(
        [
          Programs.wschat, relay.url, "--token", String(issue.output.dropLast()), "--to", "echo",
        ], columns: 120)
      try terminal.wait(for: "the name") { $0.lines[0].hasPrefix(" Ada \"Zoë\" Lovelace") }
      try terminal.waitForConversation("Echo")
      try terminal.say("hello")
      try terminal.wait(for: "the beginning above it") { screen in
        guard let start = screen.row(of: "the conversation begins here"),
          let first = screen.conversation.firstIndex(where: { $0.contains("hello") })
        else { return false }
        return start <= first + 1
      }
    }
  }
}
