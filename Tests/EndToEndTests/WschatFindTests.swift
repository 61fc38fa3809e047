import Glibc
import TestSupport
import Testing
import Wire

extension `End to end` {
  /// How a person finds what was said.
  @Suite struct `Finding in wschat` {
    /// A relay with a long room, whose first messages a new client does not receive, and a short one.
    private func talkative() throws -> (RelayProcess, bo: RawClient) {
      let relay = try RelayProcess(
        """
        rooms: { listed: [{ room: general, title: General }, { room: tea, title: Tea }] }
        \(RelayProcess.withoutLimits)
        """)
      let bo = try RawClient(relay, user: "bo")
      try bo.say("the needle is here", in: "general", id: "1")
      try bo.say("look, @ada", in: "general", id: "2")
      for number in 3...700 { try bo.say("hay \(number)", in: "general", id: "\(number)") }
      try bo.say("a Nädel for the tea", in: "tea", id: "t1")
      return (relay, bo)
    }

    private func find(_ text: String, in terminal: TerminalSession) throws {
      try terminal.press("C-r")
      try terminal.wait(for: "Search all conversations")
      try terminal.type(text)
      try terminal.wait(for: "⌕ \(text)")
    }

    @Test func `a word is found in all conversations, and what only the relay has on request`()
      throws
    {
      let (relay, bo) = try talkative()
      let terminal = try TerminalSession.wschat(relay, ["--room", "tea"])
      try terminal.waitForConversation("Tea")
      try terminal.wait(for: "Nädel")
      try terminal.go(to: "General")
      try terminal.waitForConversation("General")
      try terminal.wait(for: "the messages") { !$0.messages(with: "hay 700").isEmpty }
      // In another conversation, without the accent.
      try find("te NAD", in: terminal)
      let found = try terminal.wait(for: "a Nädel for the tea")
      #expect(found.line(with: "#Tea")?.contains("bo") == true)
      try terminal.wait(for: "1 message since Today · older ones are at the relay")
      try terminal.press("Enter")
      try terminal.waitForConversation("Tea")
      try terminal.wait(for: "the message") { !$0.messages(with: "a Nädel for the tea").isEmpty }
      // Only the relay has this one.
      try find("needle", in: terminal)
      try terminal.wait(for: "0 messages since Today")
      try terminal.wait(for: "Search older messages at the relay (General)")
      try terminal.press("Enter")
      try terminal.wait(for: "1 message · everything was searched")
      try terminal.wait(for: "the needle is here")
      try terminal.press("Enter")
      try terminal.waitForConversation("General")
      // With those around it, and from there to the newest.
      try terminal.wait(for: "the context") { screen in
        !screen.messages(with: "the needle is here").isEmpty
          && !screen.messages(with: "hay 3").isEmpty
      }
      try bo.say("another needle", in: "general", id: "701")
      try terminal.wait(for: "the end, page by page") { screen in
        if !screen.messages(with: "another needle").isEmpty { return true }
        try terminal.press("NPage")
        return false
      }
      try find("needle", in: terminal)
      let both = try terminal.wait(for: "2 messages · everything was searched")
      let newer = both.row(of: "another needle")
      let older = both.row(of: "the needle is here")
      #expect(newer ?? 99 < older ?? 0)
      try terminal.press("Escape")
      try terminal.wait(forNo: "Search all conversations")
    }

    @Test func `what was deleted or changed is not found, and the rest is without a relay`() throws
    {
      let (relay, bo) = try talkative()
      let terminal = try TerminalSession.wschat(relay, ["--room", "tea"])
      try terminal.waitForConversation("Tea")
      try terminal.say("my secret")
      try terminal.say("my correction")
      try terminal.wait(for: "an acknowledgement") {
        $0.conversation.last { $0.contains("my correction") }?.contains("✓") == true
      }
      try terminal.press("Up")
      try terminal.wait(for: "Edit:")
      try terminal.press("C-u")
      try terminal.say("my corrected words")
      try terminal.press("S-Up", "Up", "d")
      try terminal.wait(for: "Delete this message for everyone?")
      try terminal.press("Enter")
      try terminal.wait(for: "the deletion") { !$0.messages(with: "deleted").isEmpty }
      try bo.say("my last word", in: "tea", id: "t2")
      try terminal.wait(for: "my last word")
      try relay.kill()
      try terminal.wait(for: "the loss") { !$0.isConnected }
      try find("my", in: terminal)
      let found = try terminal.wait(for: "2 messages")
      #expect(found.contains("my corrected words"))
      try terminal.press("C-u")
      try terminal.type("secret")
      try terminal.wait(for: "0 messages")
      try terminal.press("C-u")
      try terminal.type("correction")
      try terminal.wait(for: "⌕ correction")
      try terminal.wait(for: "0 messages")
    }

    @Test func `a date, the first unread message and mentions are gone to`() throws {
      let (relay, _) = try talkative()
      let terminal = try TerminalSession.wschat(relay, ["--room", "general"])
      try terminal.waitForConversation("General")
      try terminal.wait(for: "the messages") { !$0.messages(with: "hay 700").isEmpty }
      // The relay has the beginning.
      try terminal.type("/goto 2001-01-01")
      try terminal.press("Enter")
      try terminal.wait(for: "the beginning") { !$0.messages(with: "the needle is here").isEmpty }
      try terminal.press("C-End")
      try terminal.wait(for: "the end") { !$0.messages(with: "hay 700").isEmpty }
      try terminal.press("M-,")
      try terminal.wait(for: "the mention") { !$0.messages(with: "look, @ada").isEmpty }
      try terminal.press("M-,")
      try terminal.wait(for: "No older message mentions you.")
      try terminal.press("C-End")
      try terminal.wait(for: "the end") { !$0.messages(with: "hay 700").isEmpty }
      try terminal.press("M-g")
      try terminal.wait(for: "Go to a date")
      try terminal.type("2001-1-1")
      try terminal.wait(for: "Mon 1 Jan 2001")
      try terminal.press("Enter")
      try terminal.wait(for: "the beginning") { !$0.messages(with: "the needle is here").isEmpty }
      try terminal.press("M-j")
      try terminal.wait(for: "Nothing is unread in this conversation.")
    }
  }
}
