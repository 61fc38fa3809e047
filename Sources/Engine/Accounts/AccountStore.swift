/// Why a request is not done. Nothing was changed.
public enum AccountError: Error, Equatable, Sendable {
  /// The request is refused.
  case refused(AccountProblem)
  /// The store cannot be used: what failed and why, for the operator.
  case unavailable(String)
}

/// Where accounts, sessions, invitations and codes are kept. Several processes may use the same one.
/// A store itself throws `unavailable` only. Used by one thread.
public protocol AccountStore: AnyObject {
  /// Runs `body` in a transaction that no other one overlaps, of any process; nothing is changed if it
  /// throws.
  func transaction<Result>(
    _ body: () throws(AccountError) -> Result
  ) throws(AccountError) -> Result

  // MARK: Accounts

  func account(_ user: String) throws(AccountError) -> Account?
  func account(_ binding: ProviderBinding) throws(AccountError) -> Account?
  /// Returns at most `limit` accounts whose users come after one, in order.
  func accounts(
    after user: String, limit: Int
  ) throws(AccountError) -> [Account]
  /// Returns the number of operators that are not disabled.
  func operatorCount() throws(AccountError) -> Int
  /// Adds or replaces an account.
  func put(_ account: Account) throws(AccountError)
  /// Removes an account, with the codes that it has confirmed and its token of a provider.
  func removeAccount(_ user: String) throws(AccountError)
  /// Removes what a log of the store still has of what was removed. To be called between transactions.
  func eraseLog() throws(AccountError)

  // MARK: Sessions

  func session(_ hash: SecretHash) throws(AccountError) -> DeviceSession?
  /// Returns the sessions of a user, the last used one first.
  func sessions(of user: String) throws(AccountError) -> [DeviceSession]
  func add(_ session: DeviceSession) throws(AccountError)
  /// Records the use of a session, and the address, if it is known.
  func use(_ id: String, at: Int64, from address: String?) throws(AccountError)
  func removeSession(_ id: String) throws(AccountError)
  /// Returns at most `limit` sessions that were not used since a time.
  func sessions(
    unusedSince time: Int64, limit: Int
  ) throws(AccountError) -> [DeviceSession]

  // MARK: Invitations

  func invitation(_ hash: SecretHash) throws(AccountError) -> Invitation?
  /// Returns the number of invitations of a user that can be opened.
  func openInvitationCount(of user: String, _ now: Int64) throws(AccountError) -> Int
  /// Removes those that cannot be opened any more, but for the newest.
  func trimInvitations(of user: String, to limit: Int, _ now: Int64) throws(AccountError)
  /// Returns the invitations of a user, the newest first.
  func invitations(by user: String) throws(AccountError) -> [Invitation]
  /// Adds or replaces an invitation.
  func put(_ invitation: Invitation) throws(AccountError)
  func removeInvitation(_ id: String) throws(AccountError)

  // MARK: Codes and attempts

  func deviceCode(_ hash: SecretHash) throws(AccountError) -> DeviceCode?
  func deviceCode(user hash: SecretHash) throws(AccountError) -> DeviceCode?
  func deviceCodeCount() throws(AccountError) -> Int
  /// Adds or replaces a code.
  func put(_ code: DeviceCode) throws(AccountError)
  func removeDeviceCode(_ hash: SecretHash) throws(AccountError)
  func attemptCount() throws(AccountError) -> Int
  func add(_ attempt: SignInAttempt) throws(AccountError)
  func removeOldestAttempt() throws(AccountError)
  /// Returns an attempt and removes it, so that it is used once.
  func takeAttempt(_ hash: SecretHash) throws(AccountError) -> SignInAttempt?

  /// Returns the token that a provider is to be asked with next, if it is due.
  func providerToken(dueAt now: Int64) throws(AccountError) -> ProviderToken?
  func providerToken(of user: String) throws(AccountError) -> ProviderToken?
  /// Adds or replaces the token of a user.
  func put(_ token: ProviderToken) throws(AccountError)
  func removeProviderToken(of user: String) throws(AccountError)
  /// Denies the codes that a user has confirmed.
  func denyCodes(allowedBy user: String) throws(AccountError)
  /// Takes back what lets people or devices in by a user's word: removes invitations, and denies codes.
  func withdrawPromises(of user: String) throws(AccountError)

  // MARK: Changes

  /// Records a change for all processes that use the store; see `AccountChange`.
  func record(
    _ change: AccountChange.Kind, of user: String, at: Int64
  ) throws(AccountError)
  /// Returns at most `limit` changes after one, in order.
  func changes(
    after number: Int64, limit: Int
  ) throws(AccountError) -> [AccountChange]
  /// Returns the number of the last change; 0 if there was none.
  func lastChange() throws(AccountError) -> Int64

  /// Removes codes and attempts that have expired, invitations that expired `keepMilliseconds` ago, and
  /// changes that are as old.
  func purge(now: Int64, keepMilliseconds: Int64) throws(AccountError)
}

/// A change that other processes have to follow: their caches, their connections and their list of people.
/// The numbers are without gaps in the order of the transactions, so that each process reads on from the
/// last one that it knows.
public struct AccountChange: Equatable, Sendable {
  public enum Kind: Equatable, Sendable {
    /// A session has ended.
    case ended(session: String)
    /// The account is new, or its name, its picture, its role or its state has changed.
    case account
  }

  public var number: Int64
  public var kind: Kind
  public var user: String

  public init(number: Int64, kind: Kind, user: String) {
    self.number = number
    self.kind = kind
    self.user = user
  }
}
