import Wire

/// What features see of a shard.
extension Shard: Audience {
  func room(named name: String) -> Handle<Room>? { rooms.find(name).map { rooms.handle($0) } }

  func name(of room: Handle<Room>?) -> String? {
    guard let room, rooms.contains(room) else { return nil }
    return rooms[room.slot].name
  }

  func id(of session: Slot<Session>) -> SessionID { sessions.id(of: session) }

  func user(of session: Slot<Session>) -> String { sessions[session].user }

  func presence(of user: String) -> Presence { sessions.overallPresence(of: user) }

  func presence(of user: String, to session: Slot<Session>) -> Presence {
    separation(of: user, session) == nil ? sessions.overallPresence(of: user) : .offline
  }

  func separation(of user: String, _ session: Slot<Session>) -> Int64? {
    blocks.table.separation(of: user, sessions[session].user)
  }

  func hasSubscribed(to room: String, _ session: Slot<Session>) -> Bool {
    subscription(of: session, to: room) != nil
  }

  mutating func submit(_ request: LogRequest) { log.append(request) }

  mutating func read(_ request: ReadRequest) { reads.append(request) }

  mutating func awaitReply(ref: String?, _ session: Slot<Session>) {
    sessions[session].awaitsReply = true
    if ref != nil || sessions[session].extras != nil {
      sessions.extras(of: session).replyRef = ref
    }
  }

  mutating func endReply(to session: Slot<Session>) -> String? {
    sessions[session].awaitsReply = false
    defer { sessions[session].extras?.replyRef = nil }
    return sessions[session].extras?.replyRef
  }

  mutating func length(_ write: (inout [UInt8]) -> Void) -> Int { encoder.length(write) }

  mutating func encode(_ message: ServerMessage) { encoder.encode { message.append(to: &$0) } }

  mutating func inform(_ recipients: Recipients, _ key: EphemeralKey) {
    guard let handle = key.room, rooms.contains(handle) else { return }
    let room = handle.slot
    switch recipients {
    case .others: informOthers(key, in: room)
    case .other(let user):
      let isDirect = RoomName.isDirect(rooms[room].name)
      forEachSession(of: user) { shard, session in
        if shard.hasPlace(session, in: room)
          || isDirect && shard.roomLists.isWatching(room, session, in: shard)
        {
          shard.inform(session, key)
        }
      }
    case .ownSessions:
      forEachSession(of: key.user) { shard, session in
        if shard.isConcerned(session, with: room) { shard.inform(session, key) }
      }
    case .counting:
      for subscription in rooms[room].subscribers
      where subscriptions[subscription].wantsSubscribers {
        inform(subscriptions[subscription].session, key)
      }
    }
  }

  private mutating func informOthers(_ key: EphemeralKey, in room: Slot<Room>) {
    for subscription in rooms[room].subscribers {
      let session = subscriptions[subscription].session
      if sessions[session].user != key.user, separation(of: key.user, session) == nil {
        inform(session, key)
      }
    }
    if RoomName.isDirect(rooms[room].name) { roomLists.informWatchers(of: room, key, in: &self) }
  }

  /// Whether the session has joined the room or watches it.
  private func isConcerned(_ session: Slot<Session>, with room: Slot<Room>) -> Bool {
    roomLists.isWatching(room, session, in: self) || hasPlace(session, in: room)
  }

  /// Whether the session gets what happens in the room: not before its `joined`.
  private func hasPlace(_ session: Slot<Session>, in room: Slot<Room>) -> Bool {
    subscription(of: session, toRoom: room).map { subscriptions[$0].place != nil } == true
  }

  // MARK: - One session

  /// Queues the encoded message for a session. If the session does not read, the message waits, in
  /// place of an earlier one of its key: a flood costs a bounded number of messages, and a client
  /// that does not read a bounded amount of memory.
  mutating func inform(_ session: Slot<Session>, _ key: EphemeralKey) {
    guard !sessions[session].isClosing else { return }
    guard !sessions[session].isBlocked, !sessions[session].awaitsReply,
      sessions[session].queuedBytes < Self.pageBytes
    else {
      wait(key, for: session)
      return
    }
    queueEncoded(session)
    markDirty(session)
  }

  private mutating func queueEncoded(_ session: Slot<Session>) {
    sessions[session].outbox.append(contentsOf: encoder.frame)
    counters.ephemera += 1
  }

