import Wire

/// A user with sessions on one loop.
struct LocalUser {
  /// The first session; each session links to the next.
  var firstSession = OptionalSlot<Session>.none
  /// The presence on this loop that the log was told.
  var published = Presence.offline
  /// The presence over all loops, as the log has told it.
  var overall = Presence.offline
}

/// The sessions of one loop, and each user's chain of them.
struct Sessions: ~Copyable {
  private var table = Slab(vacant: Session(connection: -1))
  /// The users who have a session, or whose presence the log does not know as offline yet.
  var users: CompactDictionary<String, LocalUser> = [:]
  /// The presence over all loops of users who are not in `users` and not offline.
  private var others: [String: Presence] = [:]
  /// When the last session of a user ended who is given time to come back, in milliseconds of the
  /// monotonic clock.
  var leftAt: [String: Int64] = [:]

  subscript(slot: Slot<Session>) -> Session {
    @inline(__always) unsafeAddress { unsafe UnsafePointer(table.address(of: slot)) }
    @inline(__always) unsafeMutableAddress { unsafe table.address(of: slot) }
  }

  var slots: [Slot<Session>] { table.slots }
  var count: Int { table.count }
  /// The number of slots, including free ones.
  var capacity: Int { table.capacity }

  func contains(_ slot: Slot<Session>) -> Bool { table.contains(slot) }

  /// Whether the session has not ended.
  func contains(_ id: SessionID) -> Bool { table.contains(id) }

  func id(of slot: Slot<Session>) -> SessionID { table.handle(slot) }

  mutating func insert(_ session: Session) -> Slot<Session> { table.insert(session) }

  /// Removes a session whose subscriptions have ended.
  mutating func remove(_ slot: Slot<Session>) {
    if !table[slot].user.isEmpty { unlink(slot) }
    table.remove(slot)
  }

  /// Adds the session of an authenticated client to the chain of its user.
  mutating func link(_ slot: Slot<Session>, to user: String) {
    table[slot].user = user
    var local = users[user] ?? LocalUser(overall: others.removeValue(forKey: user) ?? .offline)
    table[slot].nextOfUser = local.firstSession
    local.firstSession = OptionalSlot(slot)
    users[user] = local
  }

  /// Forgets a user without sessions, except for the presence on other loops.
  mutating func forget(_ user: String) {
    let overall = users.removeValue(forKey: user)?.overall ?? .offline
    if overall != .offline { others[user] = overall }
  }

  private mutating func unlink(_ slot: Slot<Session>) {
    let user = table[slot].user
    let following = table[slot].nextOfUser
    var before: Slot<Session>?
    var next = first(of: user)
    while let other = next, other != slot {
      before = other
      next = table[other].nextOfUser.slot
    }
    if let before {
      table[before].nextOfUser = following
    } else {
      users[user]?.firstSession = following
    }
  }

  /// The user's first session on this loop; `nextOfUser` leads to the others.
  func first(of user: String) -> Slot<Session>? { users[user]?.firstSession.slot }

  /// The presence that the sessions of a user on this loop amount to.
  func presence(of user: String) -> Presence {
    var presence = Presence.offline
    var next = first(of: user)
    while let slot = next {
      let session = table[slot]
      if session.isPresence {
        if !session.isAway { return .online }
        presence = .away
      }
      next = session.nextOfUser.slot
    }
    return presence
  }

  /// The presence of a user over all loops.
  func overallPresence(of user: String) -> Presence {
    users[user]?.overall ?? others[user] ?? .offline
  }

  mutating func setOverallPresence(of user: String, _ presence: Presence) {
    if let place = users.place(of: user) {
      users[place: place].overall = presence
    } else {
      others[user] = presence == .offline ? nil : presence
    }
  }

  /// The state that only some sessions have, made if needed.
  mutating func extras(of slot: Slot<Session>) -> SessionExtras {
    if let extras = table[slot].extras { return extras }
    let extras = SessionExtras()
    table[slot].extras = extras
    return extras
  }

  var isLoose: Bool { users.isLoose || others.isLoose || leftAt.isLoose }

  mutating func shrink() {
    table.shrink()
    users.shrinkIfLoose()
    others.shrinkIfLoose()
    leftAt.shrinkIfLoose()
  }
}
