import Glibc
import TestSupport
import Testing
import Wire

extension `End to end` {
  /// How wschat treats the terminal that it was given.
  @Suite struct `wschat and its terminal` {
    /// A shell that runs wschat, says how it ended, and is there before and after.
    private func inShell(_ relay: RelayProcess) throws -> TerminalSession {
      let terminal = try TerminalSession(
        ["bash", "--norc", "--noprofile"], environment: ["PS1=$ ", "BASH_SILENCE=1"])
      try terminal.wait(for: "$")
      try terminal.type("stty -a >~/before; echo $$ >~/shell\n")
      try terminal.type(
        "sh -c 'echo $$ >~/pid; exec \(Programs.wschat) \(relay.url) --user ada --room general';"
          + " echo ended with $?; stty -a >~/after; echo all''over\n")
      try terminal.waitForConversation("General")
      #expect(try terminal.screen().isAlternate)
      return terminal
    }

    private func expectSane(_ terminal: TerminalSession, _ how: String) throws {
      let screen = try terminal.wait(for: "allover")
      #expect(!screen.isAlternate, "\(how)")
      #expect(screen.cursor != nil, "\(how)")
      let folder = terminal.folder
      #expect(try readFile(folder["after"]) == readFile(folder["before"]), "\(how)")
      // Pastes have no brackets any more, and mouse and focus send nothing.
      // The shell itself takes pastes in brackets, until it runs something.
      try terminal.type("stty raw -echo; echo rea''dy; cat -v\n")
      try terminal.wait(for: "ready")
      try terminal.paste("pasted")
      let pasted = try terminal.wait(for: "pasted")
      #expect(!pasted.contains("^["), "\(how)")
    }

    @Test(arguments: ["C-c", "C-q"])
    func `a key that quits leaves it as it was`(key: String) throws {
      let relay = try RelayProcess()
      let terminal = try inShell(relay)
      try terminal.type("half a sentence")
      try terminal.press(key)
      try terminal.wait(for: "ended with 0")
      try expectSane(terminal, key)
    }

    @Test(arguments: [SIGTERM, SIGHUP, SIGINT, SIGABRT, SIGSEGV])
    func `a signal leaves it as it was`(signal: Int32) throws {
      let relay = try RelayProcess()
      let terminal = try inShell(relay)
      let id = try #require(
        pid_t(try readFile(terminal.folder["pid"]).split(separator: "\n").first ?? ""))
      kill(id, signal)
      let isAsked = [SIGTERM, SIGHUP, SIGINT].contains(signal)
      try terminal.wait(for: isAsked ? "ended with 0" : "ended with \(128 + signal)")
      try expectSane(terminal, "signal \(signal)")
    }

    /// How often a process's first thread has gone to sleep so far.
    private func sleeps(of process: pid_t) throws -> Int {
      let status = try readFile("/proc/\(process)/status").split(separator: "\n")
      let line = status.first { $0.hasPrefix("voluntary_ctxt_switches:") }
      return try #require(Int(line?.split(whereSeparator: \.isWhitespace).last ?? ""))
    }

