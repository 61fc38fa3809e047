import Glibc
import TestSupport
import Testing
import Wire

extension `End to end` {
  /// Files that are sent, opened and saved on the screen.
  @Suite struct `Files in wschat` {
    /// A home with a program `xdg-open` that notes what it is given.
    private func home() throws -> TemporaryFolder {
      let home = try TemporaryFolder()
      for folder in ["bin", "run", "Downloads"] { unsafe mkdir(home[folder], 0o700) }
      try home.write(
        """
        #!/bin/sh
        stat -c '%a' "$1" "$(dirname "$(dirname "$1")")" >~/opened.new
        basename "$1" >>~/opened.new
        cat "$1" >>~/opened.new
        mv ~/opened.new ~/opened

        """, to: "bin/xdg-open")
      unsafe chmod(home["bin/xdg-open"], 0o700)
      return home
    }

    private func open(_ relay: RelayProcess, in home: TemporaryFolder) throws -> TerminalSession {
      let path = unsafe getenv("PATH").map { unsafe String(cString: $0) } ?? "/usr/bin:/bin"
      // A session of tmux has its own PATH.
      let terminal = try TerminalSession(
        [
          "env", "PATH=\(home["bin"]):\(path)", Programs.wschat, relay.url, "--user", "ada",
          "--room",
          "general",
        ], columns: 110, environment: ["XDG_RUNTIME_DIR=\(home["run"])"], in: home)
      try terminal.waitForConversation("General")
      return terminal
    }

    private func isSent(_ text: String) -> (TerminalSession.Screen) -> Bool {
      { screen in
        screen.messages(with: text).contains { $0.contains("✓") }
      }
    }

