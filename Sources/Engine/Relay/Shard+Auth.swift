import HeapModule
public import Wire

/// Authentication: tokens, rights, and their end.
extension Shard {
  /// The requests that a renewal counts as: verifying a token costs as much as some tens of others.
  static let renewalRequests = 10
  /// The remaining time of a token is checked at least this often, because the clock may be set.
  static let expiryCheckMilliseconds: Int64 = 60_000

  /// What a token has given to a session.
  final class Grant {
    /// The name in `welcome`.
    let session: String
    var identity: Identity
    var isOperator = false
    /// When the pending timer fires, in milliseconds of the monotonic clock.
    var checkedAt = Int64.max

    init(session: String, _ identity: Identity) {
      self.session = session
      self.identity = identity
    }

    /// When the session ends, in milliseconds since 1970.
    var end: Int64? {
      identity.expires.map { $0.addingReportingOverflow(Identity.clockSkewMilliseconds) }
        .map { $0.overflow ? .max : $0.partialValue }
    }
  }

  // MARK: - Admitting

  /// Authenticates a client as a user: sends `welcome`.
  /// - Parameter isPresence: whether the session makes the user online; if not, it serves a single
  ///   request.
  public mutating func identify(
    _ id: SessionID, as user: String, isPresence: Bool = true, ref: String? = nil, now: Moment
  ) {
    identify(id, as: Identity(user: user), isPresence: isPresence, ref: ref, now: now)
  }

  /// As above, with the rights and the expiry of an identity.
  /// - Parameter lasts: whether the session serves an HTTP request that lasts: it counts as a
  ///   connection and ends with its token, but the owner charges its requests.
  public mutating func identify(
    _ id: SessionID, as identity: Identity, isPresence: Bool = true, lasts: Bool = false,
    ref: String? = nil, now: Moment
  ) {
    guard isActive(id) else { return }
    let session = id.slot
    let user = identity.user
    if let refusal = tokenRule?.refusal(of: identity) {
      reject(id, WireError(.unauthorized, refusal, re: .auth))
      return
    }
    if user == UserName.relay, !identity.isRelay {
      reject(id, .relaysName)
      return
    }
    if lasts, !budgets.isUnlimited {
      guard let connection = budgets.connect(user, now: now.monotonic) else {
        refuseConnection(of: user, session)
        return
      }
      sessions.extras(of: session).connection = connection
    } else if isPresence, !budgets.isUnlimited {
      guard let (budget, rank) = budgets.connect(user, now: now.monotonic) else {
        refuseConnection(of: user, session)
        return
      }
      sessions[session].budget = budget
      sessions[session].rank = rank
    }
    sessions.link(session, to: user)
    sessions[session].isPresence = isPresence
    if isPresence { people.record(user, name: identity.name) }
    updatePresence(of: user)
    let name = Lineage.randomName(using: &random)
    reportSignIn(session, name, now)
    if configuration.verifyToken != nil || identity.isRelay {
      let grant = Grant(session: name, identity)
      grant.isOperator = identity.isRelay || configuration.isOperator(identity)
      sessions[session].grant = grant
      // A session for a single request ends sooner, and would leave a timer behind.
      if isPresence || lasts { scheduleExpiry(of: grant, id, now) }
    }
    welcome(session, name: name, expires: identity.expires, ref: ref, now)
  }

  private mutating func refuseConnection(of user: String, _ session: Slot<Session>) {
    let limit = configuration.limits.budget.connections
    slowdowns.connections.add(user, sessions[session].connection)
    end(
      session,
      WireError(
        .limitReached,
        "\(user) has reached the limit of \(limit) connections; close one first.",
        field: "connections_per_user"),
      .overloaded, "too many connections of this user")
  }

  /// Makes a session one of the relay's own, which may use reserved rooms.
  public mutating func admitToReservedRooms(_ id: SessionID) {
    guard isCurrent(id) else { return }
    sessions[id.slot].isInternal = true
  }

