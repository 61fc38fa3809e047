internal import Wire

/// Invitations: links that let people in.
extension AccountService {
  func invite(_ call: AccountCall, _ now: Int64) throws(AccountError) -> AccountAnswer {
    let fields = try Fields(call.content)
    let user = try fields.user("user")
    let name = try fields.name("name", bytes: AccountSettings.nameBytes)
    let uses = try fields.integer("uses", 1...AccountSettings.usesLimit) ?? 1
    let seconds =
      try fields.integer("ttl_s", 1...AccountSettings.longestInvitationSeconds)
      ?? AccountSettings.invitationSeconds
    let rooms = try fields.rooms("rooms", limit: AccountSettings.roomsLimit)
    let (invitation, code) = try store.transaction { () throws(AccountError) in
      let caller = try self.caller(call)
      guard caller.isOperator || settings.everyoneInvites || caller.managesRooms else {
        throw .refused(
          .forbidden(
            "Only operators of this relay invite (auth.invites), and owners and moderators of rooms"
              + " to these."))
      }
      let made = makeInvitation(
        by: caller.user, isByOperator: caller.isOperator, user: user, name: name, rooms: rooms,
        uses: Int(uses), seconds: seconds, now)
      try add(made.invitation, now)
      return made
    }
    let link = link(code)
    return AccountAnswer(
      status: 201,
      .json(
        JSONText.object([
          ("url", .text(link)), ("code", .text(code)),
          ("expires_at", .number(invitation.expiresAt)),
          ("invitation", .text(invitation.id)), ("qr", qrCode(link)),
        ]).bytes))
  }

  /// Makes an invitation for an operator's shell, and returns the link.
  public func invite(
    user: String?, name: String?, rooms: [String], uses: Int, seconds: Int, makesOperator: Bool,
    now: Int64
  ) throws(AccountError) -> String {
    let fields = try Fields(
      JSONText.object([
        ("user", user.map { .text($0) }), ("name", name.map { .text($0) }),
        ("rooms", .list(rooms.map { .text($0) })), ("uses", .number(Int64(uses))),
      ]).bytes)
    var (invitation, code) = makeInvitation(
      by: "", isByOperator: true, user: try fields.user("user"),
      name: try fields.name("name", bytes: AccountSettings.nameBytes),
      rooms: try fields.rooms("rooms", limit: AccountSettings.roomsLimit),
      uses: Int(try fields.integer("uses", 1...AccountSettings.usesLimit) ?? 1),
      seconds: Int64(seconds), now)
    invitation.makesOperator = makesOperator
    let made = invitation
    try store.transaction { () throws(AccountError) in
      if makesOperator, let user, try store.account(user) != nil {
        throw .refused(
          .bad("operator", "\(user) has an account already: relay users --operator \(user)."))
      }
      try add(made, now)
    }
    return link(code)
  }

  private func makeInvitation(
    by user: String, isByOperator: Bool, user given: String?, name: String?, rooms: [String],
    uses: Int, seconds: Int64, _ now: Int64
  ) -> (invitation: Invitation, code: String) {
    let code = SecretForm.token(environment.random(SecretForm.invitationBytes))
    let invitation = Invitation(
      id: SecretForm.name(environment.random(SecretForm.nameBytes)), hash: hash(code), by: user,
      isByOperator: isByOperator, user: given, name: name, rooms: rooms, uses: uses,
      createdAt: now, expiresAt: now + seconds * 1000)
    return (invitation, code)
  }

  /// Adds an invitation, within a transaction.
  private func add(_ invitation: Invitation, _ now: Int64) throws(AccountError) {
    if invitation.user != nil, invitation.uses > 1 {
      throw .refused(.bad("uses", "An invitation for one user can be used once."))
    }
    if let user = invitation.user { try mayGive(user, invitation) }
    // A shell has no limit.
    if !invitation.by.isEmpty,
      try store.openInvitationCount(of: invitation.by, now) >= AccountSettings.invitationsLimit
    {
      throw .refused(
        AccountProblem(
          409, .limitReached,
          "There are \(AccountSettings.invitationsLimit) open invitations of yours; withdraw one first."
        ))
    }
    try store.put(invitation)
    try store.trimInvitations(of: invitation.by, to: AccountSettings.keptInvitations, now)
  }

  func invitations(_ call: AccountCall, _ now: Int64) throws(AccountError) -> AccountAnswer {
    let rows = try withdrawable(by: try caller(call), now).map { invitation in
      JSONText.object([
        ("invitation", .text(invitation.id)), ("user", invitation.user.map { .text($0) }),
        ("name", invitation.name.map { .text($0) }), ("rooms", Self.rooms(of: invitation)),
        ("uses", .number(Int64(invitation.uses))),
        ("used_by", .list(invitation.usedBy.map { .text($0) })),
        ("created_at", .number(invitation.createdAt)),
        ("expires_at", .number(invitation.expiresAt)),
      ])
    }
    return AccountAnswer(status: 200, .json(JSONText.object([("invites", .list(rows))]).bytes))
  }

