import AccountStores
public import Accounts
import Platform
public import RelayConfiguration
import Wire

/// The accounts of a relay, for the commands of operators: they run beside the relay, which follows what they
/// change within a second, or without it. Confined to one thread.
public struct AccountAdministration {
  private let service: AccountService

  /// An account that cannot be changed, or a store that cannot be used: a sentence for the operator.
  public struct Failure: Error, CustomStringConvertible {
    public var description: String

    public init(description: String) { self.description = description }
  }

  /// Opens the accounts of the relay that a configuration describes.
  public init(_ configuration: Configuration) throws(Failure) {
    guard configuration.auth.mode == .accounts || configuration.hasAccounts else {
      throw Failure(
        description:
          "This relay has no accounts: auth.mode is \(configuration.auth.mode.rawValue), not"
          + " accounts. Name its configuration by --config.")
    }
    service = try Self.explaining { () throws(AccountError) in
      let service = try configuration.openAccounts(
        publicURL: configuration.publicURL(listeningOn: configuration.listen),
        ReservedNames(configuration))
      return service
    }
  }

  private static func explaining<Result>(
    _ body: () throws(AccountError) -> Result
  ) throws(Failure) -> Result {
    do throws(AccountError) { return try body() } catch {
      throw Failure(description: error.explanation)
    }
  }

  /// Returns the accounts with their devices, in the order of names.
  public func list() throws(Failure) -> [AccountService.Listed] {
    try Self.explaining { () throws(AccountError) in try service.list() }
  }

  /// Makes an invitation as an operator, and returns its link.
  public func invite(
    user: String?, name: String?, rooms: [String], uses: Int, seconds: Int, makesOperator: Bool
  ) throws(Failure) -> String {
    try Self.explaining { () throws(AccountError) in
      try service.invite(
        user: user, name: name, rooms: rooms, uses: uses, seconds: seconds,
        makesOperator: makesOperator, now: WallClock.milliseconds)
    }
  }

  public func setOperator(_ user: String, _ isOperator: Bool) throws(Failure) {
    try Self.explaining { () throws(AccountError) in
      try service.setOperator(user, isOperator, now: WallClock.milliseconds)
    }
  }

  public func setDisabled(_ user: String, _ isDisabled: Bool) throws(Failure) {
    try Self.explaining { () throws(AccountError) in
      try service.setDisabled(user, isDisabled, now: WallClock.milliseconds)
    }
  }

  /// Returns how many sessions there were.
  public func endSessions(of user: String) throws(Failure) -> Int {
    try Self.explaining { () throws(AccountError) in
      try service.endSessions(of: user, now: WallClock.milliseconds)
    }
  }

  /// Returns the sessions of a user, the last used one first.
  public func sessions(of user: String) throws(Failure) -> [DeviceSession] {
    guard let listed = try list().first(where: { $0.account.user == user }) else {
      throw Failure(description: "There is no account \(user).")
    }
    return listed.sessions
  }

  public func user(ofSession session: String) throws(Failure) -> String {
    for listed in try list() where listed.sessions.contains(where: { $0.id == session }) {
      return listed.account.user
    }
    throw Failure(
      description:
        "There is no session \(session); relay users --sessions USER lists those of a user.")
  }

  public func endSession(_ session: String, of user: String) throws(Failure) {
    try Self.explaining { () throws(AccountError) in
      try service.endSession(session, of: user, now: WallClock.milliseconds)
    }
  }
}
