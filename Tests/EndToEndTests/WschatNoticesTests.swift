import Glibc
import Platform
import TestSupport
import Testing
import Wire

extension `End to end` {
  /// Notices about other users, refusals and limits.
  @Suite struct `Notices of wschat on a screen` {
    private func configure(_ yaml: String) throws -> TemporaryFolder {
      let home = try TemporaryFolder()
      try home.write(yaml, to: "config/wschat/config.yaml")
      return home
    }

    @Test func `without the keyboard a message is notified, and is read once it is back`() throws {
      let relay = try RelayProcess()
      let home = try configure(#"notify: { command: 'printf "%s|%s\n" "$1" "$2" >>~/told' }"#)
      let terminal = try TerminalSession.wschat(relay, ["--to", "bo"], in: home)
      try terminal.waitForConversation("bo")
      try terminal.focus(false)
      let bo = try RawClient(relay, user: "bo")
      try bo.say("are you there?", in: "dm:ada:bo", id: "1")
      try terminal.wait(for: "the message") { !$0.messages(with: "are you there?").isEmpty }
      let isTold = becomesTrue { (try? home.read("told")) == "bo|are you there?\n" }
      #expect(isTold, "told: \((try? home.read("told")) ?? "")")
      try terminal.wait(for: "1 unread")
      let marks = try bo.join("dm:ada:bo").members?.first { $0.user == "ada" }
      #expect(marks?.read == 0)
      try terminal.focus(true)
      try terminal.wait(forNo: "1 unread")
      try bo.say("good", in: "dm:ada:bo", id: "2")
      try terminal.wait(for: "the next") { !$0.messages(with: "good").isEmpty }
      // With the keyboard nothing is notified.
      #expect(try home.read("told") == "bo|are you there?\n")
    }

    @Test func `a message that is an option and markup is notified as it was written`() throws {
      let relay = try RelayProcess()
      let home = try TemporaryFolder()
      // Like the real one: arguments before -- are its own.
      try home.write("#!/bin/sh\nprintf '%s|' \"$@\" >>~/told\n", to: "bin/notify-send")
      try run("chmod", "+x", home["bin/notify-send"])
      let path = unsafe getenv("PATH").map { unsafe String(cString: $0) } ?? "/usr/bin:/bin"
      // tmux does not pass it on.
      let terminal = try TerminalSession(
        [
          "env", "PATH=\(home["bin"]):\(path)", Programs.wschat, relay.url, "--user", "ada", "--to",
          "bo",
        ], in: home)
      try terminal.waitForConversation("bo")
      try terminal.focus(false)
      let bo = try RawClient(relay, user: "bo")
      try bo.say(#"--urgency=critical <b>&amp; \n"#, in: "dm:ada:bo", id: "1")
      let expected =
        #"--app-name=wschat|--|bo|--urgency=critical &lt;b&gt;&amp;amp; \\n|"#
      let isTold = becomesTrue { (try? home.read("told")) == expected }
      #expect(isTold, "told: \((try? home.read("told")) ?? "")")
    }

    @Test func `a muted conversation is counted, and does not notify`() throws {
      let relay = try RelayProcess("rooms: { listed: [{ room: general }, { room: noisy }] }")
      let home = try configure(#"notify: { command: 'printf "%s\n" "$2" >>~/told' }"#)
      let terminal = try TerminalSession.wschat(relay, ["--room", "noisy"], in: home)
      try terminal.waitForConversation("noisy")
      try terminal.say("I belong here")
      try terminal.press("M-m")
      try terminal.wait(for: "muted")
      try terminal.go(to: "general")
      try terminal.waitForConversation("general")
      try terminal.say("and here")
      try terminal.focus(false)
      let bo = try RawClient(relay, user: "bo")
      try bo.say("blah", in: "noisy", id: "1")
      try terminal.wait(for: "a badge") { screen in
        screen.list.contains { $0.contains("blah") && $0.contains(" 1") }
      }
      try bo.say("news", in: "general", id: "2")
      let isTold = becomesTrue { (try? home.read("told"))?.hasSuffix("\n") == true }
      #expect(isTold)
      #expect(try home.read("told") == "news\n")
    }

    @Test func `a message that is refused is marked, and can be discarded`() throws {
      // The room is no room of theirs.
      let relay = try RelayProcess(
        "rooms: { create: listed, listed: [{ room: general, title: General }] }")
      let terminal = try TerminalSession.wschat(relay, ["--room", "secret"])
      try terminal.wait(for: "connection") { $0.isConnected }
      try terminal.type("let me in")
      try terminal.press("Enter")
      let refused = try terminal.wait(for: "a mark") { screen in
        screen.conversation.contains { $0.contains("! ") }
      }
      #expect(!refused.messages(with: "let me in").isEmpty)
      try terminal.press("S-Up")
      try terminal.type("x")
      try terminal.wait(for: "an empty conversation") { $0.messages(with: "let me in").isEmpty }
    }

    @Test func `a directory's limit shows the time that is left, and the people then`() throws {
      let reset = WallClock.milliseconds / 1000 + 8
      let service = try ChildProcess([
        "/usr/bin/python3", Project["Tests/DirectoriesTests/directory.py"],
        #"{"remaining":0,"limit":null,"reset":\#(reset)}"#,
      ])
      try service.waitForOutput { $0.hasSuffix("\n") }
      let relay = try RelayProcess(
        """
        directory:
          kind: github
          source: org:acme
          base_url: http://127.0.0.1:\(service.output.dropLast())
          refresh_s: 1
        """)
      let terminal = try TerminalSession.wschat(relay)
      var seen: Set<String> = []
      // It counts down.
      try terminal.wait(for: "the time left, three times") { screen in
        if let line = screen.line(with: "limited, retry in 0:0") {
          seen.insert(line.split(separator: "│")[0].trimmed)
        }
        return seen.count >= 3
      }
      try terminal.wait(for: "the people") { screen in
        ["Person-0001", "Person-0003"].allSatisfy { screen.contains($0) }
      }
      try terminal.wait(forNo: "limited")
    }

    @Test func `messages read on one device are read on the other, and those sent there are own`()
      throws
    {
      let relay = try RelayProcess("bots: [{ user: echo, name: Echo, behaviour: [] }]")
      let bo = try RawClient(relay, user: "bo")
      try bo.say("to all your devices", in: "dm:ada:bo", id: "1")
      let desk = try TerminalSession.wschat(relay, ["--to", "echo"])
      try desk.waitForConversation("Echo")
      try desk.wait(for: "1 unread")
      let sofa = try TerminalSession.wschat(relay, ["--to", "bo"])
      try sofa.wait(for: "the message") { !$0.messages(with: "to all your devices").isEmpty }
      try desk.wait(forNo: "unread")
      try sofa.say("from the sofa")
      try desk.go(to: "bo")
      try desk.wait(for: "the own message on the right, with its mark") { screen in
        screen.messages(with: "from the sofa").contains { $0.contains("✓") }
      }
    }

    @Test func `a copied message is in the terminal's clipboard, as it was written`() throws {
      let relay = try RelayProcess()
      let bo = try RawClient(relay, user: "bo")
      try bo.say("grüße\n  日本 \"quoted\"", in: "general", id: "1")
      let terminal = try TerminalSession.wschat(relay, ["--room", "general"])
      try terminal.waitForConversation("General")
      try terminal.wait(for: "the message") { !$0.messages(with: "quoted").isEmpty }
      try terminal.press("S-Up")
      try terminal.type("c")
      let isCopied = becomesTrue { terminal.clipboard == "grüße\n  日本 \"quoted\"" }
      #expect(isCopied, "\(terminal.clipboard ?? "nothing is copied")")
    }
  }
}

extension Substring {
  /// Without blanks at its ends.
  fileprivate var trimmed: String {
    String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}