  /// Makes a session join rooms without receiving the entries that it may lack.
  public mutating func skipEntries(_ id: SessionID) {
    guard isCurrent(id) else { return }
    sessions[id.slot].skipsEntries = true
  }

  /// Whether the client is authenticated.
  public func isAuthenticated(_ id: SessionID) -> Bool {
    isCurrent(id) && !sessions[id.slot].user.isEmpty
  }

  /// Rejects a client: `error`, then close 4403 if it is forbidden, 1013 if its token cannot be verified
  /// now, otherwise 4401.
  public mutating func reject(_ id: SessionID, _ error: WireError) {
    guard isCurrent(id) else { return }
    switch error.code {
    case .forbidden: end(id.slot, error, .forbidden, "forbidden")
    case .unavailable: end(id.slot, error, .overloaded, "tokens cannot be verified now")
    default: end(id.slot, error, .notAuthenticated, "not authenticated")
    }
  }

  private mutating func welcome(
    _ session: Slot<Session>, name: String, expires: Int64?, ref: String?, _ now: Moment
  ) {
    let limits = configuration.limits
    var published = ServerMessage.Welcome.Limits()
    published.frameBytes = limits.frameBytes
    published.textBytes = limits.textBytes
    published.rooms = limits.roomsPerConnection
    published.sendsPerSecond = limits.budget.sendsPerSecond
    published.burst = limits.budget.burst
    published.requestsPerSecond = limits.budget.requestsPerSecond
    published.bytesPerSecond = limits.budget.bytesPerSecond
    published.fileBytes = limits.fileBytes
    reply(
      .welcome(
        ServerMessage.Welcome(
          user: sessions[session].user, session: name, server: configuration.server,
          time: now.wall, heartbeatSeconds: Int64(limits.heartbeatSeconds), limits: published,
          expiresInMilliseconds: Self.milliseconds(until: expires, now))),
      ref: ref, to: session)
  }

  private static func milliseconds(until expires: Int64?, _ now: Moment) -> Int64? {
    expires.map { max(0, $0.subtractingReportingOverflow(now.wall).partialValue) }
  }

  // MARK: - `auth`

  /// Handles the first message of a client that is not authenticated.
  mutating func receiveFirst(_ request: ClientRequest, _ session: Slot<Session>, _ now: Moment) {
    var refusal: WireError
    switch (request.message, configuration.verifyToken) {
    case (.auth(let token), let verify?):
      do throws(WireError) {
        let id = sessions.id(of: session)
        guard let identity = try verify(token, now.wall) else {
          verifyLater(token, ref: request.ref, session)
          return
        }
        identify(id, as: identity, ref: request.ref, now: now)
        return
      } catch {
        refusal = error
      }
    case (.auth, nil):
      refusal = WireError(
        .unauthorized, "This relay does not use tokens; connect with ?user=NAME.", re: .auth)
    case (_, nil):
      refusal = WireError(
        .unauthorized, "Authentication is required; connect with ?user=NAME.",
        re: request.message.type)
    default:
      refusal = WireError(
        .unauthorized, "Authentication is required; send auth with a token.",
        re: request.message.type)
    }
    refusal.ref = request.ref
    reject(sessions.id(of: session), refusal)
  }

  /// Replaces the session's token; an invalid one changes nothing.
  mutating func renew(
    _ token: String, ref: String?, _ session: Slot<Session>, _ now: Moment
  ) {
    guard let verify = configuration.verifyToken, sessions[session].grant != nil else {
      let error = WireError(
        .unauthorized, "This relay does not use tokens; the session continues unchanged.", re: .auth
      )
      reply(error, ref: ref, to: session)
      return
    }
    chargeRequests(Self.renewalRequests - 1, session)
    do throws(WireError) {
      guard let identity = try verify(token, now.wall) else {
        verifyLater(token, ref: ref, session)
        return
      }
      renew(.success(identity), ref: ref, session, now)
    } catch {
      renew(.failure(error), ref: ref, session, now)
    }
  }

