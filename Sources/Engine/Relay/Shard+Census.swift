/// What a session is to an operator.
public struct SessionCensus: Sendable {
  public var id: SessionID
  public var user: String
  /// The owner's name for the connection.
  public var connection: Int32
  public var isAway: Bool
  public var subscriptions: Int
  public var lagging: Int
  public var queuedBytes: Int

  /// Those with most bytes queued come first.
  public func precedes(_ other: Self) -> Bool {
    (other.queuedBytes, user) < (queuedBytes, other.user)
  }
}

/// Who is connected, and which rooms are busy, for operators.
extension Shard {
  /// Returns the sessions of a user, or of all users, that have most bytes queued.
  public func census(of user: String?, limit: Int) -> (sessions: [SessionCensus], total: Int) {
    var found: [SessionCensus] = []
    var total = 0
    for slot in sessions.slots where !sessions[slot].user.isEmpty && !sessions[slot].isClosing {
      let session = sessions[slot]
      if let user, session.user != user { continue }
      total += 1
      found.append(
        SessionCensus(
          id: sessions.id(of: slot), user: session.user, connection: session.connection,
          isAway: session.isAway,
          subscriptions: Int(session.subscriptionCount), lagging: session.lagging.count,
          queuedBytes: session.queuedBytes + session.waitingBytes))
      if found.count >= 2 * limit { Self.keepFirst(limit, of: &found) }
    }
    Self.keepFirst(limit, of: &found)
    return (found, total)
  }

  /// Returns the user and the connection of a session; `nil` until it is authenticated, and once it ends.
  public func owner(of id: SessionID) -> (user: String, connection: Int32)? {
    guard isActive(id), isAuthenticated(id) else { return nil }
    return (sessions[id.slot].user, sessions[id.slot].connection)
  }

  private static func keepFirst(_ limit: Int, of found: inout [SessionCensus]) {
    found.sort { $0.precedes($1) }
    found.removeLast(max(0, found.count - limit))
  }

  /// Returns the rooms with most entries in the last ten seconds. Every loop knows the entries of all rooms.
  public func busiestRooms(limit: Int, now: Moment) -> [(room: String, entriesPerSecond: Double)] {
    var found: [(room: String, entriesPerSecond: Double)] = []
    for slot in rooms.slots {
      let rate = rooms[slot].recent.perSecond(at: now.monotonic)
      if rate > 0 { found.append((rooms[slot].name, rate)) }
    }
    found.sort { ($1.entriesPerSecond, $0.room) < ($0.entriesPerSecond, $1.room) }
    return Array(found.prefix(limit))
  }
}
