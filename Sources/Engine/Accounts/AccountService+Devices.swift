internal import Wire

/// Devices: those that ask to be let in by a code (RFC 8628), and those that are signed in.
extension AccountService {
  // MARK: - Codes

  func startDevice(
    _ call: AccountCall, _ now: Int64
  ) throws(AccountError) -> AccountAnswer {
    try countSignIn(call, now)
    let device =
      try Fields(call.content).name("device", bytes: AccountSettings.deviceBytes)
      ?? Self.unnamedDevice
    let code = SecretForm.token(environment.random(SecretForm.tokenBytes))
    let userCode = SecretForm.userCode(environment.random)
    let waiting = DeviceCode(
      hash: hash(code), userHash: hash(userCode), device: device, address: call.address,
      intervalSeconds: AccountSettings.deviceIntervalSeconds, polledAt: 0,
      expiresAt: now + AccountSettings.deviceCodeSeconds * 1000)
    try store.transaction { () throws(AccountError) in
      guard try store.deviceCodeCount() < AccountSettings.deviceCodesLimit,
        try store.deviceCode(user: waiting.userHash) == nil
      else { throw .refused(.tooMany("devices that wait for a confirmation", wait: 60_000)) }
      try store.put(waiting)
    }
    let uri = "\(settings.publicURL)/sign-in/device"
    let complete = "\(uri)?code=\(userCode)"
    return AccountAnswer(
      status: 200,
      .json(
        JSONText.object([
          ("device_code", .text(code)), ("user_code", .text(userCode)),
          ("verification_uri", .text(uri)), ("verification_uri_complete", .text(complete)),
          ("interval", .number(Int64(waiting.intervalSeconds))),
          ("expires_in", .number(AccountSettings.deviceCodeSeconds)), ("qr", qrCode(complete)),
        ]).bytes))
  }

  /// The errors of RFC 8628 §3.5.
  private enum PollError: String {
    case authorizationPending = "authorization_pending"
    case slowDown = "slow_down"
    case expiredToken = "expired_token"
    case accessDenied = "access_denied"

    var description: String {
      switch self {
      case .authorizationPending: "The code is not confirmed yet; ask again after the interval."
      case .slowDown: "Asked too early; the interval is 5 seconds longer from now on."
      case .expiredToken: "The code is unknown, used or expired; ask for a new one."
      case .accessDenied: "The device was refused."
      }
    }
  }

  private func answer(_ error: PollError) -> AccountAnswer {
    AccountAnswer(
      status: 400,
      .json(
        JSONText.object([
          ("error", .text(error.rawValue)), ("error_description", .text(error.description)),
        ]).bytes))
  }

  func pollDevice(
    _ call: AccountCall, _ now: Int64
  ) throws(AccountError) -> AccountAnswer {
    guard let code = Fields.deviceCode(call.content) else {
      throw .refused(.bad("device_code", "\"device_code\" is missing."))
    }
    let hash = hash(code)
    return try store.transaction { () throws(AccountError) in
      guard var waiting = try store.deviceCode(hash), now < waiting.expiresAt else {
        return answer(.expiredToken)
      }
      switch waiting.decision {
      case .denied:
        try store.removeDeviceCode(hash)
        return answer(.accessDenied)
      case .pending:
        // A second for the network between two polls.
        let isEarly = now - waiting.polledAt < Int64(waiting.intervalSeconds) * 1000 - 1000
        if isEarly { waiting.intervalSeconds += AccountSettings.deviceIntervalSeconds }
        waiting.polledAt = now
        try store.put(waiting)
        return answer(isEarly ? .slowDown : .authorizationPending)
      case .allowed(let user):
        try store.removeDeviceCode(hash)
        guard let account = try store.account(user), !account.isDisabled else {
          return answer(.accessDenied)
        }
        let (session, token) = try addSession(
          of: user, device: waiting.device, from: call.address, now)
        // The token has a second name, which libraries for OAuth look for (RFC 6749 §5.1).
        return AccountAnswer(
          status: 200,
          .json(
            JSONText.object([
              ("token", .text(token)), ("user", .text(user)), ("session", .text(session.id)),
              ("access_token", .text(token)), ("token_type", .text("Bearer")),
            ]).bytes), cookie: .session(token))
      }
    }
  }

  func showDevice(
    _ code: String, _ call: AccountCall, _ now: Int64
  ) throws(AccountError) -> AccountAnswer {
    let waiting = try waitingDevice(code, call, now)
    return AccountAnswer(
      status: 200,
      .json(
        JSONText.object([
          ("device", .text(waiting.device)), ("address", .text(waiting.address)),
          ("expires_at", .number(waiting.expiresAt)),
        ]).bytes))
  }

