import Glibc
import TestSupport
import Testing
import Wire

extension `End to end` {
  /// A relay that stops, and text that is written meanwhile.
  @Suite struct `wschat on a screen, without a relay` {
    private func texts(_ relay: RelayProcess, _ room: String) throws -> [String] {
      try RawClient(relay, user: "bo").everything(in: room).compactMap(\.text)
    }

    /// Waits until the relay has this number of entries.
    private func waitFor(_ count: Int, in room: String, _ relay: RelayProcess) throws {
      guard try becomesTrue({ try texts(relay, room).count >= count }) else {
        throw Unexpected("only \(try texts(relay, room))")
      }
    }

    @Test func `it shows the time of the next attempt, accepts text, and sends it once`() throws {
      let relay = try RelayProcess()
      let terminal = try TerminalSession.wschat(relay, ["--room", "general"])
      try terminal.waitForConversation("General")
      try terminal.say("before")
      try terminal.wait(for: "its ack") {
        $0.messages(with: "before").contains { $0.contains("✓") }
      }
      try relay.kill()
      try terminal.wait(for: "reconnecting in")
      try terminal.say("meanwhile")
      try terminal.say("and this")
      let waiting = try terminal.screen()
      #expect(waiting.messages(with: "meanwhile").allSatisfy { $0.contains("…") })
      try relay.start()
      try terminal.wait(for: "both acks") { screen in
        ["meanwhile", "and this"].allSatisfy { text in
          screen.messages(with: text).contains { $0.contains("✓") }
        }
      }
      try terminal.say("after")
      try waitFor(4, in: "general", relay)
      #expect(try texts(relay, "general") == ["before", "meanwhile", "and this", "after"])
    }

    @Test func `it opens with its last state, and sends text written before its end once`()
      throws
    {
      let relay = try RelayProcess()
      let bo = try RawClient(relay, user: "bo")
      try bo.say("remember this", in: "general", id: "1")
      let home = try TemporaryFolder()
      do {
        let terminal = try TerminalSession.wschat(relay, ["--room", "general"], in: home)
        try terminal.wait(for: "remember this")
        try terminal.waitForConversation("General")
        try relay.kill()
        try terminal.wait(for: "reconnecting in")
        try terminal.say("written offline")
        try terminal.type("a draft")
        try terminal.wait(for: "a draft")
        try terminal.press("C-q")
        #expect(try terminal.waitForExit() == .exit(0))
      }
      do {
        // Still no relay.
        let terminal = try TerminalSession.wschat(relay, ["--room", "general"], in: home)
        try terminal.wait(for: "remember this")
        try terminal.wait(for: "what waits") {
          $0.messages(with: "written offline").contains { $0.contains("…") }
        }
        try terminal.wait(for: "the draft") { $0.composer.contains("a draft") }
        // Killed without a warning, it still knows.
        try terminal.signal(SIGKILL)
        #expect(try terminal.waitForExit() == .signal(SIGKILL))
      }
      let terminal = try TerminalSession.wschat(relay, ["--room", "general"], in: home)
      try terminal.wait(for: "written offline")
      try relay.start()
      try terminal.wait(for: "its ack") {
        $0.messages(with: "written offline").contains { $0.contains("✓") }
      }
      #expect(try terminal.screen().messages(with: "written offline").count == 1)
      #expect(try texts(relay, "general") == ["remember this", "written offline"])
    }

    @Test func `a kill between the send and its ack neither loses nor doubles it`() throws {
      let relay = try RelayProcess("debug: { commit_delay_ms: 400 }")
      let home = try TemporaryFolder()
      var terminal = try TerminalSession.wschat(relay, ["--room", "general"], in: home)
      try terminal.waitForConversation("General")
      for number in 1...3 {
        try terminal.say("message \(number)")
        try terminal.signal(SIGKILL)
        _ = try terminal.waitForExit()
        terminal = try TerminalSession.wschat(relay, ["--room", "general"], in: home)
        try terminal.wait(for: "the ack of \(number)") {
          $0.messages(with: "message \(number)").contains { $0.contains("✓") }
        }
      }
      #expect(try texts(relay, "general") == ["message 1", "message 2", "message 3"])
    }

    @Test func `stored files are readable by their owner only`() throws {
      let relay = try RelayProcess()
      let terminal = try TerminalSession.wschat(relay, ["--room", "general"])
      try terminal.waitForConversation("General")
      try terminal.say("a secret")
      let listing = try ChildProcess(
        ["find", terminal.folder["state/wschat"], "-printf", "%y %m %f\n"], input: "")
      #expect(try listing.wait() == .exit(0), "\(listing.errors)")
      let lines = listing.output.split(separator: "\n")
      #expect(lines.contains { $0.hasPrefix("f") })
      for line in lines {
        #expect(line.hasPrefix("d 700 ") || line.hasPrefix("f 600 "), "\(line)")
      }
    }
  }
}
