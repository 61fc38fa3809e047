internal import Wire

/// What operators do from a shell, beside a running relay or without one.
extension AccountService {
  /// An account with its devices.
  public struct Listed: Equatable, Sendable {
    public var account: Account
    /// The last used one first.
    public var sessions: [DeviceSession]
  }

  /// Returns the accounts with their devices, in the order of names.
  public func list() throws(AccountError) -> [Listed] {
    var accounts: [Listed] = []
    try forEachAccount { account throws(AccountError) in
      accounts.append(Listed(account: account, sessions: try store.sessions(of: account.user)))
    }
    return accounts
  }

  /// Makes an operator of an account, or none; the last operator stays one.
  public func setOperator(
    _ user: String, _ isOperator: Bool, now: Int64
  ) throws(AccountError) {
    try store.transaction { () throws(AccountError) in
      _ = try change(user, isOperator: isOperator, now)
    }
  }

  /// Disables an account, which ends its sessions and the user's invitations, or enables it; the last
  /// operator stays enabled.
  public func setDisabled(
    _ user: String, _ isDisabled: Bool, now: Int64
  ) throws(AccountError) {
    try store.transaction { () throws(AccountError) in
      _ = try change(user, isDisabled: isDisabled, now)
    }
  }

  /// Changes an account, within a transaction.
  /// - Parameters: what is `nil` stays as it is.
  func change(
    _ user: String, isOperator: Bool? = nil, isDisabled: Bool? = nil, _ now: Int64
  ) throws(AccountError) -> Account {
    guard var account = try store.account(user) else { throw .refused(.noAccount(user)) }
    let wasOperator = account.isOperator && !account.isDisabled
    account.isOperator = isOperator ?? account.isOperator
    account.isDisabled = isDisabled ?? account.isDisabled
    if wasOperator, !account.isOperator || account.isDisabled, try store.operatorCount() == 1 {
      throw .refused(.lastOperator(user))
    }
    // Otherwise a link that the user has made would let them in again, by another name.
    if account.isDisabled { try store.withdrawPromises(of: user) }
    try store.put(account)
    try store.record(.account, of: user, at: now)
    return account
  }

  /// Signs a device out.
  public func endSession(_ session: String, of user: String, now: Int64) throws(AccountError) {
    try store.transaction { () throws(AccountError) in try signOut(session, of: user, now) }
  }

  /// Signs a device out, within a transaction.
  func signOut(_ session: String, of user: String, _ now: Int64) throws(AccountError) {
    guard try store.sessions(of: user).contains(where: { $0.id == session }) else {
      throw .refused(AccountProblem(404, .noSuchEntry, "\(user) has no session \(session)."))
    }
    try end(session, of: user, now)
    // A code that the lost device has confirmed would be its way back.
    try store.denyCodes(allowedBy: user)
  }

  /// Ends all sessions of a user, and their invitations.
  /// - Returns: how many there were.
  public func endSessions(of user: String, now: Int64) throws(AccountError) -> Int {
    try store.transaction { () throws(AccountError) in
      guard try store.account(user) != nil else { throw .refused(.noAccount(user)) }
      return try removeSessions(of: user, now)
    }
  }
}

extension AccountProblem {
  static func noAccount(_ user: String) -> Self {
    Self(404, .noSuchEntry, "There is no account \(user).")
  }

  static func lastOperator(_ user: String) -> Self {
    .forbidden("\(user) is the last operator. Make another account an operator first.")
  }
}
