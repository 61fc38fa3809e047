package import Relay
import Synchronization
import WebSocket
package import Wire

/// Authenticates users, by a token, by the cookie of a device, or, in open mode, by the name that they
/// claim, and rejects banned ones. Shared by all loops, and used for both `/ws` and HTTP requests.
package final class Authenticator: Sendable {
  /// Returns the identity that a token proves, and what the token permits; `nil` if that takes longer
  /// than a lookup in memory (`LoopWorld.verify`).
  /// - Parameters:
  ///   - wall: the time, in milliseconds since 1970.
  ///   - host: where the token comes from, if that is known.
  package typealias Verification =
    @Sendable (_ token: String, _ wall: Int64, _ host: HostKey?) throws(WireError) -> Identity?

  /// The authentication of a request.
  package enum Answer: Equatable {
    case known(Identity)
    /// The request has no credentials. `/ws` waits for `auth`; over HTTP the answer is 401.
    case unknown
    /// The token has to be verified by `LoopWorld.verify`.
    case later(token: String)
    /// The request has a cookie, and a page of another origin may have made it: 403, also to a
    /// handshake.
    case crossOrigin
    /// `unauthorized` (over HTTP 401) or `forbidden` (403). The WebSocket handshake succeeds
    /// nevertheless, and the error follows as a message: a browser cannot read the HTTP status.
    case refused(WireError)

    var isKnown: Bool { if case .known = self { true } else { false } }
  }

  /// `nil` in open mode.
  private let verify: Verification?
  /// `nil` = the relay sets no cookies.
  let cookie: SessionCookie?
  private let botUsers: Set<String>
  private let banned: Mutex<Set<String>>
  private let operators: Mutex<Set<String>>
  /// The users that the log has banned, and when that ends, in milliseconds since 1970; `nil` = never.
  private let bans = Mutex<[String: Int64?]>([:])

  package init(
    verify: Verification?, cookie: SessionCookie? = nil, botUsers: Set<String>,
    banned: Set<String> = [], operators: Set<String> = []
  ) {
    self.verify = verify
    self.cookie = cookie
    self.botUsers = botUsers
    self.banned = Mutex(banned)
    self.operators = Mutex(operators)
  }

  package var takesTokens: Bool { verify != nil }

  /// Authenticates a request: by `Authorization: Bearer`, otherwise by the `token` of the query, by the
  /// cookie last, or in open mode by its `user`.
  /// - Parameter wall: the time, in milliseconds since 1970.
  func identify(_ request: HTTPRequest, wall: Int64, from host: HostKey? = nil) -> Answer {
    do throws(WireError) {
      guard let verify else { return try claimedIdentity(request, wall) }
      var token = try token(in: request)
      if token == nil, let cookie, let value = cookie.token(in: request) {
        guard cookie.mayBeUsed(by: request) else { return .crossOrigin }
        token = value
      }
      guard let token else { return .unknown }
      guard let identity = try verify(token, wall, host) else { return .later(token: token) }
      return .known(try allowed(identity, wall))
    } catch {
      return .refused(error)
    }
  }

  /// Returns the identity of a token that came in a message; `nil` as in `Verification`.
  func identify(token: String, wall: Int64) throws(WireError) -> Identity? {
    guard let verify else {
      throw WireError(
        .unauthorized, "This relay does not use tokens; connect with ?user=NAME.", re: .auth)
    }
    return try verify(token, wall, nil).map { identity throws(WireError) in
      try allowed(identity, wall)
    }
  }

  /// Returns what the verification of a token has found, or the reason to refuse its user.
  /// - Parameter wall: the time, in milliseconds since 1970.
  func allowed(
    _ result: Result<Identity, WireError>, wall: Int64
  ) -> Result<Identity, WireError> {
    Result { () throws(WireError) in try allowed(try result.get(), wall) }
  }

  /// Replaces the list of banned users. Call this before `Shard.ban`, which disconnects sessions,
  /// so that no user gets in between the two.
  package func ban(_ users: Set<String>) { banned.withLock { $0 = users } }

  /// Keeps users out, or lets them in again.
  package func apply(_ news: BanNews) {
    bans.withLock { bans in
      if news.isWhole { bans = [:] }
      for change in news.changes {
        bans[change.user] = change.isBanned ? .some(change.until) : nil
      }
    }
  }

  /// Whether a user is kept out.
  /// - Parameter wall: milliseconds since 1970.
  package func isBanned(_ user: String, wall: Int64) -> Bool {
    refusal(of: user, wall) != nil
  }

  /// Returns why a user is kept out; `nil` if they are not.
  private func refusal(of user: String, _ wall: Int64) -> WireError? {
    if banned.withLock({ $0.contains(user) }) { return .banned(user) }
    guard let until = bans.withLock({ $0[user] }), until.map({ $0 > wall }) ?? true else {
      return nil
    }
    return .banned(user, until: until)
  }

  /// Replaces the list of operators.
  package func setOperators(_ users: Set<String>) { operators.withLock { $0 = users } }

  /// Whether a user is an operator. In open mode no user is, because names are only claimed there.
  func isOperator(_ identity: Identity) -> Bool {
    verify != nil && (identity.isOperator || operators.withLock { $0.contains(identity.user) })
  }

  private func allowed(_ identity: Identity, _ wall: Int64) throws(WireError) -> Identity {
    if identity.user == UserName.relay { throw WireError.relaysName }
    if let refusal = refusal(of: identity.user, wall) { throw refusal }
    return identity
  }

  /// Other schemes are ignored: a proxy in between may use them.
  private func token(in request: HTTPRequest) throws(WireError) -> String? {
    let scheme = "bearer "
    let bearers = request.headers["Authorization"].filter {
      $0.prefix(scheme.utf8.count).lowercased() == scheme
    }
    guard let bearer = bearers.first else { return request.query("token") }
    guard bearers.count == 1 else {
      throw WireError(
        .unauthorized, "There must be at most one Authorization header with a bearer token.",
        re: .auth)
    }
    return String(bearer.dropFirst(scheme.utf8.count).drop { $0 == " " })
  }

  private func claimedIdentity(
    _ request: HTTPRequest, _ wall: Int64
  ) throws(WireError) -> Answer {
    if !request.headers["Authorization"].isEmpty || request.query("token") != nil {
      throw WireError(
        .unauthorized, "This relay does not use tokens; connect with ?user=NAME.", re: .auth)
    }
    guard let user = request.query("user") else { return .unknown }
    guard UserName.isValid(user) else {
      throw WireError(
        .unauthorized, "A user name must be 1 to 64 of a-z 0-9 . _ -, not . or ..", re: .auth)
    }
    guard !botUsers.contains(user) else {
      throw WireError(
        .unauthorized, "\(user) is a bot of this relay; choose another name.",
        re: .auth)
    }
    return .known(try allowed(Identity(user: user), wall))
  }
}
