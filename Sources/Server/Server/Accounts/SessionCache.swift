import Accounts
import Relay
import Synchronization
import Wire

/// The sessions of devices that were presented lately, so that a loop verifies a token without a query.
/// Shared by the loops; a look-up takes a lock. What changes is removed by the accounts' thread, before the
/// loops hear of it.
final class SessionCache: Sendable {
  /// Sessions in one generation. There are two: the older one is dropped when the younger is full, so that
  /// what is used stays.
  private static let limit = 32_768

  private struct Generation {
    private(set) var sessions: [SecretHash: VerifiedSession] = [:]
    /// The hashes of each user's sessions.
    private var hashes: [String: [SecretHash]] = [:]

    mutating func insert(_ session: VerifiedSession, for hash: SecretHash) {
      if sessions.updateValue(session, forKey: hash) == nil {
        hashes[session.account.user, default: []].append(hash)
      }
    }

    mutating func remove(user: String) {
      for hash in hashes.removeValue(forKey: user) ?? [] { sessions[hash] = nil }
    }
  }

  private struct State {
    var young = Generation()
    var old = Generation()

    mutating func insert(_ session: VerifiedSession, for hash: SecretHash) {
      if young.sessions.count >= limit {
        old = young
        young = Generation()
      }
      young.insert(session, for: hash)
    }
  }

  private let state = Mutex(State())

  /// Returns a session; `nil` if it has to be looked up.
  /// - Parameter now: milliseconds since 1970.
  /// - Returns: also whether its use has to be recorded, which the next call then no longer says.
  func find(_ hash: SecretHash, now: Int64) -> (session: VerifiedSession, isUse: Bool)? {
    state.withLock { state in
      let young = state.young.sessions[hash]
      guard var session = young ?? state.old.sessions[hash] else { return nil }
      let isUse = now - session.usedAt >= AccountSettings.useMilliseconds
      if isUse { session.usedAt = now }
      if isUse || young == nil { state.insert(session, for: hash) }
      return (session, isUse)
    }
  }

  func insert(_ session: VerifiedSession, for hash: SecretHash) {
    state.withLock { $0.insert(session, for: hash) }
  }

  /// Removes the sessions of a user.
  func remove(user: String) {
    state.withLock { state in
      state.young.remove(user: user)
      state.old.remove(user: user)
    }
  }
}

extension VerifiedSession {
  /// Returns what the session permits.
  func identity() throws(WireError) -> Identity {
    guard !account.isDisabled else { throw .disabled(account.user) }
    var identity = Identity(user: account.user, name: account.name)
    identity.device = session
    identity.isOperator = account.isOperator
    identity.issuer = account.binding?.issuer ?? ""
    return identity
  }
}

extension WireError {
  static func disabled(_ user: String) -> WireError {
    WireError(.forbidden, "The account of \(user) is disabled; ask an operator of this relay.")
  }

  static let signedOut = WireError(
    .unauthorized, "This device is signed out; sign in again.", re: .auth)
}
