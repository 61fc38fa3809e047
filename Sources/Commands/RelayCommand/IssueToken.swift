import ArgumentParser
import Glibc
import Platform
internal import RelayConfiguration
import Server

/// The subcommand `token`: prints a token that this relay accepts.
struct IssueToken: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "token",
    abstract: "Print a token (a JWT) for a user, signed with auth.secret or a secret of auth.keys.",
    discussion: """
      The bearer of the token is that user until it expires. The secret is read from the file \
      given by --config, or from RELAY_AUTH_SECRET. The token has the issuer and the audience that \
      the relay requires. In a glob * matches any characters and ? one; \
      without --join, or without --send, every room is allowed.
      """)

  @Option(parsing: .unconditional, help: ArgumentHelp("The user.", valueName: "u"))
  var user: String

  @Option(help: ArgumentHelp("Its lifetime: a number and s, m, h or d.", valueName: "time"))
  var ttl = Lifetime(seconds: 24 * 60 * 60)

  @Option(parsing: .unconditional, help: ArgumentHelp("The user's display name.", valueName: "n"))
  var name: String?

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Rooms that may be joined and read.", valueName: "glob"))
  var join: [String] = []

  @Option(
    parsing: .upToNextOption, help: ArgumentHelp("Rooms that may be sent to.", valueName: "glob"))
  var send: [String] = []

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The secret of auth.keys that signs the token.", valueName: "k"))
  var kid: String?

  @OptionGroup var options: ConfigurationOptions

  func run() throws {
    let configuration = try options.load()
    var claims = TokenIssuer.Claims(user: user, seconds: ttl.seconds)
    claims.name = name
    if !join.isEmpty { claims.join = join }
    if !send.isEmpty { claims.send = send }
    do throws(ServerError) {
      let token = try TokenIssuer(configuration, kid: kid).sign(claims, now: time(nil))
      if configuration.auth.mode == .open {
        StandardError.write("This relay does not use tokens yet: auth.mode is open, not jwt.\n")
      }
      StandardOutput.write("\(token)\n")
    } catch {
      StandardError.write("\(error)\n")
      throw ExitCode.configuration
    }
  }
}
