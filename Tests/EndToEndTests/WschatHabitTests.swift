import Glibc
import TestSupport
import Testing
import Wire

extension `End to end` {
  /// What a day's use needs: a silent relay, unattended panes, commands, and conversations that go.
  @Suite struct `A day with wschat on a screen` {
    private func texts(_ relay: RelayProcess, _ room: String) throws -> [String] {
      try RawClient(relay, user: "bo").everything(in: room).compactMap(\.text)
    }

    @Test func `a relay that is silent is shown as such within seconds, and Alt+R reconnects`()
      throws
    {
      let relay = try RelayProcess()
      let terminal = try TerminalSession.wschat(relay, ["--room", "general"])
      try terminal.waitForConversation("General")
      relay.freeze()
      try terminal.say("is anybody there?")
      try terminal.wait(for: "waiting 2 s")
      try terminal.wait(for: "reconnect now")
      try terminal.press("M-r")
      try terminal.wait(for: "connecting…")
      relay.thaw()
      try terminal.wait(for: "its ack") {
        $0.isConnected && $0.messages(with: "anybody").contains { $0.contains("✓") }
      }
      #expect(try texts(relay, "general") == ["is anybody there?"])
    }

    @Test func `without reports of the focus nothing is read once nobody types`() throws {
      let relay = try RelayProcess()
      let home = try TemporaryFolder()
      try home.write(
        #"{ away_after_s: 1, notify: { command: 'printf "%s\n" "$2" >>~/told' } }"#,
        to: "config/wschat/config.yaml")
      let terminal = try TerminalSession.wschat(relay, ["--to", "bo"], in: home)
      try terminal.waitForConversation("bo")
      try terminal.say("hello")
      let bo = try RawClient(relay, user: "bo")
      var count = 0
      // Until one arrives a second after the last key.
      let isTold = becomesTrue {
        count += 1
        _ = try? bo.say("message \(count)", in: "dm:ada:bo", id: "\(count)")
        return (try? home.read("told")) != nil
      }
      #expect(isTold)
      try terminal.wait(for: " unread")
      try terminal.type("a")
      try terminal.wait(forNo: " unread")
    }

    @Test func `commands are completed, performed, and never sent`() throws {
      let relay = try RelayProcess()
      let terminal = try TerminalSession.wschat(relay, ["--room", "general"])
      try terminal.waitForConversation("General")
      try terminal.type("/jion tea")
      try terminal.press("Enter")
      try terminal.wait(for: "/jion is no command")
      try terminal.press("C-u")
      try terminal.type("/jo")
      try terminal.press("Tab")
      try terminal.wait(for: "the name") { $0.composer.contains("/join") }
      try terminal.type("tea")
      try terminal.press("Enter")
      try terminal.waitForConversation("tea")
      try terminal.type("//slashed")
      try terminal.press("Enter")
      try terminal.wait(for: "its ack") {
        $0.messages(with: "/slashed").contains { $0.contains("✓") }
      }
      #expect(try texts(relay, "general") == [])
      #expect(try texts(relay, "tea") == ["/slashed"])
    }

    @Test func `the list of commands says that it goes on, and leaves nothing behind`() throws {
      let relay = try RelayProcess()
      let bo = try RawClient(relay, user: "bo")
      for (number, text) in ["plain", "日本語のテキスト", "❤️ 👍 🎉 … ✓✓ ◐", "the last one"].enumerated() {
        try bo.say(text, in: "general", id: "\(number)")
      }
      for (columns, rows) in [(80, 24), (40, 12)] {
        let terminal = try TerminalSession.wschat(
          relay, ["--room", "general"], columns: columns, rows: rows)
        try terminal.waitForConversation("General")
        var before: [Substring?] = []
        try terminal.wait(for: "a screen that stays") { screen in
          let earlier = before
          before = conversation(screen)
          return screen.contains("the last one") && screen.contains("Message General")
            && before == earlier
        }
        try terminal.type("/")
        try terminal.press("Tab")
        try terminal.wait(for: " more")
        for _ in 0..<9 { try terminal.press("Down") }
        try terminal.wait(for: "both directions") { $0.contains("↑ ") && $0.contains("↓ ") }
        try terminal.press("Escape")
        try terminal.wait(forNo: " more")
        try terminal.press("BSpace")
        try terminal.type("/n")
        try terminal.press("Tab")
        try terminal.wait(for: "/nextmention")
        try terminal.press("Escape")
        try terminal.wait(forNo: "/nextmention")
        try terminal.press("BSpace", "BSpace")
        try terminal.wait(for: "what was there before") { conversation($0) == before }
      }
    }

    /// The lines without the title and the list, which may change meanwhile.
    private func conversation(_ screen: TerminalSession.Screen) -> [Substring?] {
      screen.lines.dropFirst().map {
        $0.split(separator: "│", omittingEmptySubsequences: false).last
      }
    }

    @Test func `a conversation that is left does not come back`() throws {
      let relay = try RelayProcess()
      let home = try TemporaryFolder()
      do {
        let terminal = try TerminalSession.wschat(relay, ["--room", "tea"], in: home)
        try terminal.waitForConversation("tea")
        try terminal.say("a mistake")
        try terminal.wait(for: "its ack") {
          $0.messages(with: "a mistake").contains { $0.contains("✓") }
        }
        try terminal.type("/leave")
        try terminal.press("Enter")
        try terminal.wait(for: "Leave tea?")
        try terminal.press("y")
        try terminal.wait(for: "You have left tea")
        try terminal.wait(forNo: "a mistake")
        try terminal.press("C-q")
        #expect(try terminal.waitForExit() == .exit(0))
      }
      let terminal = try TerminalSession.wschat(relay, ["--room", "general"], in: home)
      try terminal.waitForConversation("General")
      try terminal.wait(for: "connection") { $0.isConnected }
      #expect(try !terminal.screen().contains("tea"))
    }

    @Test func `what waits to be sent is what ↑ takes back`() throws {
      let relay = try RelayProcess()
      let terminal = try TerminalSession.wschat(relay, ["--room", "general"])
      try terminal.waitForConversation("General")
      try terminal.say("one")
      try terminal.wait(for: "its ack") { $0.messages(with: "one").contains { $0.contains("✓") } }
      try relay.kill()
      try terminal.wait(for: "reconnecting in")
      try terminal.say("tow")
      try terminal.press("Up")
      try terminal.wait(for: "the text in the composer") { $0.composer.contains("tow") }
      try terminal.press("BSpace", "BSpace")
      try terminal.say("wo")
      try relay.start()
      try terminal.wait(for: "its ack") { $0.messages(with: "two").contains { $0.contains("✓") } }
      #expect(try texts(relay, "general") == ["one", "two"])
    }
  }
}