  private mutating func renew(
    _ result: Result<Identity, WireError>, ref: String?, _ session: Slot<Session>, _ now: Moment
  ) {
    guard let grant = sessions[session].grant else { return }
    do throws(WireError) {
      let identity = try result.get()
      if let refusal = tokenRule?.refusal(of: identity) {
        throw WireError(.unauthorized, refusal, re: .auth)
      }
      guard identity.user == grant.identity.user else {
        let error = WireError(
          .unauthorized,
          "The connection belongs to \(grant.identity.user), but the token to \(identity.user); the old token stays valid.",
          re: .auth)
        reply(error, ref: ref, to: session)
        return
      }
      grant.identity = identity
      updateOperator(session, grant)
      scheduleExpiry(of: grant, sessions.id(of: session), now)
      reply(
        .renewed(
          expiresInMilliseconds: Self.milliseconds(until: identity.expires, now)),
        ref: ref, to: session)
      leaveForbiddenRooms(session)
    } catch {
      // A token that cannot be verified now, or has expired, says what to do; any other is refused.
      let isTold = error.code == .tokenExpired || error.code == .unavailable
      let error = WireError(
        isTold ? error.code : .unauthorized, "\(error.message) The old token stays valid.",
        re: .auth,
        retryAfterMilliseconds: isTold ? error.retryAfterMilliseconds : nil)
      reply(error, ref: ref, to: session)
    }
  }

  // MARK: - Verification that takes time

  /// A token whose verification takes longer than a lookup in memory.
  public struct UnverifiedToken: Sendable {
    public var session: SessionID
    /// The owner's name for the connection.
    public var connection: Int32
    public var token: String
  }

  private mutating func verifyLater(_ token: String, ref: String?, _ session: Slot<Session>) {
    awaitReply(ref: ref, session)
    unverified.append(
      UnverifiedToken(
        session: sessions.id(of: session), connection: sessions[session].connection, token: token))
  }

  /// Lets the input of a session wait for the verification of the token that its request had.
  public mutating func awaitVerification(_ id: SessionID) {
    guard isActive(id) else { return }
    awaitReply(ref: nil, id.slot)
  }

  /// Returns the tokens that the owner has to have verified, since the last call. Each is answered by
  /// `finishVerification`.
  public mutating func takeUnverified() -> [UnverifiedToken] {
    if unverified.isEmpty { return [] }
    defer { unverified = [] }
    return unverified
  }

  /// Authenticates a client, or renews its token, once its token is verified.
  public mutating func finishVerification(
    _ id: SessionID, _ result: Result<Identity, WireError>, now: Moment
  ) {
    guard isActive(id), sessions[id.slot].awaitsReply else { return }
    let ref = endReply(to: id.slot)
    guard sessions[id.slot].user.isEmpty else {
      renew(result, ref: ref, id.slot, now)
      return
    }
    switch result {
    case .success(let identity): identify(id, as: identity, ref: ref, now: now)
    case .failure(var error):
      error.ref = ref
      reject(id, error)
    }
  }

  // MARK: - Rights

  /// Whether entries of the room may be shown to the session.
  func mayRead(_ room: String, _ session: Slot<Session>) -> Bool {
    RoomName.isOpen(room, to: sessions[session].user) && rightsAllowReading(room, session)
  }

  func rightsAllowReading(_ room: String, _ session: Slot<Session>) -> Bool {
    sessions[session].grant?.identity.rights.mayRead(room) ?? true
  }

  func rightsAllowSending(_ room: String, _ session: Slot<Session>) -> Bool {
    sessions[session].grant?.identity.rights.maySend(room) ?? true
  }

