import HeapModule
import Wire

/// Receipts, typing, audiences, activity and presence: only the latest of each matters. So a flood of
/// them costs a bounded number of messages, and a client that does not read a bounded amount of
/// memory.
extension Shard {
  func key(_ kind: EphemeralKey.Kind, _ room: Slot<Room>, _ user: String) -> EphemeralKey {
    EphemeralKey(kind: kind, room: rooms.handle(room), user: user)
  }

  /// Returns the room of a key; `nil` if it has been released since.
  private func room(of key: EphemeralKey) -> Slot<Room>? {
    guard let room = key.room, rooms.contains(room) else { return nil }
    return room.slot
  }

  mutating func apply(_ change: Commit.MarkChange, _ now: Moment) {
    guard let room = rooms.find(change.room) else { return }
    if let node = lists.find(change.marks.user, room) {
      lists.rooms[node].unread = change.unread
      lists.rooms[node].read = change.marks.read
    }
    send(
      .receipt(change.marks, toOthers: change.members <= SequencedRoom.memberListLimit),
      key(.receipt, room, change.marks.user), now)
  }

  mutating func apply(_ change: Commit.TypingChange, _ now: Moment) {
    guard let room = rooms.find(change.room) else { return }
    let key = key(.typing, room, change.user)
    if !change.on {
      typers.stop(key)
    } else if let at = typers.start(key, now: now.monotonic) {
      timers.insert(ShardTimer(at: at, kind: .typing(key)))
    }
    send(.typing(change.on), key, now)
  }

  mutating func apply(_ change: Commit.AudienceChange, _ now: Moment) {
    guard let room = rooms.find(change.room) else { return }
    send(.subscribers(change.subscribers), key(.subscribers, room, ""), now)
  }

  /// Applies the side effects of new entries: an entry ends the typing of its sender without a
  /// message, may move the sender's marks (as `MemberMarks.noteSend`), and is unread for all other
  /// users.
  mutating func noteSenders(_ commit: Commit, _ span: Commit.RoomSpan, in room: Slot<Room>) {
    let isWatched = !rooms[room].watchers.isEmpty
    guard isWatched || !typers.isEmpty else { return }
    if isWatched {
      let new = commit.contents(of: span.frames)
      for place in rooms[room].watchers.indices {
        let node = rooms[room].watchers[place]
        if lists.rooms[node].belongs { lists.rooms[node].unread.count += new }
        moveToFront(node, lastAt: span.lastAt)
      }
    }
    // The last `seq` that the sender of the current entry did not send.
    var others = span.others
    for frame in span.frames {
      let user = commit.senders[frame]
      let seq = span.firstSeq + Int64(frame - span.frames.lowerBound)
      if frame > span.frames.lowerBound, commit.senders[frame - 1] != user { others = seq - 1 }
      if !typers.isEmpty {
        let key = self.key(.typing, room, user)
        if typers.stop(key) { throttles.cancel(key) }
      }
      if isWatched {
        guard let node = lists.find(user, room), lists.rooms[node].belongs else { continue }
        lists.rooms[node].unread.count -= commit.contents(of: frame..<frame + 1)
        if lists.rooms[node].read >= others {
          lists.rooms[node].read = max(lists.rooms[node].read, seq)
        }
      }
    }
  }

  // MARK: - Sending

  /// Sends a value now, or later if its key is throttled.
  private mutating func send(_ value: EphemeralValue, _ key: EphemeralKey, _ now: Moment) {
    guard throttles.admit(value, key) else { return }
    if let room = room(of: key) { broadcast(value, key, in: room) }
    throttle(key, now)
  }

  private mutating func throttle(_ key: EphemeralKey, _ now: Moment) {
    timers.insert(
      ShardTimer(at: now.monotonic + Throttles.milliseconds, kind: .throttle(key)))
  }

  private mutating func encode(
    _ value: EphemeralValue, _ key: EphemeralKey, in room: Slot<Room>
  ) {
    let name = rooms[room].name
    let message: ServerMessage =
      switch value {
      case .receipt(let marks, _): .receipt(room: name, marks)
      case .typing(let on): .typing(room: name, user: key.user, on: on)
      case .subscribers(let count): .subscribers(room: name, count: count)
      }
    encoder.encode { message.append(to: &$0) }
  }

  private mutating func broadcast(
    _ value: EphemeralValue, _ key: EphemeralKey, in room: Slot<Room>
  ) {
    encode(value, key, in: room)
    switch value {
    case .receipt(_, let toOthers):
      forEachSession(of: key.user) { shard, session in
        if shard.concerns(session, room) { shard.emit(key, to: session) }
      }
      if toOthers { broadcastToOthers(key, in: room) }
    case .typing: broadcastToOthers(key, in: room)
    case .subscribers:
      for subscription in rooms[room].subscribers
      where subscriptions[subscription].wantsSubscribers {
        emit(key, to: subscriptions[subscription].session)
      }
    }
  }

  /// Whether the session has joined the room or watches it.
  private func concerns(_ session: Slot<Session>, _ room: Slot<Room>) -> Bool {
    isWatching(room, session)
      || subscription(of: session, toRoom: room).map { subscriptions[$0].place != nil } == true
  }

  /// Whether the session has requested `rooms`, and may be informed of this one.
  private func isWatching(_ room: Slot<Room>, _ session: Slot<Session>) -> Bool {
    guard sessions[session].extras?.watchesRooms == true,
      let node = lists.find(sessions[session].user, room)
    else { return false }
    return lists.rooms[node].belongs && rightsAllowReading(rooms[room].name, session)
  }

