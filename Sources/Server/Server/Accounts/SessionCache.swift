import Accounts
import Relay
import Synchronization
import Wire

/// The sessions of devices that were presented lately, so that a loop verifies a token without a query.
/// Shared by the loops; a look-up takes a lock. What changes is removed by the accounts' thread, before the
/// loops hear of it.
final class SessionCache: Sendable {
  /// Sessions in one generation. There are two: the older one is dropped when the younger is full, so that
  /// what is used stays. An entry takes about 200 bytes.
  private static let limit = 32_768

  private struct State {
    var young: [SecretHash: VerifiedSession] = [:]
    var old: [SecretHash: VerifiedSession] = [:]
  }

  private let state = Mutex(State())

  /// Returns a session; `nil` if it has to be looked up.
  /// - Parameter now: milliseconds since 1970.
  /// - Returns: also whether its use has to be recorded, which the next call then no longer says.
  func find(_ hash: SecretHash, now: Int64) -> (session: VerifiedSession, isUse: Bool)? {
    state.withLock { state in
      guard var session = state.young[hash] ?? state.old[hash] else { return nil }
      let isUse = now - session.usedAt >= AccountSettings.useMilliseconds
      if isUse { session.usedAt = now }
      if isUse || state.young[hash] == nil { Self.insert(session, hash, &state) }
      return (session, isUse)
    }
  }

  func insert(_ session: VerifiedSession, for hash: SecretHash) {
    state.withLock { Self.insert(session, hash, &$0) }
  }

  private static func insert(
    _ session: VerifiedSession, _ hash: SecretHash, _ state: inout State
  ) {
    if state.young.count >= limit {
      state.old = state.young
      state.young = [:]
    }
    state.young[hash] = session
  }

  /// Removes the sessions of a user.
  func remove(user: String) {
    state.withLock { state in
      state.young = state.young.filter { $0.value.account.user != user }
      state.old = state.old.filter { $0.value.account.user != user }
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
