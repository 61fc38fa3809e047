internal import Wire

/// Decides what happens with each request about accounts, devices and invitations. Reads no clock and
/// no random source, and knows neither network nor files. Confined to one thread.
///
/// A secret leaves it once, in the answer to the request that made it; only its hash is stored.
public final class AccountService {
  public let settings: AccountSettings
  let environment: AccountEnvironment
  let store: any AccountStore
  var signIns: MinuteCounts
  /// Wrong codes of devices, by account and by address.
  var wrongCodes = MinuteCounts(limit: AccountSettings.wrongCodesPerMinute)
  /// Changes of names, by account: each is told to all who are connected.
  var renames = MinuteCounts(limit: AccountSettings.renamesPerMinute)

  public init(
    _ settings: AccountSettings, _ environment: AccountEnvironment, store: any AccountStore
  ) {
    self.settings = settings
    self.environment = environment
    self.store = store
    signIns = MinuteCounts(limit: settings.signInsPerMinute)
  }

  /// Answers a request.
  /// - Parameter now: milliseconds since 1970.
  /// - Throws: `unavailable`.
  public func answer(
    _ call: AccountCall, now: Int64
  ) throws(AccountError) -> AccountAnswer {
    do throws(AccountError) {
      switch call.request {
      case .invite: return try invite(call, now)
      case .invitations: return try invitations(call, now)
      case .removeInvitation(let id): return try removeInvitation(id, call, now)
      case .showInvitation(let code): return try showInvitation(code, call, now)
      case .openInvitation(let code): return try openInvitation(code, call, now)
      case .startDevice: return try startDevice(call, now)
      case .pollDevice: return try pollDevice(call, now)
      case .showDevice(let code): return try showDevice(code, call, now)
      case .decideDevice(let code): return try decideDevice(code, call, now)
      case .sessions: return try sessions(call)
      case .endSession(let id): return try endSession(id, call, now)
      case .profile: return try profile(call)
      case .rename: return try rename(call, now)
      case .administer(let request): return try administer(request, call, now)
      case .beginSignIn, .finishSignIn:
        preconditionFailure("methods of these names are called for it")
      }
    } catch {
      guard case .refused(let problem) = error else { throw error }
      return .problem(problem)
    }
  }

  /// Returns the session of a token; `nil` if there is none.
  public func verify(_ token: String, now: Int64) throws(AccountError) -> VerifiedSession? {
    guard let session = try store.session(hash(token)), !hasExpired(session, now),
      let account = try store.account(session.user)
    else { return nil }
    return VerifiedSession(
      session: session.id, account: account, usedAt: session.usedAt)
  }

  /// Records that sessions are used.
  /// - Parameter uses: each with the address, if it is known.
  public func recordUses(
    _ uses: [(session: String, address: String?)], now: Int64
  ) throws(AccountError) {
    try store.transaction { () throws(AccountError) in
      for (session, address) in uses { try store.use(session, at: now, from: address) }
    }
  }

  // What a process that follows the store reads.

  public func account(_ user: String) throws(AccountError) -> Account? { try store.account(user) }

  /// Calls `body` for each account, in the order of names.
  public func forEachAccount(_ body: (Account) throws(AccountError) -> Void) throws(AccountError) {
    var last = ""
    while true {
      let page = try store.accounts(after: last, limit: 500)
      for account in page { try body(account) }
      guard let end = page.last else { return }
      last = end.user
    }
  }

  public func lastChange() throws(AccountError) -> Int64 { try store.lastChange() }

  public func changes(after number: Int64, limit: Int) throws(AccountError) -> [AccountChange] {
    try store.changes(after: number, limit: limit)
  }

  /// Makes the link for the first operator, and ends the earlier one; `nil` if there is an account.
  public func makeFirstLink(now: Int64) throws(AccountError) -> String? {
    let code = SecretForm.token(environment.random(SecretForm.invitationBytes))
    let id = "first"
    let hash = hash(code)
    let isFirst = try store.transaction { () throws(AccountError) in
      guard try store.accounts(after: "", limit: 1).isEmpty else { return false }
      try store.removeInvitation(id)
      try store.put(
        Invitation(
          id: id, hash: hash, by: "", isByOperator: false, makesOperator: true, createdAt: now,
          expiresAt: now + AccountSettings.invitationSeconds * 1000))
      return true
    }
    return isFirst ? link(code) : nil
  }

  /// Ends sessions that were not used for `sessionDays`, and removes what has expired. To be called
  /// regularly; does at most a slice of the work.
  public func tidy(now: Int64) throws(AccountError) {
    try store.transaction { () throws(AccountError) in
      if settings.sessionDays > 0 {
        let unused = try store.sessions(unusedSince: now - sessionMilliseconds, limit: 512)
        for session in unused { try end(session.id, of: session.user, now) }
      }
      try store.purge(now: now, keepMilliseconds: AccountSettings.keepMilliseconds)
    }
  }

  // MARK: - Parts

  private var sessionMilliseconds: Int64 { Int64(settings.sessionDays) * 86_400_000 }

  private func hasExpired(_ session: DeviceSession, _ now: Int64) -> Bool {
    settings.sessionDays > 0 && now - session.usedAt > sessionMilliseconds
  }

  func hash(_ secret: String) -> SecretHash { environment.hash(Array(secret.utf8)) }

  func link(_ code: String) -> String { "\(settings.publicURL)/join/\(code)" }

  /// Counts an attempt to sign in, of which an address has a limited number per minute.
  func countSignIn(_ call: AccountCall, _ now: Int64) throws(AccountError) {
    if let wait = signIns.take(call.address, now: now) {
      throw .refused(.tooMany("attempts to sign in from your address", wait: wait))
    }
  }

  /// Signs a device in.
  /// - Returns: the session, and its token, which is not stored.
  func addSession(
    of user: String, device: String, from address: String, _ now: Int64
  ) throws(AccountError) -> (session: DeviceSession, token: String) {
    let devices = try store.sessions(of: user)
    for old in devices.dropFirst(AccountSettings.devicesLimit - 1) {
      try end(old.id, of: user, now)
    }
    let token = SecretForm.token(environment.random(SecretForm.tokenBytes))
    let session = DeviceSession(
      id: SecretForm.name(environment.random(SecretForm.nameBytes)), hash: hash(token), user: user,
      device: device, createdAt: now, usedAt: now, address: address)
    try store.add(session)
    return (session, token)
  }

  /// Ends all sessions of a user, and what would let the ended devices in again.
  /// - Returns: how many there were.
  func removeSessions(of user: String, _ now: Int64) throws(AccountError) -> Int {
    try store.withdrawPromises(of: user)
    let sessions = try store.sessions(of: user)
    for session in sessions { try end(session.id, of: user, now) }
    return sessions.count
  }

  /// Ends a session, for all processes that use the store.
  func end(_ session: String, of user: String, _ now: Int64) throws(AccountError) {
    try store.removeSession(session)
    try store.record(.ended(session: session), of: user, at: now)
  }

  func qrCode(_ text: String) -> JSONText? {
    let rows = environment.qrCode(text)
    return rows.isEmpty ? nil : .list(rows.map { .text($0) })
  }
}

/// A session whose token was presented.
public struct VerifiedSession: Equatable, Sendable {
  public var session: String
  public var account: Account
  /// When the use of the session was last recorded, in milliseconds since 1970.
  public var usedAt: Int64

  public init(session: String, account: Account, usedAt: Int64) {
    self.session = session
    self.account = account
    self.usedAt = usedAt
  }
}

extension AccountProblem {
  static let noMethod = Self(404, .unknownType, "This relay has no such way to sign in.")
}
