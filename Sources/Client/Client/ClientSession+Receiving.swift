public import Platform
public import Wire

/// The relay's messages.
extension ClientSession {
  /// Handles a message of the relay.
  ///
  /// - Returns: Whether it is news to the user: duplicate entries, and entries of a cursor that was
  ///   replaced, are not.
  public mutating func receive(
    _ message: ServerMessage, at now: Instant, _ actions: inout [Action]
  ) -> Bool {
    switch phase {
    case .connecting, .live: break
    // The answers to lines in flight still count.
    case .leaving: break
    case .idle, .waiting, .unauthenticated, .ended: return false
    }
    switch message {
    case .message(let entry): return deliver(entry, at: now, &actions)
    case .ack(let ack): acknowledge(ack, at: now, &actions)
    case .welcome(let welcome): begin(welcome, at: now, &actions)
    case .renewed(let expiresIn):
      hasAskedForToken = false
      renewAt = renewal(expiresIn, at: now)
      actions.append(.event(.message(message)))
    case .joined(let joined): return subscribe(joined, at: now, &actions)
    case .left(let room, let departure): left(room, departure, &actions)
    case .error(let error): refuse(error, at: now, &actions)
    case .closing(reason: _, let milliseconds):
      reconnectAfterMilliseconds = Int(
        clamping: max(0, min(milliseconds, Int64(settings.reconnectAfterLimitMilliseconds))))
      actions.append(.event(.message(message)))
    default: actions.append(.event(.message(message)))
    }
    return true
  }

  /// Accepts `count` consecutive entries from `seq` on without decoding them, for a caller that
  /// knows their content. No event is reported.
  ///
  /// - Parameter hint: Where the room was found last; any number will do at first.
  /// - Returns: Whether they are the next entries; if not, nothing has changed, and the caller must
  ///   decode them and pass them to `receive`.
  public mutating func advance(
    _ room: String, from seq: Int64, count: Int, hint: inout Int
  ) -> Bool {
    switch phase {
    case .connecting, .live, .leaving: break
    case .idle, .waiting, .unauthenticated, .ended: return false
    }
    if !subscriptions.indices.contains(hint) || subscriptions[hint].room != room {
      guard let found = subscriptionIndex(of: room) else { return false }
      hint = found
    }
    return subscriptions[hint].advance(from: seq, count: count)
  }

  private mutating func begin(
    _ welcome: ServerMessage.Welcome, at now: Instant, _ actions: inout [Action]
  ) {
    limits = welcome.limits
    user = welcome.user
    hasAskedForToken = false
    renewAt = renewal(welcome.expiresInMilliseconds, at: now)
    actions.append(.event(.welcomed(welcome)))
    guard case .connecting = phase else { return }
    phase = .live(since: now)
    heard(at: now)
    joinAll(&actions)
    pump(at: now, &actions)
  }

  /// The number of rooms that one message joins.
  private static let roomsPerJoin = 32

  private mutating func joinAll(_ actions: inout [Action]) {
    let joins = subscriptions.indices.map { subscriptions[$0].askedJoin() }
    for start in stride(from: 0, to: joins.count, by: Self.roomsPerJoin) {
      let some = joins[start..<min(start + Self.roomsPerJoin, joins.count)]
      let message = ClientMessage.joinRooms(some.map { .success($0) })
      if some.count > 1, limits.frameBytes == 0 || message.json.count <= limits.frameBytes {
        actions.append(.transmit(message))
      } else {
        for join in some { actions.append(.transmit(.join(join))) }
      }
    }
  }

  /// Returns when to ask for a token that replaces the current one: after at least one second, because
  /// the source may have none that lasts longer.
  private func renewal(_ expiresIn: Int64?, at now: Instant) -> Instant? {
    guard settings.renewsTokens, let expiresIn else { return nil }
    let left = max(0, expiresIn)
    let margin = min(Int64(settings.renewBeforeMilliseconds), left / 5)
    // The time is capped at a year, so that the clock cannot overflow; no connection lasts that
    // long.
    return now.adding(milliseconds: Int(min(max(1000, left - margin), 31_536_000_000)))
  }

