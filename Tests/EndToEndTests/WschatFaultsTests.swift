import Glibc
import TestSupport
import Testing
import Wire

extension `End to end` {
  /// Terminals, machines and relays that do less than they promise.
  @Suite struct `wschat on a screen, when something is wrong` {
    // MARK: The terminal

    @Test func `the end of a paste that is lost leaves the keyboard alive`() throws {
      let relay = try RelayProcess()
      let terminal = try TerminalSession.wschat(relay, ["--room", "general"])
      try terminal.waitForConversation("General")
      try terminal.type("\u{1B}[200~pasted words")
      try terminal.wait(for: "the paste") { $0.composer.contains("pasted words") }
      try terminal.type(" and typed ones")
      try terminal.wait(for: "the text") { $0.composer.contains("pasted words and typed ones") }
      try terminal.type("\u{1B}[200~, and more")
      try terminal.wait(for: "the second paste") { $0.composer.contains("and more") }
      try terminal.press("C-c")
      #expect(try terminal.waitForExit() == .exit(0))
    }

    @Test(arguments: ["xterm-256color", "linux", "screen"])
    func `lines that are pasted without brackets are not sent`(kind: String) throws {
      let relay = try RelayProcess()
      let terminal = try TerminalSession(
        ["env", "TERM=\(kind)", Programs.wschat, relay.url, "--user", "ada", "--room", "general"])
      try terminal.waitForConversation("General")
      try terminal.type("password: hunter2\rsecond line\rthird line")
      try terminal.wait(for: "the paste") { $0.contains("third line") }
      try terminal.press("Enter")
      try terminal.wait(for: "its ack") {
        $0.messages(with: "third line").contains { $0.contains("✓") }
      }
      let texts = try RawClient(relay, user: "bo").everything(in: "general").compactMap(\.text)
      #expect(texts == ["password: hunter2\nsecond line\nthird line"])
    }

    // MARK: The disk

    @Test(arguments: ["/proc/nowhere", "/dev/null/state"])
    func `messages that cannot be saved are in the bar, and quitting asks`(folder: String) throws {
      let relay = try RelayProcess()
      try relay.kill()
      let terminal = try TerminalSession.wschat(
        relay, ["--room", "general"], environment: ["XDG_STATE_HOME=\(folder)"])
      try terminal.wait(for: "Messages are not saved")
      try terminal.say("precious words")
      // Another notice takes the place of the first.
      try terminal.type("/jion")
      try terminal.press("Enter")
      try terminal.wait(for: "/jion is no command")
      #expect(try terminal.screen().lines[0].contains("! not saved"))
      try terminal.press("C-c")
      try terminal.wait(for: "1 message and 1 draft cannot be saved.")
      try terminal.press("Escape")
      try terminal.wait(forNo: "cannot be saved")
      try terminal.press("C-c")
      try terminal.wait(for: "cannot be saved")
      try terminal.press("C-c")
      #expect(try terminal.waitForExit() == .exit(0))
    }

    // MARK: Tokens

    private static let secret = "0123456789abcdef0123456789abcdef"

    /// A relay with tokens, and a command that prints one for some seconds; from its second run on it
    /// does something else first.
    private func tokens(_ then: String, seconds: Int) throws -> (RelayProcess, command: String) {
      let relay = try RelayProcess("auth: { mode: jwt, secret: \(Self.secret) }")
      let folder = relay.folder
      try folder.write(
        """
        #!/bin/sh
        cd '\(folder.path)'
        echo run >>runs
        if [ $(grep -c run runs) -gt 1 ]; then
          \(then)
        fi
        exec '\(Programs.relay)' token --user ada --ttl \(seconds)s --config relay.yaml
        """, to: "token")
      return (relay, "sh \(folder["token"])")
    }

