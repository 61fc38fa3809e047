import HeapModule
public import Wire

/// Who clients are, and what they may: tokens, rights, and their end.
extension Shard {
  /// Verifying takes as long as some tens of other requests: a renewal counts as so many.
  static let renewalRequests = 10
  /// A clock may be set: how much of a token's time is left is looked at so often.
  static let expiryCheckMilliseconds: Int64 = 60_000

  /// What a token has given to a session.
  final class Grant {
    /// As `welcome` has told it.
    let session: String
    var identity: Identity
    /// When the timer fires that is under way, in milliseconds of the monotonic clock.
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

  // MARK: - Coming in

  /// It is known who the client is: `welcome` goes out.
  /// - Parameter isPresence: whether the user is there with it, as far as others are told; if not, it is
  ///   there for one request.
  public mutating func identify(
    _ id: SessionID, as user: String, isPresence: Bool = true, now: Moment
  ) {
    identify(id, as: Identity(user: user), isPresence: isPresence, now: now)
  }

  /// As above; where the identity ends, or does not allow everything, the relay holds to that.
  public mutating func identify(
    _ id: SessionID, as identity: Identity, isPresence: Bool = true, now: Moment
  ) {
    guard isCurrent(id), !sessions[id.slot].isClosing else { return }
    let index = id.slot
    let user = identity.user
    if isPresence, !budgets.isUnlimited {
      guard let (budget, rank) = budgets.connect(user, now: now.monotonic) else {
        refuseConnection(of: user, index)
        return
      }
      sessions[index].budget = budget
      sessions[index].rank = rank
    }
    sessions[index].user = user
    sessions[index].isPresence = isPresence
    sessions[index].nextOfUser = localUsers[user]?.firstSession ?? .none
    localUsers[user, default: LocalUser()].firstSession = Link(index)
    notePresence(of: user)
    let name = Lineage.randomName(using: &random)
    if configuration.verifyToken != nil {
      let grant = Grant(session: name, identity)
      sessions[index].grant = grant
      // What is there for one request alone ends sooner, and would leave a timer behind.
      if isPresence { scheduleExpiry(of: grant, id, now) }
    }
    welcome(index, session: name, expires: identity.expires, now)
  }

  private mutating func refuseConnection(of user: String, _ index: Slot<Session>) {
    let limit = configuration.limits.budget.connections
    end(
      index,
      WireError(
        .limitReached,
        "\(user) has \(limit) connections, which is as many as a user may have; close one first.",
        field: "connections_per_user"),
      .overloaded, "too many connections of this user")
  }

  /// Opens the relay's own rooms to a session: it is the relay's.
  public mutating func admitToReservedRooms(_ id: SessionID) {
    guard isCurrent(id) else { return }
    sessions[id.slot].isInternal = true
  }

  /// Whether it is known who the client is. `mutating` as `hasOutput` is.
  public mutating func isIdentified(_ id: SessionID) -> Bool {
    isCurrent(id) && !sessions[id.slot].user.isEmpty
  }

  /// Does not let a client in: `error`, then close 4403 if it is forbidden, otherwise 4401.
  public mutating func refuseIdentity(_ id: SessionID, _ error: WireError) {
    guard isCurrent(id) else { return }
    if error.code == .forbidden {
      end(id.slot, error, .forbidden, "forbidden")
    } else {
      end(id.slot, error, .notAuthenticated, "not authenticated")
    }
  }

  private mutating func welcome(
    _ index: Slot<Session>, session: String, expires: Int64?, _ now: Moment
  ) {
    let limits = configuration.limits
    var told = ServerMessage.Welcome.Limits()
    told.frameBytes = limits.frameBytes
    told.textBytes = limits.textBytes
    told.rooms = limits.roomsPerConnection
    told.sendsPerSecond = limits.budget.sendsPerSecond
    told.burst = limits.budget.burst
    told.requestsPerSecond = limits.budget.requestsPerSecond
    told.bytesPerSecond = limits.budget.bytesPerSecond
    reply(
      .welcome(
        ServerMessage.Welcome(
          user: sessions[index].user, session: session, server: configuration.server,
          time: now.wall, heartbeatSeconds: Int64(limits.heartbeatSeconds), limits: told,
          expires: expires)),
      to: index)
  }

  // MARK: - `auth`

