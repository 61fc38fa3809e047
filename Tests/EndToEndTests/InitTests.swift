import Glibc
import Platform
import TestSupport
import Testing

extension `End to end` {
  /// `relay init`, from its flags or questions to a relay that runs with its file.
  @Suite struct `A first configuration` {
    /// One of the places and one of the ways to enter.
    struct Combination: CustomTestStringConvertible, Sendable {
      var place: String
      var entry: String
      var testDescription: String { "\(place), \(entry)" }

      static let places = ["machine", "proxy", "internet"]
      static let all = places.flatMap { place in
        ["everyone", "invited", "github", "openid", "tokens"].map {
          Combination(place: place, entry: $0)
        }
      }

      var hasSecret: Bool { entry == "github" || entry == "tokens" }
    }

    private let folder: TemporaryFolder
    private let certificates: Certificates

    init() throws {
      folder = try TemporaryFolder()
      certificates = try Certificates()
      try folder.write("a-secret-of-the-client\n", to: "secret")
    }

    private var file: String { folder["relay.yaml"] }

    /// All flags that the combination needs, and a free port.
    private func flags(_ combination: Combination) -> [String] {
      var flags = [
        "--for", combination.place, "--enter", combination.entry, "--config", file,
        "--data", folder["data"],
      ]
      let address = combination.place == "internet" ? "0.0.0.0" : "127.0.0.1"
      flags += ["--listen", "\(address):0"]
      if combination.place != "machine" { flags += ["--host", "chat.example.org"] }
      if combination.place == "internet" {
        flags += ["--certificate", certificates["server.pem"], "--key", certificates["server.key"]]
      }
      switch combination.entry {
      case "github": flags += ["--client-id", "Iv1.17", "--client-secret-file", folder["secret"]]
      case "openid": flags += ["--client-id", "chat", "--issuer", "https://id.example.org/"]
      default: break
      }
      return flags
    }

    private func start(_ flags: [String], under wrapper: [String] = []) throws -> ChildProcess {
      let process = try ChildProcess(wrapper + [Programs.relay, "init"] + flags, input: "")
      try process.wait()
      return process
    }

    private func write(_ combination: Combination) throws -> ChildProcess {
      let process = try start(flags(combination))
      #expect(try process.wait() == .exit(0), "\(process.errors)")
      return process
    }

    // MARK: Files

    @Test(arguments: Combination.all)
    func `passes check-config, and only a file with a secret is private`(
      combination: Combination
    ) throws {
      let process = try write(combination)
      #expect(process.output.contains("relay serve --config \(file)"))
      let check = try RelayProcess.command("check-config", "--config", file)
      #expect(try check.wait() == .exit(0), "\(check.errors)")
      #expect(try folder.permissions(of: "relay.yaml") == (combination.hasSecret ? 0o600 : 0o644))
    }

    @Test(arguments: Combination.places, ["everyone", "invited", "tokens"])
    func `a relay starts with it`(place: String, entry: String) throws {
      _ = try write(Combination(place: place, entry: entry))
      let relay = try ChildProcess([Programs.relay, "serve", "--config", file], input: "")
      try relay.waitForErrors {
        $0.contains("listening on \(place == "internet" ? "wss" : "ws")://")
      }
      relay.signal(SIGTERM)
      #expect(try relay.wait() == .exit(0))
      #expect(relay.errors.contains("first operator") == (entry == "invited"))
    }

    @Test func `each has a secret of its own, which signs tokens`() throws {
      let combination = Combination(place: "machine", entry: "tokens")
      _ = try write(combination)
      let first = try folder.read("relay.yaml")
      let token = try RelayProcess.command("token", "--user", "ada", "--config", file)
      #expect(try token.wait() == .exit(0), "\(token.errors)")
      #expect(try start(flags(combination) + ["--force"]).wait() == .exit(0))
      #expect(try folder.read("relay.yaml") != first)
    }

