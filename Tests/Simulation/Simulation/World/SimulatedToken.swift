internal import Relay
internal import Synchronization
internal import Wire

/// The token of a connection, if the relay requires one. It has no signature, since no simulated
/// client forges a token.
struct SimulatedToken {
  let user: String
  /// Milliseconds since 1970; `nil` = never.
  var expires: Int64?

  init(user: String, expires: Int64? = nil) {
    self.user = user
    self.expires = expires
  }

  init?(_ text: String) {
    let parts = text.split(separator: "~", omittingEmptySubsequences: false)
    guard parts.count == 2, UserName.isValid(String(parts[0])) else { return nil }
    user = String(parts[0])
    if !parts[1].isEmpty {
      guard let expires = Int64(parts[1]) else { return nil }
      self.expires = expires
    }
  }

  var text: String { "\(user)~\(expires.map { "\($0)" } ?? "")" }

  /// The time at which it becomes invalid.
  var end: Int64 { expires.map { $0 + Identity.clockSkewMilliseconds } ?? .max }

  /// Verifies a token like a relay.
  static func verify(_ text: String, wall: Int64) throws(WireError) -> Identity {
    guard let token = SimulatedToken(text) else {
      throw WireError(.unauthorized, "The token is invalid.", re: .auth)
    }
    guard token.end > wall else {
      throw WireError(.tokenExpired, "The token has expired.", re: .auth)
    }
    return Identity(user: token.user, expires: token.expires)
  }
}

/// The tokens that a relay has verified lately: others take a while.
final class KnownTokens: Sendable {
  private let tokens = Mutex<Set<String>>([])

  func contains(_ token: String) -> Bool { tokens.withLock { $0.contains(token) } }
  func insert(_ token: String) { tokens.withLock { _ = $0.insert(token) } }
  func forget() { tokens.withLock { $0 = [] } }
}