  /// Emits to the subscribers, and in a direct room to the peer's connections that requested `rooms`.
  private mutating func broadcastToOthers(_ key: EphemeralKey, in room: Slot<Room>) {
    for subscription in rooms[room].subscribers {
      let session = subscriptions[subscription].session
      if sessions[session].user != key.user { emit(key, to: session) }
    }
    guard RoomName.isDirect(rooms[room].name) else { return }
    for place in rooms[room].watchers.indices {
      let watched = lists.rooms[rooms[room].watchers[place]]
      let user = lists.users[watched.watch].user
      guard user != key.user else { continue }
      forEachSession(of: user) { shard, session in
        if shard.wantsActivity(watched, session) { shard.emit(key, to: session) }
      }
    }
  }

  // MARK: - One session

  /// Queues the encoded frame for a session, or keeps it in place of an older one.
  mutating func emit(_ key: EphemeralKey, to session: Slot<Session>) {
    guard !sessions[session].isClosing else { return }
    guard !sessions[session].isBlocked, !sessions[session].awaitsReply,
      sessions[session].queuedBytes < Self.pageBytes
    else {
      wait(key, for: session)
      return
    }
    queueFrame(session)
    markDirty(session)
  }

  private mutating func queueFrame(_ session: Slot<Session>) {
    sessions[session].outbox.append(contentsOf: encoder.frame)
    counters.ephemera += 1
  }

  /// Keeps the encoded frame, or only its key if it can be built again later.
  private mutating func wait(_ key: EphemeralKey, for session: Slot<Session>) {
    let frame: [UInt8] =
      switch key.kind {
      case .activity, .typing, .presence: []
      case .receipt, .subscribers: encoder.frame
      }
    sessions.extras(of: session).ephemera.set(
      frame, for: key,
      limit: key.kind == .typing
        ? configuration.limits.waitingTypingKeys : configuration.limits.waitingKeys)
  }

  /// The session reads again: queues what has waited.
  mutating func noteDrained(_ session: Slot<Session>) {
    guard let extras = sessions[session].extras, !extras.ephemera.isEmpty,
      !sessions[session].awaitsReply, sessions[session].queuedBytes == 0
    else { return }
    // The rest waits until these are written.
    while sessions[session].queuedBytes < Self.pageBytes,
      let (key, frame) = extras.ephemera.popFirst()
    {
      queueWaiting(key, frame, session)
    }
    markDirty(session)
  }

  private mutating func queueWaiting(
    _ key: EphemeralKey, _ frame: [UInt8], _ session: Slot<Session>
  ) {
    if key.kind == .presence {
      if encodePresence(of: key.user, to: session) { queueFrame(session) }
      return
    }
    guard let room = room(of: key), isRelevant(key, in: room, session) else { return }
    switch key.kind {
    case .activity:
      guard let node = lists.find(sessions[session].user, room) else { return }
      encodeActivity(node)
      queueFrame(session)
    case .typing:
      encode(.typing(typers.isTyping(key)), key, in: room)
      queueFrame(session)
    case .receipt, .subscribers, .presence:
      sessions[session].outbox.append(contentsOf: frame)
      counters.ephemera += 1
    }
  }

  /// Whether a message that has waited still concerns the session, which may have left the room.
  private func isRelevant(
    _ key: EphemeralKey, in room: Slot<Room>, _ session: Slot<Session>
  ) -> Bool {
    let isWatching = isWatching(room, session)
    let joined = subscription(of: session, toRoom: room).map { subscriptions[$0] }
    let hasJoined = joined?.isJoined == true
    switch key.kind {
    case .activity: return isWatching && !hasJoined
    case .subscribers: return hasJoined && joined?.wantsSubscribers == true
    case .receipt, .typing:
      let isPeer =
        RoomName.isDirect(rooms[room].name) || key.user == sessions[session].user
      return hasJoined || isWatching && isPeer
    case .presence: return true
    }
  }

  // MARK: - Timers

  /// When the next turn is due without an event, in microseconds of the monotonic clock; `nil` =
  /// never.
  public func nextWake() -> Int64? {
    let timer = timers.min.map { $0.at * 1000 }
    guard let delivery = nextDelivery else { return timer }
    return min(delivery, timer ?? .max)
  }

  /// As `nextWake`, in milliseconds.
  public var nextDeadline: Int64? { nextWake().map { ($0 + 999) / 1000 } }

  /// The number of pending timers.
  var timerCount: Int { timers.count }

  /// Does what is due.
  public mutating func tick(now: Moment) {
    noteDepartures(now)
    while let next = timers.min, next.at <= now.monotonic {
      timers.removeMin()
      switch next.kind {
      case .budget(let user):
        if slowedUsers[user] == next.at { wakeSlowed(user, now) }
      case .readAgain(let id):
        if isCurrent(id) { markDirty(id.slot) }
      case .throttle(let key): endThrottle(key, now)
      case .typing(let key): checkTyping(key, now)
      case .activity(let node): sendLateActivity(node, now)
      case .expiry(let id): checkExpiry(id, now)
      case .departure(let user): depart(user, now)
      case .presence(let user): sendLatePresence(user, now)
      }
    }
  }

  private mutating func endThrottle(_ key: EphemeralKey, _ now: Moment) {
    guard let room = room(of: key) else {
      throttles.remove(key)
      return
    }
    guard let value = throttles.due(key) else { return }
    broadcast(value, key, in: room)
    throttle(key, now)
  }

  private mutating func checkTyping(_ key: EphemeralKey, _ now: Moment) {
    guard room(of: key) != nil else {
      typers.remove(key)
      return
    }
    switch typers.due(key, now: now.monotonic) {
    case .later(let at): timers.insert(ShardTimer(at: at, kind: .typing(key)))
    case .expired: send(.typing(false), key, now)
    case .ended: break
    }
  }
}
