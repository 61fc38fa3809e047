import ArgumentParser
import Client
import Glibc
import Messenger
import Platform
import Terminal

/// The command `wschat login`.
struct LoginCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "login",
    abstract: "Sign this device in to a relay with accounts.",
    discussion: """
      Prints a code and a link, waits until you have allowed it in a browser, stores the login in a \
      file that only you can read, and starts the screen if it runs on a terminal. Then wschat \
      without a URL uses the last login.
      """)

  @Argument(help: "The relay, as of wschat; by default that of the profile, or of the last login.")
  var url: String?

  @OptionGroup var options: LoginOptions

  mutating func run() throws {
    let logins = try options.logins()
    let settings = try ConfigurationFile.read(named: options.config, profile: nil)
    let known = settings.profiles.first { $0.name == options.profile }?.settings
    let last = (options.profile ?? logins.profiles.first).flatMap {
      logins.usable($0, tell: complain)
    }
    let text =
      url ?? (known?.isProfilesURL == true ? known?.url : nil) ?? last.map { "\($0.url)" }
      ?? Environment["WSCHAT_URL"] ?? settings.url
    guard let text else { throw ValidationError("give the URL of the relay") }
    let relay = try Wschat.relay(text)
    guard relay.isEncrypted || relay.isLoopback else {
      throw ValidationError(
        "\(relay) is not encrypted, and others could read the token on the way: use https://")
    }
    let name = options.profile ?? Self.profile(for: relay)
    try refuse(name, relay, logins, settings)
    let ca = (options.ca ?? (known ?? settings).ca).map(Self.absolute)
    let grant = try signIn(relay, logins, ca: ca)
    let login = Login(profile: name, url: relay, grant: grant, ca: ca)
    try keep(login, in: logins)
    write("Signed in as \(grant.user). The profile is \(name).\n", to: STDOUT_FILENO)
    let isOnTerminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
    guard isOnTerminal, Capabilities(environment: { Environment[$0] }).isFullScreen else { return }
    var chat = try Wschat.parse(["--profile", name] + options.arguments)
    try chat.run()
  }

  /// Refuses a profile that is another account's, or whose login would not be used.
  private func refuse(
    _ name: String, _ relay: RelayURL, _ logins: Logins, _ settings: Settings
  ) throws {
    let advice = "choose another with --profile NAME"
    if let other = logins.usable(name, tell: complain), other.url != relay {
      throw ValidationError("the profile \(name) is a login at \(other.url): \(advice)")
    }
    guard let profile = settings.profiles.first(where: { $0.name == name })?.settings else {
      return
    }
    if profile.tokenCommand != nil {
      throw ValidationError("the profile \(name) has a token_command, which is used: \(advice)")
    }
    if profile.isProfilesURL, let url = profile.url, try Wschat.relay(url) != relay {
      throw ValidationError("the profile \(name) is for \(url): \(advice)")
    }
  }

  /// Returns the name of a profile for a relay: its host, in the characters that are allowed.
  static func profile(for relay: RelayURL) -> String {
    let name = relay.host.lowercased().map { Settings.Profile.isName(String($0)) ? $0 : "-" }
    return String(name.prefix(Settings.Profile.nameLimitBytes))
  }

  /// The login is used from other folders.
  private static func absolute(_ path: String) -> String {
    guard !path.hasPrefix("/"), let folder = unsafe getcwd(nil, 0) else { return path }
    defer { unsafe free(folder) }
    return "\(unsafe String(cString: folder))/\(path)"
  }

  private func signIn(_ relay: RelayURL, _ logins: Logins, ca: String?) throws -> DeviceGrant {
    let outcome: DeviceLogin.Outcome?
    do throws(SystemError) {
      // Before there is a session that could not be stored.
      try logins.createFolder()
      outcome = try SignIn(relay, options.trust(ca)).run()
    } catch {
      throw failure(LineChat.refused, "you cannot sign in: \(error)")
    }
    guard let outcome else { throw failure(LineChat.refused, "you are not signed in") }
    if case .signedIn(let grant) = outcome { return grant }
    throw failure(
      Self.code(of: outcome), "\(outcome.explanation(relay)) You are not signed in.")
  }

  private static func code(of outcome: DeviceLogin.Outcome) -> ExitCode {
    switch outcome {
    case .signedIn: .success
    case .expired, .denied: LineChat.accessDenied
    case .unreachable: LineChat.noConnection
    case .notOffered, .failed: LineChat.refused
    }
  }

  /// Stores the login, and ends the session that it replaces.
  private func keep(_ login: Login, in logins: Logins) throws {
    let old = logins.usable(login.profile, tell: complain)
    let request = RelayRequest(
      url: login.url, trust: options.trust(login.ca), token: login.grant.token)
    do {
      try logins.keep(login)
    } catch {
      complain("the login cannot be stored: \(error)")
      if end(request, of: "the new login") { complain("it was ended") }
      throw LineChat.refused
    }
    guard let old, old.grant.token != login.grant.token else { return }
    var oldRequest = request
    oldRequest.token = old.grant.token
    _ = end(oldRequest, of: "the login before")
  }

  /// Ends a session; says how the user can, if that fails.
  /// - Returns: Whether it has ended.
  private func end(_ request: RelayRequest, of login: String) -> Bool {
    attempt(
      complain,
      {
        "the session of \(login) may go on: \($0); end it with wschat sessions, or on the page of the relay"
      },
      { () throws(Sessions.Failure) -> Void in
        do throws(Sessions.Failure) {
          try Sessions.end("current", request)
        } catch .signedOut {
          // It had ended.
        }
      }) != nil
  }
}

extension DeviceLogin.Outcome {
  /// Why there is no session, as sentences; may have text of the relay.
  func explanation(_ relay: RelayURL) -> String {
    switch self {
    case .signedIn(let grant): "Signed in as \(grant.user)."
    case .expired: "The code has expired."
    case .denied: "The code was refused on the other device."
    case .notOffered(.open):
      "\(relay.authority) needs no login: start wschat \(relay) --user NAME."
    case .notOffered(.jwt):
      "\(relay.authority) has no login, and takes tokens of another service: start wschat "
        + "\(relay) --token-command COMMAND."
    case .unreachable(let reason): "\(relay.authority) cannot be asked: \(reason)."
    case .failed(let reason): "\(relay.authority) gives no code: \(reason)."
    }
  }
}