  func decideDevice(
    _ code: String, _ call: AccountCall, _ now: Int64
  ) throws(AccountError) -> AccountAnswer {
    guard let allow = try Fields(call.content).flag("allow") else {
      throw .refused(.bad("allow", "\"allow\" must be true or false."))
    }
    let known = try waitingDevice(code, call, now)
    try store.transaction { () throws(AccountError) in
      let user = try caller(call).user
      // Between the two, another user may have decided.
      guard var waiting = try store.deviceCode(known.hash), waiting.decision == .pending else {
        throw .refused(.noDeviceCode)
      }
      waiting.decision = allow ? .allowed(user) : .denied
      try store.put(waiting)
    }
    return AccountAnswer(status: 204, .nothing)
  }

  /// Returns the device that waits with a code. Guessing is bounded by account and by address (RFC 8628
  /// §5.1).
  private func waitingDevice(
    _ code: String, _ call: AccountCall, _ now: Int64
  ) throws(AccountError) -> DeviceCode {
    let keys = ["user \(try caller(call).user)", "address \(call.address)"]
    for key in keys {
      if let wait = wrongCodes.wait(key, now: now) {
        throw .refused(.tooMany("wrong codes", wait: wait))
      }
    }
    guard let waiting = try store.deviceCode(user: hash(SecretForm.typedCode(code))),
      now < waiting.expiresAt, waiting.decision == .pending
    else {
      for key in keys { wrongCodes.count(key, now: now) }
      throw .refused(.noDeviceCode)
    }
    return waiting
  }

  // MARK: - Sessions

  func sessions(_ call: AccountCall) throws(AccountError) -> AccountAnswer {
    let caller = try self.caller(call)
    let rows = try store.sessions(of: caller.user).map {
      row($0, isCurrent: $0.id == caller.session)
    }
    return AccountAnswer(status: 200, .json(JSONText.object([("sessions", .list(rows))]).bytes))
  }

  func endSession(
    _ id: String, _ call: AccountCall, _ now: Int64
  ) throws(AccountError) -> AccountAnswer {
    let isOwn = try store.transaction { () throws(AccountError) in
      let caller = try self.caller(call)
      let id = id == "current" ? caller.session ?? "" : id
      guard try store.sessions(of: caller.user).contains(where: { $0.id == id }) else {
        throw .refused(.noSession)
      }
      try signOut(id, of: caller.user, now)
      return id == caller.session
    }
    // The cookie of another device is that device's own.
    return AccountAnswer(
      status: 204, .nothing, cookie: isOwn ? AccountAnswer.Cookie.none : nil)
  }

  // MARK: - The own account

  func profile(_ call: AccountCall) throws(AccountError) -> AccountAnswer {
    let caller = try self.caller(call)
    guard let account = try store.account(caller.user) else { throw .refused(.noSession) }
    return AccountAnswer(
      status: 200,
      .json(
        JSONText.object([
          ("user", .text(account.user)), ("name", .text(account.name)),
          ("operator", .flag(caller.isOperator)),
          ("may_invite", .flag(caller.isOperator || settings.everyoneInvites)),
          ("session", caller.session.map { .text($0) }),
        ]).bytes))
  }

  func rename(_ call: AccountCall, _ now: Int64) throws(AccountError) -> AccountAnswer {
    guard let name = try Fields(call.content).name("name", bytes: AccountSettings.nameBytes) else {
      throw .refused(.bad("name", "\"name\" is missing."))
    }
    try store.transaction { () throws(AccountError) in
      let user = try caller(call).user
      guard var account = try store.account(user) else { throw .refused(.noSession) }
      if account.name == name { return }
      if let wait = renames.take(user, now: now) {
        throw .refused(.tooMany("changes of your name", wait: wait))
      }
      account.name = name
      try store.put(account)
      try store.record(.account, of: user, at: now)
    }
    return try profile(call)
  }

  /// Returns who asks, as the store knows them now: what a loop knows may be some milliseconds old, and
  /// whoever is thrown out would use them. A request that changes something asks within its transaction.
  func caller(_ call: AccountCall) throws(AccountError) -> AccountCall.Caller {
    guard var caller = call.caller else { throw .refused(.signInFirst) }
    if caller.user == AccountCall.Caller.relay { return caller }
    if let session = caller.session,
      try !store.sessions(of: caller.user).contains(where: { $0.id == session })
    {
      throw .refused(.signInFirst)
    }
    let account = try store.account(caller.user)
    if account?.isDisabled == true { throw .refused(.disabled(caller.user)) }
    caller.isOperator = account?.isOperator == true || environment.isOperator(caller.user)
    return caller
  }
}
