import ArgumentParser
import Platform
import Relay
internal import RelayConfiguration
import Server
internal import Wire

/// The subcommand `ban`: keeps a user out of the relay.
struct Ban: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Keep a user out of the relay, or list the users that are.",
    discussion: """
      The running relay ends the user's connections at once, on every node, and stores the ban: it \
      needs no reload, and survives restarts. It is an entry of the room sys:audit. Without a user, \
      prints the bans. The list auth.banned in the configuration counts as well.
      """)

  @Argument(help: "The user; none = list the bans.")
  var user: String?

  @Option(
    help: ArgumentHelp(
      "How long: a number and s, m, h or d (default: for good).", valueName: "time"))
  var until: Lifetime?

  @OptionGroup var relay: RunningRelay

  func run() throws {
    let configuration = try relay.load()
    guard let user else {
      let bans = try StoreOptions.explaining { try StorePlace(configuration).bans() }
      for ban in bans {
        let end = ban.until.map { "until \(Self.date($0))" } ?? "for good"
        StandardOutput.write("\(ban.user)\t\(end)\n")
      }
      return
    }
    let end = until.map { WallClock.milliseconds + Int64($0.seconds) * 1000 }
    try relay.perform(
      .ban(user: user, on: true, until: end), configuration,
      otherwise: ", or list the user in auth.banned")
  }

  static func date(_ milliseconds: Int64) -> String {
    UTC.text(milliseconds, "%Y-%m-%d %H:%M UTC")
  }
}

/// The subcommand `unban`: lets a user in again.
struct Unban: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Let a user in again that relay ban has kept out.")

  @Argument(help: "The user.")
  var user: String

  @OptionGroup var relay: RunningRelay

  func run() throws {
    try relay.perform(.ban(user: user, on: false, until: nil), try relay.load())
  }
}

/// `--data` and `--config`, of the commands that the running relay carries out.
struct RunningRelay: ParsableArguments {
  @Option(
    help: ArgumentHelp("The relay's data folder.", valueName: "dir"), completion: .directory)
  var data: String?

  @OptionGroup var options: ConfigurationOptions

  func load() throws -> Configuration { try options.load(.init(data: data)) }

  /// Lets the relay carry out a request; prints why it refuses, and exits, if it does.
  /// - Parameter otherwise: what helps where no relay runs, besides starting one: `, or …`.
  func perform(
    _ message: ClientMessage, _ configuration: Configuration, otherwise: String = ""
  ) throws {
    do throws(OperatorRequest.Failure) {
      try OperatorRequest.perform(
        [message], socketIn: configuration.dataFolder, otherwise: otherwise)
    } catch {
      StandardError.write("\(error)\n")
      throw ExitCode.configuration
    }
  }
}
