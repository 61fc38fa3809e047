import Glibc
import TestSupport
import Testing
import Wire

extension `End to end` {
  /// Ctrl+X, with editors that are scripts.
  @Suite struct `Writing in an editor from wschat` {
    /// A home with an editor in it, which has the file as `$1`.
    private func home(_ script: String) throws -> TemporaryFolder {
      let home = try TemporaryFolder()
      try home.write("#!/bin/sh\n\(script)\n", to: "editor")
      unsafe chmod(home["editor"], 0o700)
      unsafe mkdir(home["run"], 0o700)
      return home
    }

    private func open(
      _ relay: RelayProcess, in home: TemporaryFolder, editor: String? = nil
    ) throws -> TerminalSession {
      let terminal = try TerminalSession.wschat(
        relay, ["--room", "general"],
        environment: [
          "VISUAL=", "EDITOR=\(editor ?? home["editor"])", "XDG_RUNTIME_DIR=\(home["run"])",
        ], in: home)
      try terminal.waitForConversation("General")
      return terminal
    }

    private func shell(in home: TemporaryFolder) throws -> TerminalSession {
      let terminal = try TerminalSession(
        ["bash", "--norc", "--noprofile"],
        environment: [
          "PS1=$ ", "VISUAL=", "EDITOR=\(home["editor"])", "XDG_RUNTIME_DIR=\(home["run"])",
        ], in: home)
      try terminal.wait(for: "$")
      return terminal
    }

    private func leftovers(_ home: TemporaryFolder) -> [String] {
      (try? fileNames(in: home["run"])) ?? ["?"]
    }

    @Test func `the text goes to a private file and comes back; what arrived meanwhile is there`()
      throws
    {
      let relay = try RelayProcess()
      let home = try home(
        """
        stat -c '%a' "$1" "$(dirname "$1")" >~/modes
        cat "$1" >~/seen
        printf '\\nsecond line\\n' >>"$1"
        echo backup >"$1~"; mkdir "$(dirname "$1")/undo"
        echo the editor is here
        while [ ! -e ~/go ]; do sleep 0.02; done
        """)
      let terminal = try open(relay, in: home)
      try terminal.type("first line")
      try terminal.press("C-x")
      let screen = try terminal.wait(for: "the editor is here")
      #expect(!screen.isAlternate)
      let bo = try RawClient(relay, user: "bo")
      _ = try bo.join("general")
      _ = try bo.say("meanwhile", in: "general", id: "1")
      // It is received while the editor runs, and not marked as read.
      let marks = try bo.first { message -> ServerMessage.Marks? in
        guard case .receipt(_, let marks) = message, marks.user == "ada", marks.received == 1
        else { return nil }
        return marks
      }
      #expect(marks.read == 0)
      #expect(try !terminal.screen().contains("meanwhile"))
      try home.write("", to: "go")
      let back = try terminal.wait(for: "the text in the composer") {
        $0.contains("› first line") && $0.composer.contains("second line")
          && $0.contains("meanwhile")
      }
      #expect(back.isAlternate)
      #expect(try home.read("modes") == "600\n700\n")
      #expect(try home.read("seen") == "first line")
      #expect(leftovers(home) == [])
      #expect(try bo.everything(in: "general").compactMap(\.text) == ["meanwhile"])
      try terminal.press("Enter")
      try terminal.wait(for: "its ack") {
        $0.messages(with: "second line").contains { $0.contains("✓") }
      }
    }

    @Test(
      arguments: [
        ("exit 3", nil, "The editor ended with exit code 3"),
        ("", "no-such-editor -x", "no-such-editor -x was not found"),
        ("", "", "Neither $VISUAL nor $EDITOR is set"),
        ("rm \"$1\"", nil, "cannot be read"),
      ] as [(String, String?, String)])
    func `an editor that fails or is missing is reported, and the text stays`(
      script: String, editor: String?, report: String
    ) throws {
      let relay = try RelayProcess()
      let home = try home(script)
      let terminal = try open(relay, in: home, editor: editor)
      try terminal.type("my text")
      try terminal.press("C-x")
      let screen = try terminal.wait(for: report)
      #expect(screen.isAlternate)
      try terminal.type("!")
      try terminal.wait(for: "the text") { $0.composer.contains("my text!") }
      #expect(leftovers(home) == [])
    }

