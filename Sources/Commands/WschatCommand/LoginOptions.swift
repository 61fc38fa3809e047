import ArgumentParser
import Client
import Glibc
import Messenger
import Platform
import TLS
import Terminal

/// The options of the commands that are about logins.
struct LoginOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The profile (default: the host of the relay, or that of the last login).",
      valueName: "name"),
    completion: .custom { words, _, _ in ConfigurationFile.profiles(typed: words) })
  var profile: String?

  @Option(
    help: ArgumentHelp(
      "Trust the authorities in this PEM file instead of the system's.", valueName: "file"),
    completion: .file())
  var ca: String?

  @Flag(help: "Do not verify the certificate.")
  var insecure = false

  @Option(
    help: ArgumentHelp(
      "The configuration (default: wschat/config.yaml in $XDG_CONFIG_HOME or ~/.config).",
      valueName: "file"), completion: .file(extensions: ["yaml"]))
  var config: String?

  mutating func validate() throws {
    if ca != nil, insecure { throw ValidationError("--ca and --insecure cannot be combined") }
    if let profile, !Settings.Profile.isName(profile) {
      throw ValidationError(
        "\"\(profile)\" is not a valid name of a profile: use 1 to "
          + "\(Settings.Profile.nameLimitBytes) of a-z A-Z 0-9 . _ -")
    }
  }

  /// The arguments that give another command the same options.
  var arguments: [String] {
    (ca.map { ["--ca", $0] } ?? []) + (insecure ? ["--insecure"] : [])
      + (config.map { ["--config", $0] } ?? [])
  }

  /// - Parameter file: Used if there is no option.
  func trust(_ file: String?) -> TLSTrust {
    insecure ? .anyone : (ca ?? file).map { .authorities(file: $0) } ?? .system
  }

  func logins() throws -> Logins {
    guard let logins = Logins.own else {
      throw ValidationError("neither $XDG_STATE_HOME nor $HOME is set: no folder for logins")
    }
    return logins
  }

  /// Returns the login of the profile, or the last one, and a request to its relay.
  func login(in logins: Logins) throws -> (login: Login, request: RelayRequest) {
    guard let name = profile ?? logins.profiles.first else {
      throw failure(
        LineChat.accessDenied, "you are not signed in anywhere: run wschat login URL")
    }
    let login: Login?
    do throws(SystemError) {
      login = try logins.login(of: name, warn: complain)
    } catch {
      throw failure(LineChat.refused, logins.unusable(name, error))
    }
    guard let login else {
      let known = logins.profiles
      throw failure(
        LineChat.accessDenied,
        "the profile \(name) has no login"
          + (known.isEmpty ? "" : "; these have one: \(known.joined(separator: ", "))"))
    }
    return (
      login,
      RelayRequest(url: login.url, trust: trust(login.ca), token: login.grant.token)
    )
  }
}

/// Writes a complaint, which may have text of the relay, to standard error.
func complain(_ text: String) {
  write("wschat: \(TerminalText.line(text))\n", to: STDERR_FILENO)
}

/// Complains, and returns the exit code to throw.
func failure(_ code: ExitCode, _ text: String) -> ExitCode {
  complain(text)
  return code
}