    @Test func `a token command cannot take keys from the composer`() throws {
      let (relay, command) = try tokens(
        "printf 'PIN: ' >/dev/tty; read -r pin </dev/tty; echo \"pin=$pin\" >>pins", seconds: 3)
      let terminal = try TerminalSession(
        [Programs.wschat, relay.url, "--room", "general", "--token-command", command])
      try terminal.waitForConversation("General")
      let isRenewed = becomesTrue {
        ((try? relay.folder.read("pins")) ?? "").contains("pin=\n")
      }
      #expect(isRenewed, "\((try? relay.folder.read("pins")) ?? "")")
      try terminal.say("written meanwhile")
      try terminal.wait(for: "its ack") {
        $0.messages(with: "written meanwhile").contains { $0.contains("✓") }
      }
      #expect(try !terminal.screen().contains("PIN"))
    }

    @Test func `a token that cannot be renewed is in the bar, until it can`() throws {
      let (relay, command) = try tokens("[ -e mended ] || exit 7", seconds: 3)
      let terminal = try TerminalSession(
        [Programs.wschat, relay.url, "--room", "general", "--token-command", command],
        columns: 120)
      try terminal.waitForConversation("General")
      try terminal.wait(for: "! no token")
      try terminal.wait(for: "--token-command failed with exit code 7")
      // It has expired meanwhile.
      try terminal.wait(for: "The token has expired")
      try relay.folder.write("", to: "mended")
      try terminal.press("M-r")
      try terminal.wait(forNo: "! no token")
      try terminal.waitForConversation("General")
    }

    // MARK: The relay

    @Test(arguments: FreezingProxy.Direction.allCases)
    func `a relay that does not answer looks so for as long, whichever way is frozen`(
      direction: FreezingProxy.Direction
    ) throws {
      let relay = try RelayProcess()
      let proxy = try FreezingProxy(relay)
      defer { proxy.end() }
      let terminal = try TerminalSession(
        [
          Programs.wschat, "ws://127.0.0.1:\(proxy.port)/ws", "--user", "ada", "--room", "general",
        ])
      try terminal.wait(for: "a round trip") { $0.lines[0].contains(" ms") }
      proxy.freeze(direction)
      try terminal.type("hello")
      try terminal.press("Enter")
      try terminal.wait(for: "waiting 2 s")
      // Longer than the interval between two pings.
      try terminal.wait(for: "13 s", Deadline(seconds: 30)) { screen in
        let title = screen.lines[0]
        guard title.contains("waiting") else { throw Unexpected("it says \(title)") }
        return title.contains("waiting 13 s")
      }
      proxy.thaw()
      let title = try terminal.wait(for: "a round trip") { $0.lines[0].contains(" ms") }.lines[0]
      let shown = title.split(separator: " ").dropLast().last.flatMap { Int($0) }
      #expect(try #require(shown) < 2000, "\(title)")
    }

    // MARK: The clock

    @Test(.enabled(if: canMount))
    func `times follow the time zone of the machine`() throws {
      let relay = try RelayProcess()
      let folder = try TemporaryFolder()
      // Its content is replaced, as by a package or an administrator.
      try run("cp", "/usr/share/zoneinfo/UTC", folder["zone"])
      // Seen to be changed by its time, in seconds.
      try run("touch", "-d", "2026-01-01", folder["zone"])
      let terminal = try TerminalSession(
        ["env", "-u", "TZ"] + OwnMounts.command + [
          "sh", "-c", #"mount --bind "$0" /etc/localtime && exec "$@""#, folder["zone"],
          Programs.wschat, relay.url, "--user", "ada", "--room", "general",
        ], columns: 120, environment: ["TZ="])
      try terminal.waitForConversation("General")
      try terminal.say("what time is it")
      let row = try terminal.wait(for: "its ack") {
        $0.messages(with: "what time is it").contains { $0.contains("✓") }
      }.messages(with: "what time is it")
      // Nepal is 5:45 ahead: another minute as well.
      try run("sh", "-c", "cat /usr/share/zoneinfo/Asia/Kathmandu >'\(folder["zone"])'")
      try terminal.focus(true)
      try terminal.wait(for: "another time") { $0.messages(with: "what time is it") != row }
    }

    /// As root, with the files of time zones.
    private static let canMount =
      geteuid() == 0 && (try? readFile("/usr/share/zoneinfo/Asia/Kathmandu")) != nil
      && (try? readFile("/etc/localtime")) != nil
  }
}
