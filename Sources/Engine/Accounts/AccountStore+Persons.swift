/// What operators do for a person who asks for it: the export and the erasure of their account.
extension AccountStore {
  /// Removes an account with its sessions, invitations, codes and token of a provider; the last operator stays.
  /// It can be repeated.
  /// - Returns: the numbers of sessions and invitations; `nil` if there is no such account.
  package func erase(
    _ user: String, now: Int64
  ) throws(AccountError) -> (sessions: Int, invitations: Int)? {
    let erased: (Int, Int)? = try transaction { () throws(AccountError) in
      guard let account = try account(user) else { return nil }
      if account.isOperator, !account.isDisabled, try operatorCount() == 1 {
        throw .refused(.lastOperator(user))
      }
      let sessions = try sessions(of: user)
      for session in sessions {
        try removeSession(session.id)
        try record(.ended(session: session.id), of: user, at: now)
      }
      let invitations = try invitations(by: user).count
      try removeAccount(user)
      try withdrawPromises(of: user)
      try record(.account, of: user, at: now)
      return (sessions.count, invitations)
    }
    try eraseLog()
    return erased
  }

  /// Returns the account of a user, their devices and invitations as lines of an export; without secrets.
  package func lines(of user: String) throws(AccountError) -> [[UInt8]] {
    guard let account = try account(user) else { return [] }
    func line(_ type: String, _ members: [(String, JSONText?)]) -> [UInt8] {
      JSONText.object([("type", .text(type)), ("user", .text(user))] + members).bytes
        + [UInt8(ascii: "\n")]
    }
    let sessions = try sessions(of: user).map { session in
      line(
        "session",
        [
          ("device", .text(session.device)), ("created_at", .number(session.createdAt)),
          ("used_at", .number(session.usedAt)), ("address", .text(session.address)),
        ])
    }
    let invitations = try invitations(by: user).map { invitation in
      line(
        "invitation",
        [
          ("for", invitation.user.map { .text($0) }), ("name", invitation.name.map { .text($0) }),
          ("rooms", .list(invitation.rooms.map { .text($0) })),
          ("created_at", .number(invitation.createdAt)),
          ("expires_at", .number(invitation.expiresAt)),
        ])
    }
    return [AccountLine(account).bytes] + sessions + invitations
  }
}