    @Test func `a path is completed and sent, and the file opened, saved and linked`() throws {
      let relay = try RelayProcess()
      let home = try home()
      try home.write("a plan", to: "my plan.txt")
      let terminal = try open(relay, in: home)
      try terminal.type("/send ~/my")
      try terminal.press("Tab")
      try terminal.wait(for: "the path") { $0.composer.contains(#"/send ~/my\ plan.txt"#) }
      try terminal.type("-- look")
      try terminal.press("Enter")
      try terminal.wait(for: "the caption, stored", until: isSent("look"))
      try terminal.wait(for: "my plan.txt (6 bytes)")
      let bo = try RawClient(relay, user: "bo")
      let file = try #require(bo.everything(in: "general").first?.file)
      #expect(file.name == "my plan.txt")
      #expect(file.caption == "look")
      #expect(file.description?.size == 6)

      try terminal.type("/open")
      try terminal.press("Enter")
      try terminal.wait(for: "Opened")
      #expect(becomesTrue { (try? home.read("opened")) != nil })
      #expect(try home.read("opened") == "600\n700\nmy plan.txt\na plan")

      for (command, name) in [
        ("/save", "my plan.txt"), ("/save", "my plan-2.txt"), ("/save ~/x", ""),
      ] {
        try terminal.type(command)
        try terminal.press("Enter")
        try terminal.wait(for: name.isEmpty ? "Saved as ~/x" : "Saved as ~/Downloads/\(name)")
      }
      #expect(try home.read("Downloads/my plan-2.txt") == "a plan")
      #expect(try home.read("x") == "a plan")
      try terminal.type("/save ~/x")
      try terminal.press("Enter")
      try terminal.wait(for: "exists already")

      try terminal.press("C-u")
      try terminal.type("/link")
      try terminal.press("Enter")
      let address = "http://127.0.0.1:\(relay.port)/v1/files/\(file.id)"
      let isCopied = becomesTrue { terminal.clipboard == address }
      #expect(isCopied, "\(terminal.clipboard ?? "nothing is copied")")
      try terminal.press("C-q")
      _ = try terminal.waitForExit()
      #expect(try fileNames(in: home["run"]) == [])
    }

    @Test func `a file that is dropped is offered; a program that is received asks before it runs`()
      throws
    {
      let relay = try RelayProcess()
      let home = try home()
      try home.write("#!/bin/sh\n", to: "it's me.txt")
      let terminal = try open(relay, in: home)
      try terminal.paste("'\(home.path)/it'\\''s me.txt'")
      try terminal.wait(for: "Send this file?")
      try terminal.type("y")
      try terminal.wait(for: "the file, stored", until: isSent("it's me.txt (10 bytes)"))
      try terminal.type("/open")
      try terminal.press("Enter")
      try terminal.wait(for: "Open what may be a program?")
      try terminal.type("n")
      try terminal.wait(forNo: "Open what may be a program?")
      #expect((try? home.read("opened")) == nil)
      try terminal.type("/open")
      try terminal.press("Enter")
      try terminal.wait(for: "Open what may be a program?")
      try terminal.type("y")
      try terminal.wait(for: "Opened")
      #expect(becomesTrue { (try? home.read("opened")) != nil })
    }

    @Test func `an upload goes on when the relay was killed, and what is written waits for it`()
      throws
    {
      let relay = try RelayProcess("limits: { file_bytes_per_s: 2000000 }")
      let home = try home()
      let bytes = (0..<10_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
      try home.write(bytes, to: "large.bin")
      let terminal = try open(relay, in: home)
      try terminal.type("/send ~/large.bin")
      try terminal.press("Enter")
      try terminal.wait(for: "of 10 MB")
      try terminal.say("done?")
      try terminal.wait(for: "progress") { screen in
        screen.messages(with: "of 10 MB").contains { !$0.contains(" 0.0 of") }
      }
      try relay.kill()
      try terminal.wait(for: "retrying")
      try relay.start()
      try terminal.wait(for: "the text, stored", Deadline(seconds: 120), until: isSent("done?"))
      let entries = try RawClient(relay, user: "bo").everything(in: "general")
      #expect(entries.map { $0.file?.name ?? $0.text } == ["large.bin", "done?"])
      try terminal.type("/save ~/back")
      try terminal.press("Enter")
      try terminal.wait(for: "Saved as ~/back", Deadline(seconds: 60))
      let compared = try ChildProcess(["cmp", home["large.bin"], home["back"]], input: "")
      #expect(try compared.wait() == .exit(0), "\(compared.output)")
    }

    @Test func `an upload goes on when wschat was killed, and what is written waits for it`() throws
    {
      let relay = try RelayProcess("limits: { file_bytes_per_s: 1000000 }")
      let home = try home()
      let bytes = (0..<6_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
      try home.write(bytes, to: "large.bin")
      let first = try open(relay, in: home)
      try first.type("/send ~/large.bin")
      try first.press("Enter")
      try first.wait(for: "of 6 MB")
      try first.say("done?")
      try first.wait(for: "progress") { screen in
        screen.messages(with: "of 6 MB").contains { !$0.contains(" 0.") }
      }
      kill(try first.processID, SIGKILL)
      _ = try first.waitForExit()
      let second = try open(relay, in: home)
      try second.wait(for: "the text, stored", Deadline(seconds: 120), until: isSent("done?"))
      let entries = try RawClient(relay, user: "bo").everything(in: "general")
      #expect(entries.map { $0.file?.name ?? $0.text } == ["large.bin", "done?"])
      // What was in the sockets when it was killed comes twice, if it did not arrive.
      let received = try relay.figure("relay_file_received_bytes_total")
      #expect((6_000_000..<6_600_000).contains(received), "\(received) bytes were received")
    }

    @Test func `a file that has changed while wschat was away is not sent by itself`() throws {
      let relay = try RelayProcess("limits: { file_bytes_per_s: 100000 }")
      let home = try home()
      try home.write([UInt8](repeating: 1, count: 2_000_000), to: "notes.txt")
      let first = try open(relay, in: home)
      try first.type("/send ~/notes.txt")
      try first.press("Enter")
      try first.wait(for: "of 2 MB")
      kill(try first.processID, SIGKILL)
      _ = try first.waitForExit()
      try home.write("short", to: "notes.txt")
      let second = try open(relay, in: home)
      try second.wait(for: "The file has changed since you sent it")
      try second.press("S-Up")
      try second.type("R")
      try second.wait(for: "the file as it is now", until: isSent("notes.txt (5 bytes)"))
    }

    @Test func `a file that is given up is not sent, and leaves nothing at the relay`() throws {
      let relay = try RelayProcess("limits: { file_bytes_per_s: 100000 }")
      let home = try home()
      try home.write([UInt8](repeating: 1, count: 2_000_000), to: "large.bin")
      let terminal = try open(relay, in: home)
      try terminal.type("/send ~/large.bin")
      try terminal.press("Enter")
      try terminal.wait(for: "of 2 MB")
      try terminal.say("never mind")
      try terminal.press("S-Up")
      try terminal.press("Up")
      try terminal.type("x")
      try terminal.wait(forNo: "large.bin")
      try terminal.wait(for: "the text, stored", until: isSent("never mind"))
      #expect(
        try RawClient(relay, user: "bo").everything(in: "general").map(\.text) == ["never mind"])
      let isEmpty = becomesTrue {
        (try? fileNames(in: relay.dataFolder + "/files/uploads"))?.isEmpty ?? true
      }
      #expect(isEmpty)
    }
  }
}
