package import Relay
import Synchronization
import WebSocket
package import Wire

/// Says who somebody is, and whether they may in: by a token or, in open mode, by their word. One for
/// all loops, and the same for `/ws` and for HTTP beside it.
package final class Authenticator: Sendable {
  /// Says whose a token is, and what it allows.
  /// - Parameter wall: the time, in milliseconds since 1970.
  package typealias Verification =
    @Sendable (_ token: String, _ wall: Int64) throws(WireError) -> Identity

  /// Who a request is from.
  package enum Answer: Equatable {
    case known(Identity)
    /// The request does not say. `/ws` waits for `auth`; over HTTP that is a 401.
    case unknown
    /// `unauthorized` (over HTTP 401), or `forbidden` (403). The WebSocket's handshake succeeds all
    /// the same, and the error follows: a browser cannot read an HTTP status.
    case refused(WireError)
  }

  /// `nil` in open mode.
  private let verify: Verification?
  private let botUsers: Set<String>
  private let banned: Mutex<Set<String>>
  private let operators: Mutex<Set<String>>

  package init(
    verify: Verification?, botUsers: Set<String>, banned: Set<String> = [],
    operators: Set<String> = []
  ) {
    self.verify = verify
    self.botUsers = botUsers
    self.banned = Mutex(banned)
    self.operators = Mutex(operators)
  }

  package var takesTokens: Bool { verify != nil }

  /// Who a request is from: by `Authorization: Bearer`, then by the query's `token`, or in open mode
  /// by its `user`.
  /// - Parameter wall: the time, in milliseconds since 1970.
  func identify(_ request: HTTPRequest, wall: Int64) -> Answer {
    do throws(WireError) {
      guard let verify else { return try believed(request) }
      guard let token = try token(in: request) else { return .unknown }
      return .known(try allowed(try verify(token, wall)))
    } catch {
      return .refused(error)
    }
  }

  /// Whose a token is, where it came in a message.
  func identify(token: String, wall: Int64) throws(WireError) -> Identity {
    guard let verify else {
      throw WireError(
        .unauthorized, "This relay takes no tokens: connect with ?user=NAME.", re: "auth")
    }
    return try allowed(try verify(token, wall))
  }

  /// Whom nobody gets in as any more. Who is in already is told by `Shard.ban`, after this: so that
  /// nobody slips through in between.
  package func ban(_ users: Set<String>) { banned.withLock { $0 = users } }

  /// Replaces the users who may read what is the operator's.
  package func setOperators(_ users: Set<String>) { operators.withLock { $0 = users } }

  /// Whether a user may read what is the operator's. A name that is only claimed is nobody's.
  func isOperator(_ identity: Identity) -> Bool {
    verify != nil && operators.withLock { $0.contains(identity.user) }
  }

  private func allowed(_ identity: Identity) throws(WireError) -> Identity {
    if banned.withLock({ $0.contains(identity.user) }) { throw Shard.banned(identity.user) }
    return identity
  }

  /// Of other schemes, which a proxy in between may want, nothing is known here.
  private func token(in request: HTTPRequest) throws(WireError) -> String? {
    let scheme = "bearer "
    let bearers = request.headers["Authorization"].filter {
      $0.prefix(scheme.utf8.count).lowercased() == scheme
    }
    guard let bearer = bearers.first else { return request.query("token") }
    guard bearers.count == 1 else {
      throw WireError(
        .unauthorized, "There are several Authorization headers; one is taken.",
        re: "auth")
    }
    return String(bearer.dropFirst(scheme.utf8.count).drop { $0 == " " })
  }

  private func believed(_ request: HTTPRequest) throws(WireError) -> Answer {
    if !request.headers["Authorization"].isEmpty || request.query("token") != nil {
      throw WireError(
        .unauthorized, "This relay takes no tokens: connect with ?user=NAME.", re: "auth")
    }
    guard let user = request.query("user") else { return .unknown }
    guard UserName.isValid(user) else {
      throw WireError(.unauthorized, "A user name is 1 to 64 of a-z 0-9 . _ -", re: "auth")
    }
    guard !botUsers.contains(user) else {
      throw WireError(
        .unauthorized, "\(user) is a bot of this relay; choose another name.",
        re: "auth")
    }
    return .known(try allowed(Identity(user: user)))
  }
}
