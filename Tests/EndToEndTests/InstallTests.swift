import TestSupport
import Testing

extension `End to end` {
  /// What `make install` puts where, from the commands that are built already.
  @Suite struct `What is installed` {
    /// A folder in place of the system's root.
    private let root: TemporaryFolder

    init() throws {
      root = try TemporaryFolder()
      let make = try Self.run(["install"], root)
      guard try make.wait() == .exit(0) else {
        throw Unexpected("make install: \(make.output)\(make.errors)")
      }
    }

    private static func run(_ target: [String], _ root: TemporaryFolder) throws -> ChildProcess {
      let make = try ChildProcess(
        [
          "make", "-C", Project.path, "BUILT=\(Programs.folder)", "DESTDIR=\(root.path)",
          "PREFIX=/usr",
        ] + target, environment: ["MAKEFLAGS=", "MAKELEVEL="], input: "")
      try make.wait(Deadline(seconds: 120))
      return make
    }

    private var share: String { root["usr/share"] }

    private static let commands = ["relay", "wschat", "swarm"]

    @Test(arguments: commands)
    func `a command is installed with its manual and its shell completions`(command: String) throws
    {
      let version = try ChildProcess([root["usr/bin/\(command)"], "--version"], input: "")
      #expect(try version.wait() == .exit(0))
      #expect(version.output.hasPrefix("\(command) "))
      for file in [
        "man/man1/\(command).1", "bash-completion/completions/\(command)",
        "zsh/site-functions/_\(command)", "fish/vendor_completions.d/\(command).fish",
      ] {
        let facts = try ChildProcess(
          ["stat", "-c", "%a %s", "\(share)/\(file)"], input: "")
        #expect(try facts.wait() == .exit(0), "\(file)")
        let words = facts.output.split(whereSeparator: \.isWhitespace)
        #expect(words.first == "644", "\(file): \(facts.output)")
        #expect(words.last != "0", "\(file): \(facts.output)")
      }
    }

    @Test func `relay finds relay-media, which people do not call`() throws {
      let relay = try ChildProcess(
        [root["usr/bin/relay"], "serve", "--listen", "127.0.0.1:0", "--data", root["data"]],
        input: "")
      try relay.waitForErrors(Deadline()) { $0.contains("listening on ") }
      #expect(!relay.errors.contains("No picture is shown"), "\(relay.errors)")
      let called = try ChildProcess(["test", "-e", root["usr/bin/relay-media"]], input: "")
      #expect(try called.wait() == .exit(1))
    }

    @Test func `nothing is left after make uninstall but folders that others use`() throws {
      #expect(try Self.run(["uninstall"], root).wait() == .exit(0))
      // Where nothing is, there is nothing to do.
      #expect(try Self.run(["uninstall"], root).wait() == .exit(0))
      let files = try ChildProcess(["find", root.path, "-type", "f"], input: "")
      #expect(try files.wait() == .exit(0))
      #expect(files.output == "")
      let own = try ChildProcess(["test", "-e", root["usr/share/doc/relay"]], input: "")
      #expect(try own.wait() == .exit(1))
    }

    // MARK: Completions

    /// A shell in a terminal, with the commands in its path and nothing of the machine's own.
    private func shell(_ arguments: [String], _ variables: [String] = []) throws
      -> TerminalSession
    {
      let bin = root["usr/bin"]
      return try TerminalSession(
        arguments,
        environment: [
          "PATH=\(bin):\(Programs.environment("PATH") ?? "/usr/bin:/bin")", "PS1=> ", "PROMPT=> ",
        ] + variables)
    }

    @Test func `bash finds the completions and completes`() throws {
      let bash = try shell(
        ["bash", "--norc", "--noprofile"], ["XDG_DATA_DIRS=\(share)", "BASH_SILENCE=1"])
      try bash.wait(for: ">")
      try bash.type(". /usr/share/bash-completion/bash_completion && echo rea''dy\n")
      try bash.wait(for: "ready")
      // Meta-? lists, and Tab completes the common part.
      try bash.type("wschat --tok\u{1B}?")
      try bash.wait(for: "--token-command")
      try bash.type("\t")
      try bash.wait(for: "> wschat --token")
      try bash.type("\u{15}wschat --time\t7")
      try bash.wait(for: "> wschat --timeout 7")
      try bash.type("\u{15}relay se\t--da\t/et\t")
      try bash.wait(for: "> relay serve --data /etc/")
      try bash.type("\u{15}swarm comp\tA.json")
      try bash.wait(for: "> swarm compare A.json")
    }

    @Test(.enabled(if: Programs.isInstalled("zsh"), "there is no zsh here"))
    func `zsh finds the completions and completes`() throws {
      let zsh = try shell(["zsh", "-f"])
      try zsh.wait(for: ">")
      try zsh.type("fpath=(\(share)/zsh/site-functions $fpath); autoload -U compinit\n")
      try zsh.type("compinit -u -D && echo rea''dy\n")
      try zsh.wait(for: "ready")
      try zsh.type("wschat --time\t")
      try zsh.wait(for: "--timeout  -- In lines")
      try zsh.type("\t")
      try zsh.wait(for: "> wschat --timeout")
      try zsh.type("\u{15}relay check\t")
      try zsh.wait(for: "> relay check-config")
    }

    @Test(.enabled(if: Programs.isInstalled("fish"), "there is no fish here"))
    func `fish finds the completions and completes`() throws {
      let folder = try TemporaryFolder()
      let fish = try ChildProcess(
        [
          "fish", "-c",
          #"complete -C "wschat --tok"; complete -C "relay ver"; complete -C "swarm find --prec""#,
        ],
        environment: [
          "HOME=\(folder.path)", "XDG_DATA_DIRS=\(share)", "XDG_CONFIG_HOME=\(folder.path)",
          "PATH=\(root["usr/bin"]):\(Programs.environment("PATH") ?? "/usr/bin")",
        ], input: "")
      #expect(try fish.wait() == .exit(0), "\(fish.errors)")
      let words = fish.output.split(separator: "\n").map { $0.prefix { $0 != "\t" } }
      #expect(words == ["--token", "--token-command", "verify", "--precision"])
    }
  }
}
