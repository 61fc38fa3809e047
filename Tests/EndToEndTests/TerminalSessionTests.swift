import Glibc
import TestSupport
import Testing

extension `End to end` {
  /// What the tests of screens stand on.
  @Suite struct `A terminal for tests` {
    @Test func `output of a program is shown, typed text arrives, and the exit code is known`()
      throws
    {
      let terminal = try TerminalSession(["sh", "-c", "echo ready; read -r line; exit 7"])
      try terminal.wait(for: "ready")
      try terminal.type("gr\u{FC}\u{DF}e ✓ 日本")
      let screen = try terminal.wait(for: "grüße ✓ 日本")
      // The wide ones take two columns each.
      let cursor = try #require(screen.cursor)
      #expect(cursor == (12, 1))
      try terminal.press("Enter")
      #expect(try terminal.waitForExit() == .exit(7))
      #expect(try terminal.screen().contains("ready"))
    }

    @Test func `keys and pastes arrive as a terminal sends them`() throws {
      let terminal = try TerminalSession([
        "sh", "-c", #"stty raw -echo; printf '\033[?2004hready'; exec cat -v"#,
      ])
      try terminal.wait(for: "ready")
      try terminal.press("C-k", "M-Up", "M-S-Down", "PPage", "F1", "Escape")
      try terminal.wait(for: "^K^[[1;3A^[[1;4B^[[5~^[OP^[")
      try terminal.paste("one\ntwo")
      try terminal.wait(for: "^[[200~one^Mtwo^[[201~")
    }

    @Test func `a program learns its size and each new one`() throws {
      let terminal = try TerminalSession(
        ["sh", "-c", "trap 'stty size' WINCH; stty size; while :; do sleep 0.02; done"],
        columns: 100, rows: 30)
      try terminal.wait(for: "30 100")
      try terminal.resize(columns: 60, rows: 20)
      let screen = try terminal.wait(for: "20 60")
      #expect(screen.columns == 60)
      #expect(screen.rows == 20)
    }

    @Test func `the second screen, a hidden cursor and colours are known`() throws {
      let terminal = try TerminalSession([
        "sh", "-c",
        #"printf '\033[?1049h\033[?25l\033[31mred\033[m'; read -r l; printf '\033[?1049l\033[?25h'; read -r l"#,
      ])
      let during = try terminal.wait(for: "red")
      #expect(during.isAlternate)
      #expect(during.cursor == nil)
      #expect(try terminal.styledText().contains("\u{1B}[31mred"))
      try terminal.press("Enter")
      let after = try terminal.wait(forNo: "red")
      #expect(!after.isAlternate)
      #expect(after.cursor != nil)
    }

    @Test func `variables are set, or absent`() throws {
      let script = #"echo "[${NO_COLOR-none}] [${COLORTERM-none}] [$TERM] [$WORD]""#
      let plain = try TerminalSession(["sh", "-c", script], environment: ["WORD=a b"])
      try plain.wait(for: "[none] [none] [tmux-256color] [a b]")
      let given = try TerminalSession(
        ["sh", "-c", script], environment: ["NO_COLOR=1", "COLORTERM=truecolor"])
      try given.wait(for: "[1] [truecolor]")
    }

    @Test func `an end by a signal is distinguished from an exit`() throws {
      let terminal = try TerminalSession(["sh", "-c", "echo ready; exec sleep 1000"])
      try terminal.wait(for: "ready")
      try terminal.signal(SIGKILL)
      #expect(try terminal.waitForExit() == .signal(SIGKILL))
    }

    @Test func `nothing is left when it is gone`() throws {
      var terminal: TerminalSession? = try TerminalSession([
        "sh", "-c", "echo ready; exec sleep 1000",
      ])
      let id = try #require(try terminal?.processID)
      try terminal?.wait(for: "ready")
      #expect(TerminalSession.isRunning(id))
      terminal = nil
      #expect(!TerminalSession.isRunning(id))
    }
  }
}
