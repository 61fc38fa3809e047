import Accounts
import ArgumentParser
import Glibc
import Platform
internal import RelayConfiguration
import Server

/// The subcommand `users`: lists the accounts of a relay, and changes them.
struct Users: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List the accounts, disable or enable one, make operators, end sessions.",
    discussion: """
      For auth.mode: accounts. A relay that runs makes the changes, which are entries of the room \
      sys:audit; without it the command makes them. The last operator that is not disabled stays one.
      """)

  @OptionGroup var store: AccountOptions

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("End the sessions of a user, and let none in.", valueName: "u"))
  var disable: String?

  @Option(parsing: .unconditional, help: ArgumentHelp("Let a user in again.", valueName: "u"))
  var enable: String?

  @Option(parsing: .unconditional, help: ArgumentHelp("Make a user an operator.", valueName: "u"))
  var `operator`: String?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Make a user no operator any more.", valueName: "u")
  )
  var noOperator: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Sign a user out of all devices, and withdraw their invitations.", valueName: "u"))
  var endSessions: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "List the devices of a user, with the names of their sessions.", valueName: "u"))
  var sessions: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Sign a device out, by the name of its session.", valueName: "name"))
  var endSession: String?

  func validate() throws {
    let choices = [disable, enable, `operator`, noOperator, endSessions, sessions, endSession]
    guard choices.count(where: { $0 != nil }) <= 1 else {
      throw ValidationError("Only one of these at a time.")
    }
  }

  func run() throws {
    try store.use { accounts, relay in
      if let user = disable {
        if try !relay.change(user, "disabled", true) { try accounts.setDisabled(user, true) }
      } else if let user = enable {
        if try !relay.change(user, "disabled", false) { try accounts.setDisabled(user, false) }
      } else if let user = `operator` {
        if try !relay.change(user, "operator", true) { try accounts.setOperator(user, true) }
      } else if let user = noOperator {
        if try !relay.change(user, "operator", false) { try accounts.setOperator(user, false) }
      } else if let user = endSessions {
        let count = try relay.endSessions(of: user) ?? accounts.endSessions(of: user)
        StandardError.write("\(count) \(count == 1 ? "session" : "sessions") of \(user) ended.\n")
      } else if let session = endSession {
        let user = try accounts.user(ofSession: session)
        if try !relay.endSession(session, of: user) {
          try accounts.endSession(session, of: user)
        }
      } else if let user = sessions {
        for session in try accounts.sessions(of: user) {
          StandardOutput.write("\(Self.line(session))\n")
        }
      } else {
        for listed in try accounts.list() { StandardOutput.write("\(Self.line(listed))\n") }
      }
    }
  }

  /// `s3ssion1  Firefox on Linux  192.0.2.7  last used 2026-11-27 12:30 UTC`
  private static func line(_ session: DeviceSession) -> String {
    [session.id, session.device, session.address, "last used \(Ban.date(session.usedAt))"]
      .joined(separator: "\t")
  }

  /// `ada  Ada L  operator  2 devices, last used 2026-11-27 12:30 UTC`
  private static func line(_ listed: AccountService.Listed) -> String {
    let account = listed.account
    var parts = [account.user, account.name]
    if account.isOperator { parts.append("operator") }
    if account.isDisabled { parts.append("disabled") }
    if let issuer = account.binding?.issuer { parts.append("by \(issuer)") }
    let count = listed.sessions.count
    let last = listed.sessions.first.map { ", last used \(Ban.date($0.usedAt))" } ?? ""
    parts.append("\(count) \(count == 1 ? "device" : "devices")\(last)")
    return parts.joined(separator: "\t")
  }
}

/// The subcommand `invite`: prints an invitation.
struct Invite: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print a link by which a person can sign in.",
    discussion: """
      For auth.mode: accounts. May run beside the relay or without it. With --user the link is for that \
      name, also if users from before there were accounts have it; if there is such an account, the \
      link is for a further device of it.
      """)

  @OptionGroup var store: AccountOptions

  @Option(
    parsing: .unconditional, help: ArgumentHelp("The name that the link gives.", valueName: "u"))
  var user: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The display name that is proposed.", valueName: "n"))
  var name: String?

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Rooms that the new user becomes a member of.", valueName: "room"))
  var rooms: [String] = []

  @Option(help: ArgumentHelp("How often the link can be used.", valueName: "n"))
  var uses = 1

  @Option(help: ArgumentHelp("How long: a number and s, m, h or d.", valueName: "time"))
  var ttl = Lifetime(seconds: 7 * 86_400)

  @Flag(help: "Make the new user an operator.")
  var `operator` = false

  func run() throws {
    try store.use { accounts, _ in
      let link = try accounts.invite(
        user: user, name: name, rooms: rooms, uses: uses, seconds: ttl.seconds,
        makesOperator: `operator`)
      StandardOutput.write("\(link)\n")
    }
  }
}

/// `--data` and `--config`, of the commands on accounts.
struct AccountOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The relay's data folder (default: as in the configuration).", valueName: "dir"),
    completion: .directory)
  var data: String?

  @OptionGroup var options: ConfigurationOptions

  /// Runs `body` on the accounts, and the relay that may have them; prints its error and exits, if it fails.
  func use(_ body: (AccountAdministration, RelayAccounts) throws -> Void) throws {
    let configuration = try options.load(.init(data: data))
    do {
      try body(
        try AccountAdministration(configuration), RelayAccounts(folder: configuration.dataFolder))
    } catch let error as AccountAdministration.Failure {
      StandardError.write("\(error)\n")
      throw ExitCode.configuration
    }
  }
}
