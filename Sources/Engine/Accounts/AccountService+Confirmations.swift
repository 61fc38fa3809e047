/// Asking providers whether the people who have signed in there may still do so. Who may not is signed out
/// within a day; a provider that gives no answer signs no one out for three days.
extension AccountService {
  /// A question to a provider.
  public struct PendingConfirmation: Sendable {
    public let exchange: any ProviderExchange
    let token: ProviderToken
  }

  /// Returns the next question that is due, which no other process that uses the store then asks; `nil` if
  /// there is none.
  public func nextConfirmation(now: Int64) throws(AccountError) -> PendingConfirmation? {
    guard !settings.providers.isEmpty, try store.providerToken(dueAt: now) != nil else {
      return nil
    }
    return try store.transaction { () throws(AccountError) in
      for _ in 0..<Self.skippedLimit {
        guard var token = try store.providerToken(dueAt: now) else { return nil }
        if try store.sessions(of: token.user).isEmpty {
          // The next sign-in brings another token.
          try store.removeProviderToken(of: token.user)
          continue
        }
        // What was not asked, while the relay was off, was not refused either.
        if now - token.askAt > AccountSettings.confirmMilliseconds { token.failingSince = nil }
        token.askAt = now + AccountSettings.confirmMilliseconds
        try store.put(token)
        if let provider = try provider(of: token) {
          return PendingConfirmation(exchange: provider.confirm(token.token), token: token)
        }
      }
      return nil
    }
  }

  /// How many tokens that need no question are passed over at once.
  private static var skippedLimit: Int { 100 }

  /// Takes the answer to a question.
  /// - Returns: whose sessions have ended and why, as a sentence for the operator.
  public func complete(
    _ pending: PendingConfirmation, _ outcome: Result<ProviderOutcome, SignInFailure>, now: Int64
  ) throws(AccountError) -> String? {
    try store.transaction { () throws(AccountError) in
      // The person may have signed in again meanwhile.
      guard var token = try store.providerToken(of: pending.token.user),
        token.token == pending.token.token
      else { return nil }
      let reason: String
      switch outcome {
      case .success(.gone(let why)): reason = why
      case .success:
        token.failingSince = nil
        try store.put(token)
        return nil
      case .failure:
        let since = token.failingSince ?? now
        guard now - since >= AccountSettings.unconfirmedMilliseconds else {
          token.failingSince = since
          token.askAt = now + AccountSettings.confirmAgainMilliseconds
          try store.put(token)
          return nil
        }
        reason = "their provider has not confirmed for three days that they may sign in"
      }
      try store.removeProviderToken(of: token.user)
      let count = try removeSessions(of: token.user, now)
      return "\(token.user) is signed out (sessions: \(count)): \(reason)"
    }
  }

  /// Returns the configured provider that has given a token.
  private func provider(
    of token: ProviderToken
  ) throws(AccountError) -> (any SignInProvider)? {
    let issuer = try store.account(token.user)?.binding?.issuer
    return settings.providers.first { $0.issuer == issuer && $0.clientID == token.clientID }
  }
}