    @Test func `an existing file is replaced with --force only`() throws {
      let combination = Combination(place: "machine", entry: "everyone")
      try folder.write("mine: 1\n", to: "relay.yaml")
      let refused = try start(flags(combination))
      #expect(try refused.wait() == .exit(1))
      #expect(refused.errors.contains("exists. Choose another file with --config"))
      #expect(try folder.read("relay.yaml") == "mine: 1\n")
      #expect(try start(flags(combination) + ["--force"]).wait() == .exit(0))
      #expect(try folder.read("relay.yaml").contains("mode: open"))
    }

    @Test func `text of any kind stays a text in the file`() throws {
      var flags = flags(Combination(place: "machine", entry: "github"))
      let odd = #"a "b" \ 'c' # d: {e}"#
      flags += ["--organization", odd]
      #expect(try start(flags).wait() == .exit(0))
      let check = try RelayProcess.command("check-config", "--config", file)
      #expect(check.output.contains(#"organization: "a \"b\" \\ 'c' # d: {e}""#), "\(check.errors)")
    }

    // MARK: Refusals

    @Test func `without a terminal missing flags are named, and nothing is written`() throws {
      let none = try start(["--config", file])
      #expect(try none.wait() == .exit(2))
      #expect(none.errors.contains("give --for, --enter."))
      let some = try start(["--for", "internet", "--enter", "github", "--config", file])
      #expect(try some.wait() == .exit(2))
      let missing = "--host, --certificate, --key, --client-id, --client-secret-file."
      #expect(some.errors.contains(missing), "\(some.errors)")
      #expect(!folder.names.contains("relay.yaml"))
    }

    @Test(arguments: [
      ("machine", "everyone", ["--certificate", "a.pem"], "--certificate", "--for machine"),
      ("proxy", "everyone", ["--key", "a.pem"], "--key", "--for proxy"),
      ("machine", "everyone", ["--host", "chat.example.org"], "--host", "--for machine"),
      ("machine", "tokens", ["--client-id", "chat"], "--client-id", "--enter tokens"),
      (
        "machine", "invited", ["--client-secret-file", "s"], "--client-secret-file",
        "--enter invited"
      ),
      ("machine", "openid", ["--organization", "o"], "--organization", "--enter openid"),
      ("machine", "github", ["--issuer", "https://id.example.org"], "--issuer", "--enter github"),
    ])
    func `a flag that the other choices do not use is refused, and both are named`(
      place: String, entry: String, flag: [String], name: String, choice: String
    ) throws {
      let refused = try start(flags(Combination(place: place, entry: entry)) + flag)
      #expect(try refused.wait() == .exit(1))
      #expect(refused.errors.hasPrefix("\(name) is for "), "\(refused.errors)")
      #expect(refused.errors.contains("no effect with \(choice)."), "\(refused.errors)")
      #expect(!folder.names.contains("relay.yaml"))
    }

    @Test(arguments: [
      (["--host", "https://chat.example.org"], "is a URL; write only the name"),
      (["--host", "chat"], "is no host name; write one such as chat.example.org"),
      (["--host", "chat.example.org:0"], "is no host name"),
      (["--listen", "0.0.0.0"], "is no address to listen on; write HOST:PORT"),
      (["--listen", "192.0.2.1:8080"], "is no address of this machine"),
      (["--key", "/nowhere/key.pem"], "/nowhere/key.pem"),
      (["--data", ""], "--data cannot be empty"),
    ])
    func `what cannot work is refused, with what to do`(flags: [String], reason: String) throws {
      let refused = try start(self.flags(Combination(place: "internet", entry: "everyone")) + flags)
      #expect(try refused.wait() == .exit(1))
      #expect(refused.errors.contains(reason), "\(refused.errors)")
      #expect(refused.errors.contains("Nothing was written."))
      #expect(!folder.names.contains("relay.yaml"))
    }

    @Test func `on one machine the address is one of this machine only`() throws {
      let combination = Combination(place: "machine", entry: "everyone")
      let refused = try start(flags(combination) + ["--listen", "0.0.0.0:8080"])
      #expect(try refused.wait() == .exit(1))
      #expect(refused.errors.contains("can be reached by other machines; use 127.0.0.1"))
    }

