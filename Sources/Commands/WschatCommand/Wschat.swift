import ArgumentParser
import Client
import CommandMain
import EventLoop
import Glibc
import Messenger
import Platform
import TLS
import Terminal
import Wire

/// The command `wschat`: its flags and exit codes.
@main
struct Wschat: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "wschat",
    abstract: "Chat through a relay: full-screen on a terminal, otherwise in lines.",
    discussion: """
      On a terminal wschat is full-screen; F1 shows its keys. Otherwise, or with --plain, it works \
      in lines: each line of standard input is sent, in order; entries are printed as HH:MM  from  text. \
      A typed line that begins with a command, such as /help, or a mistyped one is not sent; //help sends /help. \
      At the end of input wschat waits until every line is acknowledged.

      wschat login URL signs this device in to a relay with accounts; then wschat alone uses that login.

      Exit codes: 0 everything was acknowledged; 1 a line was refused, or not acknowledged in time; \
      2 wrong usage; 4 access denied; 5 no connection.
      """,
    version: "wschat 0.1.0",
    subcommands: subcommands)

  private static let subcommands: [any ParsableCommand.Type] = [
    LoginCommand.self, LogoutCommand.self, SessionsCommand.self,
  ]

  /// The command line that begins with the name of a command: its parser would take that name for the
  /// URL of `Wschat`.
  private struct WithSubcommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "wschat",
      abstract: "Chat through a relay; wschat --help shows the options of the chat itself.",
      subcommands: Wschat.subcommands)
  }

  @Argument(
    help: """
      The relay: ws:// or wss://, HOST:PORT (wss:// unless it is this machine), or the http:// or \
      https:// of its page (default: $WSCHAT_URL, then that of the last login, then \
      ws://127.0.0.1:8080/ws).
      """)
  var url: String?

  @Option(
    parsing: .unconditional,
    help: "Your name, if the relay accepts names without a token (default: $USER in lower case).")
  var user: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Your token; other users of this machine can see it in the list of processes.",
      valueName: "t"))
  var token: String?

  @Option(
    help: ArgumentHelp(
      "A command that prints a token; run again before the token expires and when it is refused.",
      valueName: "cmd"))
  var tokenCommand: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "An account: one of the profiles of the configuration, or of a login.", valueName: "name"),
    completion: .custom { words, _, _ in ConfigurationFile.profiles(typed: words) })
  var profile: String?

  @Option(
    parsing: .unconditional,
    help: "The room (default: general in line mode, the list in full-screen mode).")
  var room: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The user to chat with, instead of a room: a user name, or in lines also a display name.",
      valueName: "user"))
  var to: String?

  @Flag(help: "Work in lines, even on a terminal.")
  var plain = false

  @Flag(help: "Print every message from the relay as JSON, one per line.")
  var json = false

  @Flag(help: "Work in lines, and print nothing but errors.")
  var quiet = false

  @Flag(
    help: "In lines: begin each with the entry's number, which replies, edits and reactions name.")
  var seq = false

  @Option(
    help: ArgumentHelp(
      "Work in lines, and send this file before the first line; may be given several times.",
      valueName: "file"), completion: .file())
  var attach: [String] = []

  @Option(help: ArgumentHelp("In lines: first print the last n entries.", valueName: "n"))
  var history = 0

  @Flag(help: "In lines: keep reading after the end of input.")
  var follow = false

  @Option(
    help: ArgumentHelp(
      "In lines: seconds to wait for the relay without any progress.", valueName: "s"))
  var timeout = 10.0

  @Option(
    help: ArgumentHelp(
      "With wss://, trust the authorities in this PEM file instead of the system's.",
      valueName: "file"), completion: .file())
  var ca: String?

  @Flag(help: "With wss://, do not verify the certificate.")
  var insecure = false

  @Option(
    help: ArgumentHelp(
      "The configuration (default: wschat/config.yaml in $XDG_CONFIG_HOME or ~/.config).",
      valueName: "file"), completion: .file(extensions: ["yaml"]))
  var config: String?

  mutating func validate() throws {
    if room != nil, to != nil { throw ValidationError("--room and --to cannot be combined") }
    if ca != nil, insecure { throw ValidationError("--ca and --insecure cannot be combined") }
    if token != nil, tokenCommand != nil {
      throw ValidationError("--token and --token-command cannot be combined")
    }
    if quiet, json || follow || history > 0 {
      throw ValidationError(
        "--quiet prints no entries: it cannot be combined with --json, --follow or --history")
    }
    _ = try place()
    if let user, !UserName.isValid(user) { throw ValidationError(Self.badUser(user)) }
    if history < 0 { throw ValidationError("--history cannot be negative") }
    guard timeout > 0, timeout <= 86_400 else {
      throw ValidationError("--timeout must be more than 0 and at most 86400 seconds")
    }
  }

  mutating func run() throws {
    let login = try login()
    let settings = try ConfigurationFile.read(named: config, profile: profile ?? login?.profile)
    // A profile was chosen for this run, unlike the environment.
    let relay = try Self.relay(
      url ?? (settings.isProfilesURL ? settings.url : nil) ?? Environment["WSCHAT_URL"]
        ?? settings.url ?? "ws://127.0.0.1:8080/ws")
    let source = (tokenCommand ?? (token == nil ? settings.tokenCommand : nil)).map(
      TokenCommand.init)
    var token = self.token
    if let source { token = try firstToken(of: source) }
    if let token, !TokenCommand.isToken(token) {
      throw ValidationError("the token has characters that are not allowed")
    }
    // The token of a login goes to its relay only.
    let session = token == nil && login?.url == relay ? login : nil
    token = token ?? session?.grant.token
    let user = try token == nil ? self.user ?? settings.user ?? defaultUser() : self.user
    let place = try place()
    if let user, place == .direct(user) {
      throw ValidationError("--to must name another user; you are \(user)")
    }
    let trust: TLSTrust =
      insecure ? .anyone : (ca ?? settings.ca).map { .authorities(file: $0) } ?? .system
    var configuration = Client.Configuration(url: relay, user: user, token: token, trust: trust)
    configuration.settings.renewsTokens = source != nil
    let capabilities = Capabilities { Environment[$0] }
    let isOnTerminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
    if !plain, !json, !quiet, attach.isEmpty, isOnTerminal, capabilities.isFullScreen {
      configuration.settings.renewsTokens = source != nil || session != nil
      throw try chatOnScreen(
        configuration, settings, capabilities, at: try Self.known(place), tokens: source,
        login: session)
    }
    let options = LineChat.Options(
      room: place ?? .named("general"), printsJSON: json, isQuiet: quiet, printsSequence: seq,
      historyCount: history,
      follows: follow, timeoutMilliseconds: Int(timeout * 1000), attachments: attach,
      hasLogin: session != nil)
    throw try LineChat(configuration, options, tokens: source).run()
  }

  static func relay(_ text: String) throws -> RelayURL {
    do throws(RelayURL.Invalid) {
      return try RelayURL(typed: text)
    } catch {
      throw ValidationError("\(error)")
    }
  }

  /// Returns the login that is meant: that of the profile, or of the relay, or the last one. Other
  /// credentials on the command line are used instead of any.
  private func login() throws -> Login? {
    guard user == nil, token == nil, tokenCommand == nil, let logins = Logins.own else {
      return nil
    }
    let names = profile.map { [$0] } ?? logins.profiles
    let relay = profile == nil ? try (url ?? Environment["WSCHAT_URL"]).map(Self.relay) : nil
    for name in names {
      let login = logins.usable(name, tell: complain)
      if let login, relay == nil || login.url == relay { return login }
    }
    return nil
  }

  private func place() throws -> LineChat.Place? {
    do throws(LineChat.Place.Invalid) {
      if let to { return try LineChat.Place(user: to) }
      return try room.map { text throws(LineChat.Place.Invalid) in try LineChat.Place(room: text) }
    } catch {
      throw ValidationError("\(error)")
    }
  }

  /// The screen opens a conversation before there is a connection, on which a display name could be
  /// looked up.
  private static func known(_ place: LineChat.Place?) throws -> LineChat.Place? {
    guard case .person(let name) = place else { return place }
    let user = name.lowercased()
    guard UserName.isValid(user) else {
      throw ValidationError("\(badUser(name)) On the screen, Ctrl+K finds display names.")
    }
    return .direct(user)
  }

  private func chatOnScreen(
    _ configuration: Client.Configuration, _ settings: Settings, _ capabilities: Capabilities,
    at place: LineChat.Place?, tokens: TokenCommand?, login: Login?
  ) throws -> ExitCode {
    var capabilities = capabilities
    switch settings.color {
    case .auto: break
    case .none: capabilities.depth = .none
    case .ansi: capabilities.depth = .colors16
    case .palette: capabilities.depth = .colors256
    case .rgb: capabilities.depth = .trueColor
    }
    switch settings.links {
    case .auto: break
    case .on: capabilities.hasLinks = true
    case .off: capabilities.hasLinks = false
    }
    guard let stateFolder = Environment.folder("XDG_STATE_HOME", inHome: ".local/state") else {
      throw ValidationError(
        "neither $XDG_STATE_HOME nor $HOME is set: no folder for the history")
    }
    let subject = configuration.token.flatMap(TokenSubject.init(token:))
    let user = login?.grant.user ?? subject?.user ?? configuration.user
    let options = ScreenChat.Options(
      settings: settings, room: place, stateFolder: stateFolder, user: user,
      displayName: subject?.name, capabilities: capabilities, login: login)
    return try ScreenChat(configuration, options, tokens: tokens).run()
  }

  private func firstToken(of source: TokenCommand) throws -> String {
    do throws(TokenCommand.Failure) {
      return try source.run(hasTerminal: true)
    } catch {
      write("wschat: \(error)\n", to: STDERR_FILENO)
      throw LineChat.accessDenied
    }
  }

  private func defaultUser() throws -> String {
    guard let name = Environment["USER"]?.lowercased() else {
      throw ValidationError("$USER is not set: give your name with --user")
    }
    guard UserName.isValid(name) else {
      throw ValidationError("\(Self.badUser(name)) It comes from $USER; give --user.")
    }
    return name
  }

  static func badUser(_ name: String) -> String {
    "\"\(name)\" is not a valid user name: use 1 to 64 of a-z 0-9 . _ -, not . or .."
  }

  // A message repeats the user's arguments, which may have been pasted.
  static func main() {
    let first = CommandLine.arguments.dropFirst().first
    let isSubcommand =
      first == "help" || subcommands.contains { $0.configuration.commandName == first }
    if isSubcommand {
      WithSubcommand.runAsMain { TerminalText.line($0) }
    } else {
      runAsMain { TerminalText.line($0) }
    }
  }
}

/// Environment variables.
enum Environment {
  static subscript(name: String) -> String? {
    // This process never changes its environment.
    unsafe getenv(name).map { unsafe String(cString: $0) }
  }

  /// Returns a folder of the XDG base directories; relative paths are ignored, as the specification
  /// demands.
  static func folder(_ name: String, inHome path: String) -> String? {
    if let folder = Self[name], folder.hasPrefix("/") { return folder }
    return Self["HOME"].map { "\($0)/\(path)" }
  }
}

/// Writes all of the text, unless the reader has closed.
func write(_ text: String, to descriptor: Int32) {
  var output = Output(descriptor: descriptor)
  output.append(text)
  _ = output.flush()
}
