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