  /// The first message of a client that did not say before who it is.
  mutating func receiveFirst(_ message: ClientMessage, _ index: Slot<Session>, _ now: Moment) {
    let refusal: WireError
    switch (message, configuration.verifyToken) {
    case (.auth(let token), let verify?):
      do throws(WireError) {
        identify(id(of: index), as: try verify(token, now.wall), now: now)
        return
      } catch {
        refusal = error
      }
    case (.auth, nil):
      refusal = WireError(
        .unauthorized, "This relay takes no tokens: connect with ?user=NAME.", re: "auth")
    case (_, nil):
      refusal = WireError(
        .unauthorized, "Say who you are first: connect with ?user=NAME.", re: message.type)
    default:
      refusal = WireError(
        .unauthorized, "Say who you are first: send auth with a token.", re: message.type)
    }
    refuseIdentity(id(of: index), refusal)
  }

  /// A token for the one that the session has; where it is no good, that one goes on.
  mutating func renew(_ token: String, _ index: Slot<Session>, _ now: Moment) {
    guard let verify = configuration.verifyToken, let grant = sessions[index].grant else {
      // In open mode there is nothing that a token could be held against.
      refuseRenewal("This relay takes no tokens; the session goes on as it was.", index)
      return
    }
    chargeRequests(Self.renewalRequests - 1, index)
    do throws(WireError) {
      let identity = try verify(token, now.wall)
      guard identity.user == grant.identity.user else {
        refuseRenewal(
          "This connection is \(grant.identity.user)'s, and the token \(identity.user)'s; the old one goes on.",
          index)
        return
      }
      grant.identity = identity
      scheduleExpiry(of: grant, id(of: index), now)
      welcome(index, session: grant.session, expires: identity.expires, now)
      endWhatIsForbidden(index)
    } catch {
      refuseRenewal("\(error.message) The old one goes on.", index)
    }
  }

  private mutating func refuseRenewal(_ text: String, _ index: Slot<Session>) {
    reply(.error(WireError(.unauthorized, text, re: "auth")), to: index)
  }

  // MARK: - Rights

  /// Whether entries of the room may be shown to the session.
  func mayRead(_ room: String, _ index: Slot<Session>) -> Bool {
    RoomName.isOpen(room, to: sessions[index].user) && rightsAllowReading(room, index)
  }

  func rightsAllowReading(_ room: String, _ index: Slot<Session>) -> Bool {
    sessions[index].grant?.identity.rights.mayRead(room) ?? true
  }

  func rightsAllowSending(_ room: String, _ index: Slot<Session>) -> Bool {
    sessions[index].grant?.identity.rights.maySend(room) ?? true
  }

  /// A new token may allow less than the one before.
  private mutating func endWhatIsForbidden(_ index: Slot<Session>) {
    var lost: [String] = []
    var next = sessions[index].firstSubscription.slot
    while let place = next {
      let subscription = subscriptions[place]
      let room = rooms[subscription.room].name
      if subscription.isWanted, !rightsAllowReading(room, index) { lost.append(room) }
      next = subscription.next.slot
    }
    for room in lost.sorted() {
      reply(
        .error(
          WireError(
            .forbidden, "The new token does not allow to read \(room).", re: "auth", room: room)),
        to: index)
      leave(room, index)
    }
  }

  // MARK: - The end

  /// Ends the connections of these users: `error forbidden`, close 4403.
  public mutating func ban(_ users: Set<String>) {
    for user in users.sorted() {
      forEachSession(of: user) { shard, index in
        shard.refuseIdentity(shard.id(of: index), Self.banned(user))
      }
    }
  }

  /// What a banned user is told.
  public static func banned(_ user: String) -> WireError {
    WireError(.forbidden, "\(user) is banned from this relay.")
  }

  private mutating func scheduleExpiry(of grant: Grant, _ id: SessionID, _ now: Moment) {
    guard let end = grant.end else { return }
    let (left, overflow) = end.subtractingReportingOverflow(now.wall)
    let at = now.monotonic + max(1, min(overflow ? .max : left, Self.expiryCheckMilliseconds))
    // One that fires too early looks again: renewing does not gather timers.
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
      WireError(.tokenExpired, "The token has expired; come back with another."),
      .notAuthenticated, "the token has expired")
  }
}