  /// Returns the invitations of a user, and for an operator also those of commands that can be opened.
  private func withdrawable(
    by caller: AccountCall.Caller, _ now: Int64
  ) throws(AccountError) -> [Invitation] {
    let own = try store.invitations(by: caller.user)
    return caller.isOperator && caller.user != AccountCall.Caller.relay
      ? own + (try store.invitations(by: "")).filter { $0.isOpen(now) } : own
  }

  func removeInvitation(
    _ id: String, _ call: AccountCall, _ now: Int64
  ) throws(AccountError) -> AccountAnswer {
    try store.transaction { () throws(AccountError) in
      let caller = try self.caller(call)
      guard try withdrawable(by: caller, now).contains(where: { $0.id == id }) else {
        throw .refused(.noInvitation)
      }
      try store.removeInvitation(id)
    }
    return AccountAnswer(status: 204, .nothing)
  }

  func showInvitation(
    _ code: String, _ call: AccountCall, _ now: Int64
  ) throws(AccountError) -> AccountAnswer {
    let invitation = try openInvitation(code, now)
    let maker = try store.account(invitation.by)
    return AccountAnswer(
      status: 200,
      .json(
        JSONText.object([
          ("by", .text(invitation.by)), ("by_name", maker.map { .text($0.name) }),
          ("user", invitation.user.map { .text($0) }),
          ("name", invitation.name.map { .text($0) }), ("rooms", Self.rooms(of: invitation)),
          ("expires_at", .number(invitation.expiresAt)),
        ]).bytes))
  }

  /// Returns the invitation of a link, if it lets people in now. One that was made with the right of an operator
  /// ends with that right, and each with the ban of its maker.
  private func openInvitation(
    _ code: String, _ now: Int64
  ) throws(AccountError) -> Invitation {
    guard let invitation = try store.invitation(hash(code)), invitation.isOpen(now) else {
      throw .refused(.noInvitation)
    }
    let maker = invitation.by
    // The relay itself, or a command.
    if maker.isEmpty { return invitation }
    guard let account = try store.account(maker), !account.isDisabled,
      !environment.isBanned(maker, now),
      !invitation.isByOperator || account.isOperator || environment.isOperator(maker)
    else { throw .refused(.noInvitation) }
    return invitation
  }

  /// Signs a person in: as a new account, or as a further device of the account that an operator has named.
  func openInvitation(
    _ code: String, _ call: AccountCall, _ now: Int64
  ) throws(AccountError) -> AccountAnswer {
    try countSignIn(call, now)
    let fields = try Fields(call.content)
    let chosen = try fields.user("user")
    let name = try fields.name("name", bytes: AccountSettings.nameBytes)
    let device =
      try fields.name("device", bytes: AccountSettings.deviceBytes) ?? Self.unnamedDevice
    let (signedIn, invitation) = try store.transaction { () throws(AccountError) in
      var invitation = try openInvitation(code, now)
      guard let user = chosen ?? invitation.user else {
        throw .refused(.bad("user", "Choose a name: \"user\" is missing."))
      }
      if let named = invitation.user, named != user {
        throw .refused(.bad("user", "This invitation is for \(named)."))
      }
      try mayGive(user, invitation)
      if try store.account(user) == nil {
        try store.put(
          Account(
            user: user, name: name ?? invitation.name ?? user,
            isOperator: invitation.makesOperator, createdAt: now))
        try store.record(.account, of: user, at: now)
      }
      invitation.usedBy.append(user)
      try store.put(invitation)
      let session = try addSession(of: user, device: device, from: call.address, now)
      return (session, invitation)
    }
    let rooms = invitation.rooms
    var answer = AccountAnswer(
      status: 201,
      .json(
        JSONText.object([
          ("user", .text(signedIn.session.user)), ("token", .text(signedIn.token)),
          ("session", .text(signedIn.session.id)),
          ("rooms", rooms.isEmpty ? nil : .list(rooms.map { .text($0) })),
        ]).bytes), cookie: .session(signedIn.token))
    if !rooms.isEmpty {
      answer.joining = AccountAnswer.Joining(
        user: signedIn.session.user, rooms: rooms, maker: invitation.by,
        isByOperator: invitation.isByOperator, invitation: invitation.id,
        use: invitation.usedBy.count)
    }
    return answer
  }

  static var unnamedDevice: String { "unnamed device" }

  private static func rooms(of invitation: Invitation) -> JSONText? {
    invitation.rooms.isEmpty ? nil : .list(invitation.rooms.map { .text($0) })
  }

  /// Throws if an invitation cannot give a name: that of a bot, or one that is taken, unless an operator
  /// has named it.
  private func mayGive(
    _ user: String, _ invitation: Invitation
  ) throws(AccountError) {
    if settings.bots.contains(user) { throw .refused(.nameTaken(user)) }
    if invitation.isByOperator, invitation.user == user {
      // A disabled account is told so where it signs in.
      if try store.account(user)?.isDisabled == true {
        throw .refused(.disabled(user))
      }
      return
    }
    if try isTaken(user) { throw .refused(.nameTaken(user)) }
  }

  /// Whether a name is taken: by an account, a bot, a person of the directory or of the
  /// configuration, or to a user from before there were accounts.
  func isTaken(_ user: String) throws(AccountError) -> Bool {
    if settings.bots.contains(user) || environment.isReserved(user) { return true }
    if try store.account(user) != nil { return true }
    return try environment.isKnown(user)
  }
}
