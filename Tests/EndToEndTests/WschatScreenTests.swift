import TestSupport
import Testing
import Wire

extension `End to end` {
  /// The real command on a real terminal, with the real relay and its bots.
  @Suite struct `wschat on a screen` {
    static let bots = """
      bots:
        - { user: echo, name: Echo, behaviour: echo, reply_delay_s: [0.8, 1] }
      debug: { commit_delay_ms: 300 }
      """

    @Test func `a person is picked, a message turns from … to ✓✓, and the answer is announced`()
      throws
    {
      let relay = try RelayProcess(Self.bots)
      let terminal = try TerminalSession.wschat(relay)
      try terminal.wait(for: "Echo in the list") { $0.list.contains { $0.contains("Echo") } }
      try terminal.type("/")
      try terminal.type("ech")
      try terminal.wait(for: "only Echo in the list") { screen in
        !screen.list.contains { $0.contains("General") }
      }
      try terminal.press("Enter")
      try terminal.wait(for: "the open conversation") {
        $0.lines[0].contains("Echo") && $0.lines[0].contains("bot")
      }
      try terminal.type("hello there")
      try terminal.press("Enter")
      // The relay takes its time: until then it is shown, and marked.
      try terminal.wait(for: "a message on its way") { screen in
        screen.messages(with: "hello there").contains { $0.contains("…") }
      }
      #expect(try terminal.styledText().contains("\u{1B}[2"))
      try terminal.wait(for: "a message that has arrived") { screen in
        screen.messages(with: "hello there").contains { $0.contains("✓✓") }
      }
      try terminal.wait(for: "typing…")
      try terminal.wait(for: "the answer") { $0.messages(with: "hello there").count == 2 }
      try terminal.wait(forNo: "typing…")
      let entries = try RawClient(relay, user: "ada").everything(in: "dm:ada:echo")
      #expect(entries.compactMap(\.text) == ["hello there", "hello there"])
    }

    @Test
    func `a message in another conversation raises a badge, and opening it removes the badge`()
      throws
    {
      let relay = try RelayProcess(Self.bots + "\n" + RelayProcess.withoutLimits)
      let bo = try RawClient(relay, user: "bo")
      try bo.say("first words", in: "dm:ada:bo", id: "1")
      let terminal = try TerminalSession.wschat(relay, ["--to", "echo"])
      try terminal.waitForConversation("Echo")
      try bo.say("and more", in: "dm:ada:bo", id: "2")
      try bo.say("and yet more", in: "dm:ada:bo", id: "3")
      let screen = try terminal.wait(for: "a badge") { screen in
        screen.list.contains { $0.contains("and yet more") && $0.hasSuffix(" 3 ") }
          || screen.list.contains { $0.contains("and yet") && $0.contains(" 3") }
      }
      // The one with news is the first.
      let news = try #require(screen.list.firstIndex { $0.contains("and yet") })
      let own = try #require(screen.list.firstIndex { $0.contains("Echo") })
      #expect(news < own)
      #expect(screen.lines[0].contains("3 unread"))
      try terminal.press("M-S-Down")
      let there = try terminal.wait(for: "the messages") {
        !$0.messages(with: "and yet more").isEmpty && !$0.lines[0].contains("unread")
      }
      // The line at the first unread.
      let line = try #require(there.conversation.firstIndex { $0.contains(" New ") })
      let first = try #require(there.conversation.firstIndex { $0.contains("first words") })
      #expect(line < first)
      // The relay gets the mark as well.
      let ada = try RawClient(relay, user: "ada")
      _ = try becomesTrue { try ada.join("dm:ada:bo").read >= 3 }
      #expect(try ada.join("dm:ada:bo").read == 3)
    }

    @Test func `a message is edited with ↑, answered, reacted to, forwarded and deleted`() throws {
      let relay = try RelayProcess(
        "bots: [{ user: echo, name: Echo, behaviour: [] }]\n" + RelayProcess.withoutLimits)
      let terminal = try TerminalSession.wschat(relay, ["--room", "general"])
      try terminal.waitForConversation("General")
      try terminal.say("speling")
      try terminal.wait(for: "its ack") {
        $0.messages(with: "speling").contains { $0.contains("✓") }
      }
      try terminal.press("Up")
      try terminal.wait(for: "Edit")
      try terminal.press("C-u")
      try terminal.type("spelling")
      try terminal.press("Enter")
      try terminal.wait(for: "the new text") {
        !$0.messages(with: "spelling").isEmpty && $0.conversation.contains { $0.contains("edited") }
      }

      try terminal.press("S-Up")
      try terminal.type("r")
      try terminal.type("as you say")
      try terminal.press("Enter")
      try terminal.wait(for: "an answer with what it answers") {
        $0.messages(with: "spelling").count == 2
          && $0.messages(with: "as you say").contains { $0.contains("✓") }
      }

      try terminal.press("S-Up")
      try terminal.type("+")
      try terminal.wait(for: "React")
      try terminal.press("Enter")
      try terminal.wait(forNo: "React")

      try terminal.press("S-Up")
      try terminal.type("f")
      try terminal.wait(for: "Forward to")
      try terminal.type("Echo")
      try terminal.press("Enter")
      try terminal.wait(forNo: "Forward to")

      try terminal.go(to: "General")
      try terminal.waitForConversation("General")
      try terminal.press("S-Up")
      try terminal.type("d")
      try terminal.wait(for: "Delete this message")
      try terminal.press("Enter")
      try terminal.wait(for: "deleted")

      let ada = try RawClient(relay, user: "ada")
      _ = try becomesTrue { try ada.everything(in: "general").count >= 5 }
      let entries = try ada.everything(in: "general")
      #expect(entries.map(\.from).allSatisfy { $0 == "ada" })
      #expect(entries.count == 5)
      let forwarded = try ada.everything(in: "dm:ada:echo")
      #expect(forwarded.count == 1)
    }

