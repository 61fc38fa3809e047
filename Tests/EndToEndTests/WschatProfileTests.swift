import Glibc
import TestSupport
import Testing
import Wire

extension `End to end` {
  /// One user with several accounts.
  @Suite struct `wschat with profiles` {
    /// A home whose configuration has an account at each of two relays, and a second user at the
    /// first.
    private func home(_ here: RelayProcess, _ there: RelayProcess) throws -> TemporaryFolder {
      let home = try TemporaryFolder()
      try home.write(
        """
        url: \(here.url)
        user: ada
        profiles:
          work: { url: "\(there.url)", user: ada.l }
          other: { user: bo }
          same: { theme: light }
        """, to: "config/wschat/config.yaml")
      return home
    }

    private func screen(_ arguments: [String], in home: TemporaryFolder) throws -> TerminalSession {
      let terminal = try TerminalSession(
        [Programs.wschat, "--room", "general"] + arguments, in: home)
      try terminal.waitForConversation("General")
      return terminal
    }

    private func lines(
      _ arguments: [String], input: String = "", environment: [String] = [],
      in home: TemporaryFolder
    ) throws -> ChildProcess {
      let chat = try ChildProcess(
        [Programs.wschat] + arguments,
        environment: ["XDG_CONFIG_HOME=\(home["config"])", "TZ=UTC0", "USER=nobody"] + environment,
        input: input)
      _ = try chat.wait()
      return chat
    }

    @Test func `each account has its own conversations, drafts and files`() throws {
      let (here, there) = (try RelayProcess(), try RelayProcess())
      let home = try home(here, there)
      do {
        let terminal = try screen([], in: home)
        try terminal.say("said here")
        try terminal.type("draft here")
        try terminal.wait(for: "draft here")
        #expect(try !terminal.title.contains("("))
        try terminal.press("C-q")
        #expect(try terminal.waitForExit() == .exit(0))
      }
      do {
        let terminal = try screen(["--profile", "work"], in: home)
        try terminal.say("said there")
        let screen = try terminal.screen()
        #expect(!screen.contains("said here"))
        #expect(!screen.contains("draft here"))
        #expect(screen.lines[0].hasPrefix(" ada.l (work)"), "\(screen.lines[0])")
        try terminal.wait(for: "title") { _ in
          try terminal.title == "#General – wschat (work)"
        }
        try terminal.press("C-q")
        #expect(try terminal.waitForExit() == .exit(0))
      }
      #expect(try RawClient(here, user: "x").history("general").entries.map(\.from) == ["ada"])
      #expect(try RawClient(there, user: "x").history("general").entries.map(\.from) == ["ada.l"])
      let files = try ChildProcess(["ls", home["state/wschat"]], input: "")
      try files.wait()
      #expect(files.output.split(separator: "\n").filter { $0.hasSuffix(".db") }.count == 2)
      // A profile of the same account has its history.
      let terminal = try screen(["--profile", "same"], in: home)
      try terminal.wait(for: "said here")
      try terminal.wait(for: "the draft") { $0.composer.contains("draft here") }
    }

    @Test func `it works in lines, and flags override it`() throws {
      let (here, there) = (try RelayProcess(), try RelayProcess())
      let home = try home(here, there)
      // The profile was chosen, the environment is older.
      let environment = ["WSCHAT_URL=\(here.url)"]
      let work = try lines(
        ["--profile", "work"], input: "one\n", environment: environment, in: home)
      #expect(try work.wait() == .exit(0), "\(work.errors)")
      let user = try lines(["--profile", "work", "--user", "cy"], input: "two\n", in: home)
      #expect(try user.wait() == .exit(0), "\(user.errors)")
      let url = try lines(["--profile", "work", here.url], input: "three\n", in: home)
      #expect(try url.wait() == .exit(0), "\(url.errors)")
      let other = try lines(["--profile", "other"], input: "four\n", in: home)
      #expect(try other.wait() == .exit(0), "\(other.errors)")
      func said(_ relay: RelayProcess) throws -> [String] {
        try RawClient(relay, user: "x").history("general").entries
          .map { "\($0.from): \($0.text ?? "")" }
      }
      #expect(try said(there) == ["ada.l: one", "cy: two"])
      #expect(try said(here) == ["ada.l: three", "bo: four"])
    }

    @Test func `an unknown one is refused, and says which exist`() throws {
      let relay = try RelayProcess()
      let home = try home(relay, relay)
      let chat = try lines(["--profile", "wrk"], in: home)
      #expect(try chat.wait() == .exit(2))
      #expect(chat.errors.contains("there is no profile \"wrk\" in \(home["config"])/wschat"))
      #expect(chat.errors.contains("did you mean work? known: work, other, same"))
    }

    @Test func `a shell completes their names`() throws {
      let relay = try RelayProcess()
      let home = try home(relay, relay)
      let script = try lines(["--generate-completion-script", "bash"], in: home)
      try home.write(script.output, to: "wschat.bash")
      let shell = try ChildProcess(
        [
          "bash", "--norc", "-c",
          """
          PATH=\(Programs.folder):$PATH; . \(home["wschat.bash"])
          COMP_WORDS=(wschat --profile ''); COMP_CWORD=2; COMP_LINE='wschat --profile '
          COMP_POINT=${#COMP_LINE}
          $(complete -p wschat | sed 's/.*-F \\([^ ]*\\).*/\\1/') wschat '' --profile
          printf '%s\\n' "${COMPREPLY[@]}"
          """,
        ], environment: ["XDG_CONFIG_HOME=\(home["config"])"], input: "")
      try shell.wait()
      #expect(
        shell.output.split(separator: "\n").map { $0.filter { $0 != " " } }
          == ["work", "other", "same"], "\(shell.errors)")
    }
  }
}
