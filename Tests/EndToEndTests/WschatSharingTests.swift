import Glibc
import TestSupport
import Testing
import Wire

extension `End to end` {
  /// Two wschat of one account on one machine, at the same time.
  @Suite struct `two wschat of one account` {
    private func open(
      _ relay: RelayProcess, _ room: String = "general", in home: TemporaryFolder
    ) throws -> TerminalSession {
      let terminal = try TerminalSession.wschat(relay, ["--room", room], in: home)
      try terminal.waitForConversation("General")
      return terminal
    }

    private func texts(_ relay: RelayProcess) throws -> [String] {
      try RawClient(relay, user: "bo").everything(in: "general").compactMap(\.text)
    }

    private func waitForComposer(_ text: String, _ terminal: TerminalSession) throws {
      try terminal.wait(for: "\(text) in the composer") { $0.composer.hasSuffix("› \(text)") }
    }

    private func waitForEmptyComposer(_ terminal: TerminalSession) throws {
      try terminal.wait(for: "empty composer") { $0.composer.contains("› Message General") }
    }

    @Test func `a draft can be continued in the other, and is gone when that has sent it`() throws {
      let relay = try RelayProcess()
      let home = try TemporaryFolder()
      let one = try open(relay, in: home)
      let other = try open(relay, in: home)
      try one.type("begun here")
      try waitForComposer("begun here", other)
      try other.type(", ended there")
      try waitForComposer("begun here, ended there", one)
      try other.press("Enter")
      try waitForEmptyComposer(one)
      try one.wait(for: "the message") { !$0.messages(with: "ended there").isEmpty }
      #expect(try texts(relay) == ["begun here, ended there"])
      // Nothing of it comes back.
      try one.press("C-q")
      #expect(try one.waitForExit() == .exit(0))
      try waitForEmptyComposer(try open(relay, in: home))
    }

    @Test func `what both type at the same time is kept, and can be chosen`() throws {
      let relay = try RelayProcess()
      let home = try TemporaryFolder()
      let one = try open(relay, in: home)
      let other = try open(relay, in: home)
      // One of them is not scheduled while its user types: it finds its keys before it finds the
      // other's draft, or after it.
      // One letter is stored at once, as all of what the other has typed.
      try one.signal(SIGSTOP)
      try one.type("aaa")
      try other.type("b")
      try other.wait(for: "b") { $0.composer.contains("b") }
      try one.signal(SIGCONT)
      let end = try one.wait(for: "what was typed") { $0.composer.contains("aaa") }
      if !end.composer.contains("b") {
        try one.wait(for: "Alt+D")
        try one.press("M-d")
        try waitForComposer("b", one)
        try one.press("M-d")
        try waitForComposer("aaa", one)
      }
      // Both survive a kill of both.
      let room = try one.screen().composer.contains("b") ? ["baaa"] : ["aaa", "b"]
      try one.wait(for: "stored drafts") { _ in
        try drafts(in: home, relay).sorted() == room
      }
      for terminal in [one, other] {
        try terminal.signal(SIGKILL)
        _ = try terminal.waitForExit()
      }
      let again = try open(relay, in: home)
      var found: Set<String> = []
      for _ in room {
        let screen = try again.wait(for: "a draft") { screen in
          room.contains { screen.composer.hasSuffix("› \($0)") && !found.contains($0) }
        }
        found.formUnion(room.filter { screen.composer.hasSuffix("› \($0)") })
        if found.count < room.count { try again.press("M-d") }
      }
      #expect(found.sorted() == room)
    }

    /// The drafts that are stored.
    private func drafts(in home: TemporaryFolder, _ relay: RelayProcess) throws -> [String] {
      let shell = try ChildProcess(
        [
          "python3", "-c",
          """
          import glob, sqlite3, sys
          for path in glob.glob(sys.argv[1] + "/*.db"):
            for row in sqlite3.connect(path, timeout=5).execute("SELECT text FROM drafts"):
              print(row[0])
          """, home["state/wschat"],
        ], input: "")
      try shell.wait()
      return shell.output.split(separator: "\n").map(String.init)
    }

    @Test func `what one that is killed has not sent, the other sends, once`() throws {
      let relay = try RelayProcess("debug: { commit_delay_ms: 300 }")
      let home = try TemporaryFolder()
      let one = try open(relay, in: home)
      let other = try open(relay, in: home)
      try relay.kill()
      for terminal in [one, other] { try terminal.wait(for: "reconnecting in") }
      try one.say("written offline")
      try one.say("and this")
      try one.type("a draft")
      try waitForComposer("a draft", other)
      #expect(try other.screen().messages(with: "written offline").isEmpty)
      try one.signal(SIGKILL)
      #expect(try one.waitForExit() == .signal(SIGKILL))
      try other.wait(for: "its messages") { screen in
        ["written offline", "and this"].allSatisfy { text in
          screen.messages(with: text).contains { $0.contains("…") }
        }
      }
      try waitForComposer("a draft", other)
      try relay.start()
      try other.wait(for: "both acks") { screen in
        ["written offline", "and this"].allSatisfy { text in
          screen.messages(with: text).contains { $0.contains("✓") }
        }
      }
      #expect(try texts(relay) == ["written offline", "and this"])
      // Killed between a send and its ack, with the other connected.
      let third = try open(relay, in: home)
      try third.press("C-u")
      try third.say("the last")
      try third.signal(SIGKILL)
      #expect(try third.waitForExit() == .signal(SIGKILL))
      try other.wait(for: "its ack") {
        $0.messages(with: "the last").contains { $0.contains("✓") }
      }
      #expect(try texts(relay) == ["written offline", "and this", "the last"])
      #expect(try other.screen().messages(with: "the last").count == 1)
    }

    @Test func `what is read, pinned or muted in one is so in the other, also without a relay`()
      throws
    {
      let relay = try RelayProcess()
      let bo = try RawClient(relay, user: "bo")
      let home = try TemporaryFolder()
      let one = try open(relay, in: home)
      let other = try open(relay, in: home)
      try bo.say("hello", in: "dm:ada:bo", id: "1")
      for terminal in [one, other] { try terminal.wait(for: "1 unread") }
      try relay.kill()
      for terminal in [one, other] { try terminal.wait(for: "reconnecting in") }
      try one.go(to: "bo")
      try one.wait(for: "hello")
      try other.wait(forNo: "1 unread")
      try one.go(to: "General")
      try one.press("M-p")
      try one.wait(for: "General is pinned")
      // It was below bo, who has written.
      try other.wait(for: "the pinned conversation first") { screen in
        let pinned = screen.list.firstIndex { $0.contains("General") } ?? .max
        return pinned < screen.list.firstIndex { $0.contains("bo") } ?? 0
      }
      // One that writes later does not undo it.
      try other.type("draft")
      try waitForComposer("draft", other)
      for terminal in [other, one] {
        try terminal.press("C-q")
        #expect(try terminal.waitForExit() == .exit(0))
      }
      let again = try TerminalSession.wschat(relay, ["--room", "general"], in: home)
      let screen = try again.wait(for: "hello")
      #expect(!screen.contains("unread"))
      let pinned = screen.list.firstIndex { $0.contains("General") } ?? .max
      #expect(pinned < screen.list.firstIndex { $0.contains("bo") } ?? 0)
    }
  }
}