    @Test func `a pasted text of several lines waits for Enter, and is one message`() throws {
      let relay = try RelayProcess()
      let terminal = try TerminalSession.wschat(relay, ["--room", "general"])
      try terminal.waitForConversation("General")
      try terminal.paste("one\ntwo\nthree\n")
      try terminal.wait(for: "three lines being written") { screen in
        ["one", "two", "three"].allSatisfy { screen.contains($0) }
      }
      try terminal.type("!")
      try terminal.wait(for: "!")
      let bo = try RawClient(relay, user: "bo")
      #expect(try bo.everything(in: "general").isEmpty)
      try terminal.press("Enter")
      try terminal.wait(for: "its ack") { screen in
        screen.conversation.contains { $0.contains("✓") }
      }
      #expect(try bo.everything(in: "general").compactMap(\.text) == ["one\ntwo\nthree\n!"])
    }

    @Test func `scrolled up it stays where it is, and says how much is new below`() throws {
      let relay = try RelayProcess(RelayProcess.withoutLimits)
      let bo = try RawClient(relay, user: "bo")
      for number in 1...120 { try bo.say("line \(number).", in: "general", id: "\(number)") }
      let terminal = try TerminalSession.wschat(relay, ["--room", "general"])
      var shown = try terminal.wait(for: "line 120.").messages(with: "line ")
      for _ in 1...3 {
        try terminal.press("PPage")
        let page = try terminal.wait(for: "older lines") { screen in
          screen.messages(with: "line ").first != shown.first
            && screen.messages(with: "line ").count > 3
        }
        shown = page.messages(with: "line ")
      }
      for number in 121...123 { try bo.say("line \(number).", in: "general", id: "\(number)") }
      let after = try terminal.wait(for: "3 new ↓")
      #expect(Array(after.messages(with: "line ").prefix(3)) == Array(shown.prefix(3)))
      // Older ones than were loaded come by scrolling.
      try terminal.wait(for: "the first line") { screen in
        if !screen.messages(with: "line 1.").isEmpty { return true }
        try terminal.press("PPage")
        return false
      }
      // What one says oneself is at the end, and seen.
      try terminal.say("here I am")
      let end = try terminal.wait(for: "the newest") { !$0.messages(with: "line 123.").isEmpty }
      #expect(!end.contains("new ↓"))
    }

    @Test func `Ctrl+K finds a conversation, Ctrl+F a message, F1 the keys`() throws {
      let relay = try RelayProcess(
        """
        bots: [{ user: echo, name: Echo, behaviour: echo }]
        rooms: { listed: [{ room: general }, { room: watercooler }] }
        """)
      let bo = try RawClient(relay, user: "bo")
      try bo.say("the needle is here", in: "watercooler", id: "1")
      for number in 2...40 { try bo.say("hay \(number)", in: "watercooler", id: "\(number)") }
      let terminal = try TerminalSession.wschat(relay, ["--to", "echo"])
      try terminal.waitForConversation("Echo")
      try terminal.press("C-k")
      try terminal.wait(for: "Go to")
      // Fuzzy: its letters, in order.
      try terminal.type("wtrc")
      try terminal.wait(for: "watercooler")
      try terminal.press("Enter")
      try terminal.waitForConversation("watercooler")
      try terminal.wait(for: "hay 40")
      // The search covers loaded messages.
      try terminal.wait(for: "the beginning") { screen in
        if !screen.messages(with: "needle").isEmpty { return true }
        try terminal.press("PPage")
        return false
      }
      try terminal.press("C-End")
      try terminal.wait(for: "the end") { !$0.messages(with: "hay 40").isEmpty }
      try terminal.press("C-f")
      try terminal.type("needle")
      try terminal.wait(for: "1 of 1")
      try terminal.wait(for: "what was found") { !$0.messages(with: "the needle is here").isEmpty }
      try terminal.press("Escape")
      try terminal.wait(forNo: "1 of 1")
      try terminal.press("F1")
      let help = try terminal.wait(for: "go to a conversation by name")
      #expect(help.line(with: "go to a conversation by name")?.contains("Ctrl+K") == true)
      try terminal.press("Escape")
      try terminal.wait(forNo: "go to a conversation by name")
    }
  }
}
