internal import Wire

/// What operators ask for over HTTP.
extension AccountService {
  /// How many accounts an answer has.
  static let accountsLimit = 50

  func administer(
    _ request: AccountCall.Administration, _ call: AccountCall, _ now: Int64
  ) throws(AccountError) -> AccountAnswer {
    try store.transaction { () throws(AccountError) in
      guard try caller(call).isOperator else {
        throw .refused(.forbidden("Only operators of the relay may do that."))
      }
      switch request {
      case .list(let user): return try accounts(after: user)
      case .change(let user): return try change(user, call.content, now)
      case .endSessions(let user): return try endSessions(user, now)
      case .endSession(let session, let user): return try end(session, of: user, now)
      }
    }
  }

  private func accounts(after user: String) throws(AccountError) -> AccountAnswer {
    var rows: [JSONText] = []
    let page = try store.accounts(after: user, limit: Self.accountsLimit)
    for account in page { rows.append(try row(account)) }
    let next = page.count == Self.accountsLimit ? page.last : nil
    return AccountAnswer(
      status: 200,
      .json(
        JSONText.object([("accounts", .list(rows)), ("next", next.map { .text($0.user) })]).bytes))
  }

  private func change(
    _ user: String, _ content: [UInt8], _ now: Int64
  ) throws(AccountError) -> AccountAnswer {
    let fields = try Fields(content)
    let account: Account
    let verb: String
    switch (try fields.flag("disabled"), try fields.flag("operator")) {
    case (let isDisabled?, nil):
      account = try change(user, isDisabled: isDisabled, now)
      verb = isDisabled ? "disable" : "enable"
    case (nil, let isOperator?):
      account = try change(user, isOperator: isOperator, now)
      verb = isOperator ? "operator" : "no_operator"
    default:
      throw .refused(.bad("disabled", "Exactly one of \"disabled\" and \"operator\" is needed."))
    }
    var answer = AccountAnswer(status: 200, .json(try row(account).bytes))
    answer.act = AccountAnswer.Act(verb: verb, user: user)
    return answer
  }

  private func endSessions(_ user: String, _ now: Int64) throws(AccountError) -> AccountAnswer {
    guard try store.account(user) != nil else { throw .refused(.noAccount(user)) }
    let count = try removeSessions(of: user, now)
    var answer = AccountAnswer(
      status: 200, .json(JSONText.object([("ended", .number(Int64(count)))]).bytes))
    answer.act = AccountAnswer.Act(verb: "end_sessions", user: user)
    return answer
  }

  private func end(
    _ session: String, of user: String, _ now: Int64
  ) throws(AccountError) -> AccountAnswer {
    try signOut(session, of: user, now)
    var answer = AccountAnswer(status: 204, .nothing)
    answer.act = AccountAnswer.Act(verb: "end_session", user: user, session: session)
    return answer
  }

  private func row(_ account: Account) throws(AccountError) -> JSONText {
    .object([
      ("user", .text(account.user)), ("name", .text(account.name)),
      ("operator", account.isOperator ? .flag(true) : nil),
      ("disabled", account.isDisabled ? .flag(true) : nil),
      ("issuer", account.binding.map { .text($0.issuer) }),
      ("created_at", .number(account.createdAt)),
      ("sessions", .list(try store.sessions(of: account.user).map { row($0) })),
    ])
  }

  /// - Parameter isCurrent: whether it is the session of the one who asks.
  func row(_ session: DeviceSession, isCurrent: Bool = false) -> JSONText {
    .object([
      ("session", .text(session.id)), ("device", .text(session.device)),
      ("created_at", .number(session.createdAt)), ("used_at", .number(session.usedAt)),
      ("address", .text(session.address)), ("current", isCurrent ? .flag(true) : nil),
    ])
  }
}