  /// A renewed token may allow less than the previous one.
  private mutating func leaveForbiddenRooms(_ session: Slot<Session>) {
    let joined = subscriptions.slots(in: sessions[session].firstSubscription) { $0.isWanted }
      .map { rooms[subscriptions[$0].room].name }
    for room in joined.sorted() where !rightsAllowReading(room, session) {
      reply(
        .error(
          WireError(
            .forbidden, "The new token does not allow you to read \(room).", re: .auth,
            room: room)),
        to: session)
      leave(room, session)
    }
  }

  // MARK: - The end

  /// Closes the connections of devices whose sessions have ended: `error unauthorized`, close 4401.
  /// - Parameter device: `nil` = all devices of the user.
  public mutating func endDevice(_ device: String?, of user: String, _ error: WireError) {
    forEachSession(of: user) { shard, session in
      guard let own = shard.sessions[session].grant?.identity.device,
        device == nil || device == own
      else { return }
      shard.reject(shard.sessions.id(of: session), error)
    }
  }

  /// The devices that are connected, by the names of their sessions.
  public var devices: [String] {
    sessions.slots.compactMap { sessions[$0].grant?.identity.device }
  }

  /// Returns the bans that the log has told since the last call. The owner keeps the users out, and then calls
  /// `ban`.
  public mutating func takeBans() -> BanNews? {
    if !bans.isWhole, bans.changes.isEmpty { return nil }
    defer { bans = BanNews() }
    return bans
  }

  /// Closes the connections of these users: `error forbidden`, close 4403.
  public mutating func ban(_ users: Set<String>) {
    for user in users.sorted() {
      forEachSession(of: user) { shard, session in
        shard.reject(shard.sessions.id(of: session), .banned(user))
      }
    }
  }

  /// The list of the relay's operators has changed.
  public mutating func updateOperators() {
    for session in sessions.slots {
      if let grant = sessions[session].grant { updateOperator(session, grant) }
    }
  }

  /// If the user is no operator any more, the log decides again what the session may read.
  private mutating func updateOperator(_ session: Slot<Session>, _ grant: Grant) {
    let wasOperator = grant.isOperator
    grant.isOperator = grant.identity.isRelay || configuration.isOperator(grant.identity)
    guard wasOperator, !grant.isOperator else { return }
    let chain = sessions[session].firstSubscription
    for index in subscriptions.slots(in: chain, where: { $0.isSubscribed && !$0.isEnding }) {
      sessions[session].lagging.removeAll { $0 == index }
      resubscribe(index)
    }
  }

  /// Closes the connections whose token a changed rule does not accept: `error unauthorized`, close
  /// 4401. Identities that were proven before, and whose sessions begin later, are held against it, too.
  public mutating func apply(_ rule: TokenRule) {
    tokenRule = rule
    for session in sessions.slots {
      guard let grant = sessions[session].grant, let refusal = rule.refusal(of: grant.identity)
      else { continue }
      reject(
        sessions.id(of: session),
        WireError(.unauthorized, "\(refusal) Reconnect with a new token."))
    }
  }

  private mutating func scheduleExpiry(of grant: Grant, _ id: SessionID, _ now: Moment) {
    guard let end = grant.end else { return }
    let (left, overflow) = end.subtractingReportingOverflow(now.wall)
    let at = now.monotonic + max(1, min(overflow ? .max : left, Self.expiryCheckMilliseconds))
    // A timer that fires too early schedules another: so renewals do not accumulate timers.
    guard at < grant.checkedAt else { return }
    grant.checkedAt = at
    timers.insert(ShardTimer(at: at, kind: .expiry(id)))
  }

  mutating func checkExpiry(_ id: SessionID, _ now: Moment) {
    guard isCurrent(id), let grant = sessions[id.slot].grant, grant.checkedAt <= now.monotonic
    else { return }
    grant.checkedAt = .max
    guard let end = grant.end else { return }
    guard end <= now.wall else {
      scheduleExpiry(of: grant, id, now)
      return
    }
    self.end(
      id.slot,
      WireError(.tokenExpired, "The token has expired; reconnect with a new one."),
      .notAuthenticated, "the token has expired")
  }
}