    @Test func `a port that is in use is refused`() throws {
      let listener = try Listener.claim(try Address("127.0.0.1:0"))
      let combination = Combination(place: "machine", entry: "everyone")
      let refused = try start(flags(combination) + ["--listen", "\(listener.address)"])
      #expect(try refused.wait() == .exit(1))
      #expect(refused.errors.contains("another program does. Stop it, or choose another port."))
    }

    private static let privilegedPorts =
      (try? readFile("/proc/sys/net/ipv4/ip_unprivileged_port_start")).flatMap {
        Int($0.dropLast())
      }

    @Test(
      .enabled(if: (privilegedPorts ?? 1024) > 1, "every user may listen on every port here"))
    func `a port that needs root is refused without it`() throws {
      let wrapper = geteuid() == 0 ? ["setpriv", "--bounding-set", "-net_bind_service"] : []
      let combination = Combination(place: "internet", entry: "everyone")
      let refused = try start(flags(combination) + ["--listen", "0.0.0.0:1"], under: wrapper)
      #expect(try refused.wait() == .exit(1))
      #expect(refused.errors.contains("only root may use a port below 1024"), "\(refused.errors)")
    }

    // MARK: A person

    @Test func `on a terminal it asks, and asks again after a wrong answer`() throws {
      let terminal = try TerminalSession([Programs.relay, "init", "--config", file], columns: 120)
      try terminal.wait(for: "Where are the relay's clients?")
      try terminal.wait(for: "Number or name:")
      try terminal.type("7\n")
      try terminal.wait(for: "Choose one of 1 to 3.")
      try terminal.type("2\n")
      try terminal.wait(for: "Who may enter?")
      try terminal.wait(for: "5  tokens")
      try terminal.type("openid\n")
      try terminal.wait(for: "The name by which browsers find it")
      try terminal.type("https://chat\n")
      try terminal.wait(for: "is a URL; write only the name")
      try terminal.type("Chat.Example.org\n")
      try terminal.wait(for: "The address to listen on [127.0.0.1:8080]:")
      try terminal.type("127.0.0.1:0\n")
      try terminal.wait(for: "The address of the provider")
      try terminal.type("https://id.example.org\n")
      try terminal.wait(for: "The client ID")
      try terminal.type("chat\n")
      try terminal.wait(for: "Its secret [none]:")
      try terminal.type("not-to-be-seen\n")
      try terminal.wait(for: "The folder for all messages [/var/lib/relay]:")
      try terminal.type("\n")
      let screen = try terminal.wait(for: "reverse_proxy 127.0.0.1:0")
      #expect(screen.contains("https://chat.example.org/sign-in/oidc/callback"))
      #expect(!screen.contains("not-to-be-seen"))
      #expect(try terminal.waitForExit() == .exit(0))
      let text = try folder.read("relay.yaml")
      #expect(text.contains(#"client_secret: "not-to-be-seen""#))
      #expect(try folder.permissions(of: "relay.yaml") == 0o600)
    }

    @Test func `the end of the input ends it, and nothing is written`() throws {
      let terminal = try TerminalSession([Programs.relay, "init", "--config", file], columns: 120)
      try terminal.wait(for: "Number or name:")
      try terminal.press("C-d")
      try terminal.wait(for: "Nothing was written.")
      #expect(try terminal.waitForExit() == .exit(1))
      #expect(!folder.names.contains("relay.yaml"))
    }

    @Test(.enabled(if: Programs.isInstalled("caddy"), "there is no Caddy here"))
    func `Caddy takes the lines for it`() throws {
      let process = try write(Combination(place: "proxy", entry: "everyone"))
      let lines = process.output.split(separator: "\n").drop { !$0.hasPrefix("For Caddy") }
      try folder.write(lines.dropFirst().joined(separator: "\n") + "\n", to: "Caddyfile")
      let adapted = try run(
        "caddy", "adapt", "--adapter", "caddyfile", "--config", folder["Caddyfile"])
      #expect(adapted.contains("chat.example.org"))
      #expect(adapted.contains("127.0.0.1:0"))
    }
  }
}
