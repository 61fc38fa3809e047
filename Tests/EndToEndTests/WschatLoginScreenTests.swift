import Glibc
import TestSupport
import Testing

extension `End to end` {
  /// Signing in on a terminal, and again when the relay has ended the session.
  @Suite struct `wschat with a login, on the screen` {
    private func login(
      _ relay: LoginRelay, columns: Int = 80, rows: Int = 24, environment: [String] = [],
      in home: TemporaryFolder? = nil
    ) throws -> TerminalSession {
      try TerminalSession(
        [Programs.wschat, "login", relay.url], columns: columns, rows: rows,
        environment: environment, in: home)
    }

    private func open(_ relay: LoginRelay, in home: TemporaryFolder? = nil) throws
      -> TerminalSession
    {
      let terminal = try login(relay, in: home)
      try relay.allow("ada")
      try terminal.wait(for: "the list") { $0.isAlternate && $0.isConnected }
      try terminal.go(to: "#den")
      return terminal
    }

    @Test func `a QR code is shown where there is room, and the screen starts`() throws {
      let relay = try LoginRelay()
      let terminal = try login(relay, rows: 40)
      let screen = try terminal.wait(for: "shows this code:  WDJB-MJ01")
      #expect(screen.lines.count { $0.contains("▀") } > 10)
      try relay.allow("ada")
      try terminal.wait(for: "the list") { $0.isAlternate && $0.isConnected }
    }

    @Test(arguments: [
      (36, 40, "LC_ALL=C.UTF-8"), (80, 20, "LC_ALL=C.UTF-8"), (80, 40, "LC_ALL=C"),
      (80, 40, "NO_COLOR=1"),
    ])
    func `it is left out elsewhere`(columns: Int, rows: Int, environment: String) throws {
      let relay = try LoginRelay()
      let terminal = try login(relay, columns: columns, rows: rows, environment: [environment])
      let screen = try terminal.wait(for: "WDJB-MJ01")
      #expect(!screen.contains("▀"))
    }

    @Test func `Ctrl+C ends it, and Enter asks for a new code once one has expired`() throws {
      let relay = try LoginRelay()
      let terminal = try login(relay)
      try terminal.wait(for: "WDJB-MJ01")
      try relay.tell("expire")
      try terminal.wait(for: "Press Enter for a new one")
      try terminal.press("Enter")
      try terminal.wait(for: "WDJB-MJ02")
      try terminal.press("C-c")
      #expect(try terminal.waitForExit() == .exit(1))
      #expect(try terminal.screen().contains("you are not signed in"))
    }

    @Test func `after the end of its session it signs in again, and keeps what was written`() throws
    {
      let relay = try LoginRelay()
      let terminal = try open(relay)
      try terminal.say("before")
      try relay.tell("end ada")
      try terminal.wait(for: "This device was signed out; Alt+L")
      try terminal.say("meanwhile")
      try terminal.type("a draft")
      try terminal.press("M-l")
      try terminal.wait(for: "WDJB-MJ")
      try relay.allow("ada")
      try terminal.wait(for: "Signed in as ada.")
      try relay.wait(for: "the unsent line") { try relay.seen("sends").contains("meanwhile") }
      // The first one is sent again if the session has ended before its ack came.
      let sends = try relay.seen("sends")
      #expect(sends.hasPrefix(#"[["ada", "before"], "#))
      #expect(sends.hasSuffix(#"["ada", "meanwhile"]]"#))
      #expect(!sends.contains("draft"))
      try terminal.wait(for: "the draft") { $0.composer.contains("a draft") }
    }

    @Test func `as another user it shows and sends nothing of the first one`() throws {
      let relay = try LoginRelay()
      let terminal = try open(relay)
      try terminal.say("said by ada")
      try relay.wait(for: "the line of ada") { try relay.seen("sends").contains("by ada") }
      try relay.tell("end ada")
      try terminal.wait(for: "This device was signed out; Alt+L")
      try terminal.say("unsent by ada")
      try terminal.press("M-l")
      try terminal.wait(for: "WDJB-MJ")
      try relay.allow("bo")
      let screen = try terminal.wait(for: "Signed in as bo.")
      #expect(!screen.contains("by ada"))
      try terminal.wait(for: "connection") { $0.isConnected }
      try terminal.go(to: "#den")
      try terminal.say("said by bo")
      try relay.wait(for: "the line of bo") { try relay.seen("sends").contains("by bo") }
      #expect(try relay.seen("sends") == #"[["ada", "said by ada"], ["bo", "said by bo"]]"#)
      let files = try fileNames(in: terminal.folder["state/wschat"])
      #expect(files.count { $0.hasSuffix(".db") } == 2)
    }
  }
}