    @Test(arguments: [
      ("head -c 70000 /dev/zero | tr '\\0' a >\"$1\"", "more than 65536 bytes"),
      ("printf '\\377' >\"$1\"", "not UTF-8"),
    ])
    func `a file that cannot be taken is kept, and named`(script: String, report: String) throws {
      let relay = try RelayProcess()
      let home = try home(script)
      let terminal = try open(relay, in: home)
      try terminal.type("my text")
      try terminal.press("C-x")
      try terminal.wait(for: report)
      try terminal.type("!")
      try terminal.wait(for: "the text") { $0.composer.contains("my text!") }
      #expect(leftovers(home).count == 1)
    }

    /// Changes everything in the terminal that an editor may change.
    private static let spoiled = """
      stty raw -echo
      printf '\\033[?1049h\\033[?1000h\\033[?1003h\\033[?1006h\\033[?2004h\\033[?1h\\033=\\033[31m\\033[?25l'
      printf '\\033[5;10r'
      """

    @Test func `after one that crashed, keys and screen are as before, and the shell's as well`()
      throws
    {
      let relay = try RelayProcess()
      let home = try home("echo saved >\"$1\"\n\(Self.spoiled)\nkill -KILL $$")
      let terminal = try shell(in: home)
      try terminal.type("stty -a >~/before\n")
      try terminal.type(
        "\(Programs.wschat) \(relay.url) --user ada --room general; stty -a >~/after; echo all''over\n"
      )
      try terminal.waitForConversation("General")
      try terminal.type("my text")
      try terminal.press("C-x")
      try terminal.wait(for: "was ended by signal 9")
      try terminal.press("Left", "Left")
      try terminal.type("!")
      try terminal.wait(for: "the text") { $0.composer.contains("my te!xt") }
      #expect(leftovers(home).count == 1, "what it had saved")
      try terminal.press("C-q")
      let screen = try terminal.wait(for: "allover")
      #expect(!screen.isAlternate)
      #expect(screen.cursor != nil)
      #expect(try home.read("after") == home.read("before"))
    }

    @Test func `a signal that ends wschat ends the editor, and keeps what it had saved`() throws {
      let relay = try RelayProcess()
      let home = try home(
        "echo saved text >\"$1\"\n\(Self.spoiled)\necho $$ >~/editor.pid\nexec sleep 1000")
      do {
        let terminal = try open(relay, in: home)
        try terminal.type("my text")
        try terminal.press("C-x")
        var process: pid_t?
        let isThere = becomesTrue {
          process = (try? home.read("editor.pid")).flatMap { pid_t($0.dropLast()) }
          return process != nil
        }
        #expect(isThere)
        try terminal.signal(SIGTERM)
        #expect(try terminal.waitForExit() == .exit(0))
        #expect(try !terminal.screen().isAlternate)
        let id = try #require(process)
        #expect(!TerminalSession.isRunning(id))
      }
      let terminal = try open(relay, in: home)
      try terminal.wait(for: "the draft") { $0.composer.contains("my text") }
    }

    /// The editor waits for its signals with sigwait(3), and does not read: a shell's `read` could take
    /// what is typed for the shell above, before it stops itself, and misses a signal that comes just
    /// before it waits.
    @Test func `Ctrl+C and Ctrl+Z in an editor are the editor's`() throws {
      let relay = try RelayProcess()
      let home = try home(
        """
        exec /usr/bin/python3 -c '
        import signal, sys
        awaited = {signal.SIGINT, signal.SIGCONT}
        signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
        print("ready", flush=True)
        while signal.sigwait(awaited) == signal.SIGCONT: print("continued", flush=True)
        open(sys.argv[1], "a").write("interrupted\\n")' "$1"
        """)
      let terminal = try shell(in: home)
      try terminal.type("\(Programs.wschat) \(relay.url) --user ada --room general\n")
      try terminal.waitForConversation("General")
      try terminal.type("text")
      try terminal.press("C-x")
      try terminal.wait(for: "ready")
      try terminal.press("C-z")
      try terminal.wait(for: "Stopped")
      // What is typed before the prompt may be dropped.
      try terminal.wait(for: "the prompt") { screen in
        screen.lines.last { !$0.isEmpty }?.hasPrefix("$") == true
      }
      try terminal.type("fg\n")
      try terminal.wait(for: "continued")
      try terminal.press("C-c")
      try terminal.wait(for: "the text") {
        $0.isAlternate && $0.composer.contains("textinterrupted")
      }
    }
  }
}