    @Test func `nothing wakes it while nothing happens`() throws {
      let relay = try RelayProcess()
      let terminal = try inShell(relay)
      let id = try #require(
        pid_t(try readFile(terminal.folder["pid"]).split(separator: "\n").first ?? ""))
      // A second in which it wakes thrice at most: a ping and its answer may fall into it, and what
      // the start has left to do into those before.
      let deadline = Deadline()
      var wakes = Int.max
      while wakes > 3, !deadline.hasPassed {
        let before = try sleeps(of: id)
        usleep(1_000_000)
        wakes = try sleeps(of: id) - before
      }
      #expect(wakes <= 3)
    }

    @Test func `Ctrl+Z suspends it and restores the terminal, and fg continues`() throws {
      let relay = try RelayProcess()
      let terminal = try inShell(relay)
      try terminal.type("half")
      try terminal.wait(for: "half")
      try terminal.press("C-z")
      let meanwhile = try terminal.wait(for: "Stopped")
      #expect(!meanwhile.isAlternate)
      #expect(meanwhile.cursor != nil)
      try terminal.type("stty -a | diff - ~/before && echo sa''me\n")
      try terminal.wait(for: "same")
      try terminal.resize(columns: 100, rows: 30)
      try terminal.type("fg\n")
      try terminal.waitForConversation("General")
      let back = try terminal.wait(for: "half")
      #expect(back.isAlternate)
      #expect(back.columns == 100)
      try terminal.say(" a sentence")
      #expect(!(try terminal.screen().messages(with: "half a sentence").isEmpty))
      try terminal.press("C-q")
      try terminal.wait(for: "allover")
    }

    @Test func `every size is filled, and drawing differences equals drawing everything`() throws {
      let relay = try RelayProcess()
      let bo = try RawClient(relay, user: "bo")
      for (number, text) in ["plain", "日本語のテキスト", "e\u{301}a\u{308}", "שלום עולם"].enumerated() {
        try bo.say(text, in: "general", id: "\(number)")
      }
      let terminal = try TerminalSession.wschat(relay, ["--room", "general"])
      try terminal.waitForConversation("General")
      for (columns, rows) in [(60, 20), (200, 60), (20, 5), (80, 24)] {
        try terminal.resize(columns: columns, rows: rows)
        // Text typed after it is shown after it.
        try terminal.type("x")
        let screen = try terminal.wait(for: "\(columns)×\(rows)") { screen in
          screen.columns == columns && screen.rows == rows && screen.composer.contains("› x")
            // The messages come with their page, however late.
            && (rows <= 5 || screen.contains("plain") && screen.contains("日本語のテキスト"))
        }
        try terminal.press("C-l")
        try terminal.type("y")
        let anew = try terminal.wait(for: "y behind it") { $0.composer.contains("› xy") }
        #expect(anew.lines.dropFirst().dropLast(2) == screen.lines.dropFirst().dropLast(2))
        try terminal.press("C-u")
        try terminal.wait(for: "an empty composer") { !$0.composer.contains("x") }
      }
    }

    @Test func `a narrow screen shows the list or the conversation`() throws {
      let relay = try RelayProcess("bots: [{ user: echo, name: Echo, behaviour: echo }]")
      let terminal = try TerminalSession.wschat(relay, columns: 60, rows: 20)
      let list = try terminal.wait(for: "the list") {
        $0.contains("Echo") && $0.contains("General")
      }
      #expect(!list.contains("› "))
      try terminal.type("/echo")
      try terminal.wait(forNo: "General")
      try terminal.press("Enter")
      let conversation = try terminal.wait(for: "› Message Echo")
      #expect(!conversation.contains("General"))
      try terminal.press("BTab")
      try terminal.wait(for: "the list again") { $0.contains("General") && !$0.contains("› ") }
    }

    @Test func `the configuration sets keys and the mouse`() throws {
      let relay = try RelayProcess("bots: [{ user: echo, name: Echo, behaviour: echo }]")
      let home = try TemporaryFolder()
      try home.write("mouse: true\nkeys: { search: [f3] }\n", to: "config/wschat/config.yaml")
      let terminal = try TerminalSession.wschat(relay, ["--room", "general"], in: home)
      try terminal.waitForConversation("General")
      try terminal.press("F3")
      try terminal.wait(for: "⌕")
      try terminal.press("Escape")
      try terminal.wait(forNo: "⌕")
      try terminal.press("F1")
      let help = try terminal.wait(for: "show these keys")
      #expect(help.line(with: "F3")?.contains("search") == true)
      #expect(!help.contains("Ctrl+F"))
      try terminal.press("Escape")
      try terminal.wait(forNo: "show these keys")
      // A click on the row of Echo: SGR 1006, counted from 1.
      let row = try #require(try terminal.wait(for: "Echo").row(of: "Echo"))
      try terminal.type("\u{1B}[<0;10;\(row + 1)M\u{1B}[<0;10;\(row + 1)m")
      try terminal.waitForConversation("Echo")
    }

    @Test func `with NO_COLOR there are no colors, and without it there are some`() throws {
      let relay = try RelayProcess()
      let bo = try RawClient(relay, user: "bo")
      try bo.say("hello", in: "general", id: "1")
      func colours(_ environment: [String]) throws -> [String] {
        let terminal = try TerminalSession.wschat(
          relay, ["--room", "general"], environment: environment)
        try terminal.waitForConversation("General")
        try terminal.wait(for: "hello")
        return try sequences(in: terminal.styledText())
      }
      func isColour(_ sequence: String) -> Bool {
        sequence.split(separator: ";").contains { parameter in
          guard let code = Int(parameter) else { return false }
          return (30...38).contains(code) || (40...48).contains(code) || (90...107).contains(code)
        }
      }
      #expect(try !colours(["NO_COLOR=1"]).contains(where: isColour))
      #expect(try colours([]).contains(where: isColour))
      // As many as the terminal has.
      #expect(try colours(["COLORTERM=truecolor"]).contains { $0.contains("38;2;") })
      #expect(try !colours([]).contains { $0.contains("38;2;") })
    }

    /// The parameters between `ESC [` and `m`.
    private func sequences(in text: String) -> [String] {
      text.split(separator: "\u{1B}[").dropFirst().compactMap { part in
        part.firstIndex(of: "m").map { String(part[..<$0]) }
      }
    }

    @Test func `others cannot give orders to the terminal`() throws {
      let folder = try TemporaryFolder()
      try folder.write(
        """
        - { user: eve, name: "Eve\\e]0;owned\\a\\e[2J" }
        - { user: mal, name: "\\u202Elam" }

        """, to: "people.yaml")
      let relay = try RelayProcess(
        "directory: { kind: local, file: \(folder["people.yaml"]) }", in: folder)
      let eve = try RawClient(relay, user: "eve")
      // The relay refuses what is worst, and the direction of others is no business of theirs.
      try eve.say("tab\there\u{202E}drawkcab\u{2066}", in: "dm:ada:eve", id: "1")
      let terminal = try TerminalSession.wschat(relay, ["--to", "eve"])
      let screen = try terminal.wait(for: "drawkcab")
      #expect(screen.isAlternate)
      #expect(!screen.text.unicodeScalars.contains("\u{202E}"))
      #expect(!screen.text.unicodeScalars.contains("\u{2066}"))
      #expect(try terminal.title != "owned")
      // The list and the bar are still there.
      #expect(screen.list.contains { $0.contains("Eve") })
    }

    @Test func `an error in the configuration is reported with its line, and nothing is started`()
      throws
    {
      let relay = try RelayProcess()
      let home = try TemporaryFolder()
      try home.write("theme: dark\nmesages: plain\n", to: "config/wschat/config.yaml")
      let terminal = try TerminalSession.wschat(relay, ["--room", "general"], in: home)
      #expect(try terminal.waitForExit() == .exit(2))
      let screen = try terminal.screen()
      #expect(!screen.isAlternate)
      #expect(screen.text.contains("config.yaml"))
      #expect(screen.text.contains("mesages"))
      #expect(screen.text.contains("did you mean messages?"))
    }

    @Test func `with --plain it works in lines on a terminal too`() throws {
      let relay = try RelayProcess()
      let terminal = try TerminalSession.wschat(relay, ["--plain", "--room", "general"])
      try terminal.type("hello\n")
      let screen = try terminal.wait(for: "  ada  hello")
      #expect(!screen.isAlternate)
    }

    @Test func `a command that is typed with --plain is not sent, one in a file is a line`() throws
    {
      let relay = try RelayProcess()
      let terminal = try TerminalSession.wschat(relay, ["--plain", "--room", "general"])
      try terminal.type("/help me\n")
      try terminal.wait(for: "/help is a command of the full screen, and was not sent")
      try terminal.type("//help\n")
      try terminal.wait(for: "  ada  /help")
      try terminal.type("/usr/bin is a folder\n")
      try terminal.wait(for: "  ada  /usr/bin is a folder")
      try terminal.press("C-d")
      #expect(try terminal.waitForExit() == .exit(0))
      let lines = try ChildProcess(
        [Programs.wschat, relay.url, "--user", "bo", "--room", "general"],
        input: "/help\n//help\n")
      #expect(try lines.wait() == .exit(0), "\(lines.errors)")
      let texts = try RawClient(relay, user: "cy").everything(in: "general").compactMap(\.text)
      #expect(texts == ["/help", "/usr/bin is a folder", "/help", "//help"])
    }
  }
}