  /// Keeps the encoded frame, or only its key if it can be built again later.
  private mutating func wait(_ key: EphemeralKey, for session: Slot<Session>) {
    let frame: [UInt8] =
      switch key.kind {
      case .activity, .typing, .presence, .blocks: []
      case .receipt, .subscribers: encoder.frame
      }
    let limits = configuration.limits
    let limit =
      switch key.kind {
      case .typing: limits.waitingTypingKeys
      // Many users may change in one turn, and a client that reads must not miss one of them: nothing
      // would tell it again.
      case .presence where !sessions[session].isBlocked:
        limits.waitingKeys + limits.waitingPresenceKeys
      case .presence, .receipt, .subscribers, .activity, .blocks: limits.waitingKeys
      }
    sessions.extras(of: session).ephemera.set(frame, for: key, limit: limit)
  }

  /// Queues what has waited for a session that reads again.
  mutating func queueWaiting(_ session: Slot<Session>) {
    guard let extras = sessions[session].extras, !extras.ephemera.isEmpty,
      !sessions[session].awaitsReply, sessions[session].queuedBytes == 0
    else { return }
    // The rest waits until these are written.
    while sessions[session].queuedBytes < Self.pageBytes,
      let (key, frame) = extras.ephemera.popFirst()
    {
      guard isRelevant(key, session) else { continue }
      switch key.kind {
      case .presence: presenceNews.encode(key.user, to: session, in: &self)
      case .blocks: blocks.encode(for: sessions[session].user, in: &self)
      case .activity: roomLists.encode(key, session, in: &self)
      case .typing: typing.encode(key, in: &self)
      case .receipt, .subscribers:
        sessions[session].outbox.append(contentsOf: frame)
        counters.ephemera += 1
        continue
      }
      queueEncoded(session)
    }
    markDirty(session)
  }

  /// Whether a message that has waited still concerns the session, which may have left the room.
  private func isRelevant(_ key: EphemeralKey, _ session: Slot<Session>) -> Bool {
    if key.kind == .blocks { return true }
    if key.kind == .presence { return presenceNews.isWatching(key.user, id(of: session)) }
    if key.user != sessions[session].user, separation(of: key.user, session) != nil { return false }
    guard let handle = key.room, rooms.contains(handle) else { return false }
    let room = handle.slot
    let isWatching = roomLists.isWatching(room, session, in: self)
    let joined = subscription(of: session, toRoom: room).map { subscriptions[$0] }
    let hasJoined = joined?.isJoined == true
    switch key.kind {
    // Without the last entry it is from before the user left the room for good, and came back: the
    // entry is kept for users who watch the room.
    case .activity:
      return isWatching && !hasJoined && !lastEntry(of: room, for: sessions[session].user).isEmpty
    case .subscribers: return hasJoined && joined?.wantsSubscribers == true
    case .receipt, .typing:
      let isPeer =
        RoomName.isDirect(rooms[room].name) || key.user == sessions[session].user
      return hasJoined || isWatching && isPeer
    case .presence, .blocks: return true
    }
  }
}

/// What the lists of rooms see besides.
extension Shard: ListsAudience {
  func name(of room: Slot<Room>) -> String { rooms[room].name }

  func handle(of room: Slot<Room>) -> Handle<Room> { rooms.handle(room) }

  func bounds(of room: Slot<Room>) -> RoomBounds {
    RoomBounds(head: rooms[room].head, firstKept: rooms[room].firstKept)
  }

  func lastEntry(of room: Slot<Room>, for user: String) -> ArraySlice<UInt8> {
    if rooms[room].hides(after: rooms[room].head - 1, from: user) { return [] }
    return rooms[room].tail.lastEntry ?? rooms[room].last[...]
  }

  mutating func update(_ room: String, head: Int64, firstKept: Int64) -> Slot<Room> {
    let room = rooms.findOrInsert(room)
    rooms[room].head = max(rooms[room].head, head)
    rooms[room].firstKept = max(rooms[room].firstKept, firstKept)
    return room
  }

  mutating func retain(_ room: Slot<Room>) { rooms[room].uses += 1 }

  mutating func release(_ room: Slot<Room>) {
    assert(rooms[room].uses > 0, "only what was retained is released")
    rooms[room].uses -= 1
    rooms.releaseIfUnused(room)
  }

  func asker(_ session: Slot<Session>, _ now: Moment) -> ReadRequest.Asker {
    ReadRequest.Asker(
      user: sessions[session].user, isOperator: sessions[session].isOperator,
      issuer: commonIssuer(of: session), now: now.wall)
  }

  func hasJoined(_ room: Slot<Room>, _ session: Slot<Session>) -> Bool {
    subscription(of: session, toRoom: room).map { subscriptions[$0].isJoined } ?? false
  }

  func joinedRooms(of session: Slot<Session>) -> [Slot<Room>] {
    subscriptions.slots(in: sessions[session].firstSubscription) { $0.isJoined }
      .map { subscriptions[$0].room }
  }

  mutating func encode(_ activity: ServerMessage.Activity, last: ArraySlice<UInt8>) {
    encoder.encode { activity.append(to: &$0, last: last) }
  }
}