  private mutating func deliver(
    _ entry: Entry, at now: Instant, _ actions: inout [Action]
  ) -> Bool {
    guard let index = subscriptionIndex(of: entry.room) else { return false }
    lastFound = index
    switch subscriptions[index].verdict(seq: entry.seq) {
    case .deliver:
      if entry.kind.isNotice { subscriptions[index].membership.take(entry, user: user) }
      actions.append(.event(.entry(entry)))
      return true
    case .drop: break
    case .gap: actions.append(.transmit(subscriptions[index].ask()))
    case .gapAgain: failGap(index, at: now, &actions)
    }
    return false
  }

  private mutating func subscribe(
    _ joined: ServerMessage.Joined, at now: Instant, _ actions: inout [Action]
  ) -> Bool {
    guard leaving[joined.room] == nil, let index = subscriptionIndex(of: joined.room) else {
      return false
    }
    switch subscriptions[index].joined(joined) {
    case .stands:
      subscriptions[index].membership.begin(joined)
      actions.append(.event(.joined(joined)))
      return true
    case .superseded: break
    case .askAgain: actions.append(.transmit(subscriptions[index].ask()))
    case .gapAgain: failGap(index, at: now, &actions)
    }
    return false
  }

  private mutating func failGap(_ index: Int, at now: Instant, _ actions: inout [Action]) {
    let subscription = subscriptions[index]
    fail(.gap(room: subscription.room, after: subscription.last ?? 0), at: now, &actions)
  }

  private mutating func acknowledge(
    _ ack: ServerMessage.Ack, at now: Instant, _ actions: inout [Action]
  ) {
    // `nil` for the second ack of a line that was sent twice.
    guard outbox.remove(room: ack.room, id: ack.id) != nil else { return }
    answeredAt = now
    actions.append(.event(.acknowledged(ack)))
    pump(at: now, &actions)
  }

  private mutating func left(
    _ room: String, _ departure: ServerMessage.Departure?, _ actions: inout [Action]
  ) {
    // A subscription that was left and joined again at once is a new one.
    if departure != nil || !leaveAnswered(room), let index = subscriptionIndex(of: room) {
      subscriptions.remove(at: index)
    }
    actions.append(.event(.left(room: room, departure)))
  }

  /// - Returns: Whether a leave was waiting for it.
  private mutating func leaveAnswered(_ room: String) -> Bool {
    guard let count = leaving[room] else { return false }
    leaving[room] = count > 1 ? count - 1 : nil
    return true
  }

  private mutating func refuse(
    _ error: WireError, at now: Instant, _ actions: inout [Action]
  ) {
    let retryAt =
      error.isTemporary
      ? now.adding(milliseconds: Int(clamping: error.retryAfterMilliseconds ?? 1000)) : nil
    if let id = error.id {
      if let retryAt {
        outbox.postpone(room: error.room, id: id, until: retryAt)
        answeredAt = now
        actions.append(.event(.message(.error(error))))
      } else if let send = outbox.remove(room: error.room, id: id) {
        answeredAt = now
        actions.append(.event(.refused(send, error)))
        pump(at: now, &actions)
      }
      return
    }
    if error.re == .leave, error.code == .notJoined, let room = error.room {
      _ = leaveAnswered(room)
    }
    if error.re == .join, let room = error.room, leaving[room] == nil,
      let index = subscriptionIndex(of: room)
    {
      subscriptions[index].joinRefused()
      if let retryAt {
        subscriptions[index].retryAt = retryAt
        actions.append(.event(.message(.error(error))))
      } else if subscriptions[index].asked == 0 {
        subscriptions.remove(at: index)
        actions.append(.event(.joinRefused(room: room, error)))
      }
      return
    }
    if error.code == .unauthorized || error.code == .forbidden || error.code == .tokenExpired {
      parting = error.message
    }
    actions.append(.event(.message(.error(error))))
  }
}

extension WireError {
  /// Whether the same request may succeed a little later.
  var isTemporary: Bool { code == .unavailable || retryAfterMilliseconds != nil }
}
