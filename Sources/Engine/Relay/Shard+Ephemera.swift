import HeapModule
import Wire

/// Receipts, typing and audiences: of each only the latest counts, so that a flood of them costs a
/// bounded number of messages, and a client that does not read a bounded amount of memory.
extension Shard {
  static let throttleMilliseconds: Int64 = 100
  static let typingMilliseconds: Int64 = 6000
  /// Keys that may wait for a client that does not read; further ones are dropped. Their next
  /// change, or the next join, tells the client again.
  static let waitingLimit = 512

  func key(_ kind: EphemeralKey.Kind, _ room: Slot<Room>, _ user: String) -> EphemeralKey {
    EphemeralKey(kind: kind, room: Link(room), generation: rooms[room].generation, user: user)
  }

  /// The room that a key is about; `nil` if it has gone meanwhile.
  private func room(of key: EphemeralKey) -> Slot<Room>? {
    guard let room = key.room.slot, rooms.contains(room), rooms[room].generation == key.generation
    else { return nil }
    return room
  }

  mutating func apply(_ change: Commit.MarkChange, _ now: Moment) {
    guard let room = roomIndices[change.room] else { return }
    if let node = watchedRoom(of: change.marks.user, room) {
      watchedRooms[node].unread = change.unread
      watchedRooms[node].read = change.marks.read
    }
    tell(
      .receipt(change.marks, toOthers: change.members <= SequencedRoom.memberListLimit),
      key(.receipt, room, change.marks.user), now)
  }

  mutating func apply(_ change: Commit.TypingChange, _ now: Moment) {
    guard let room = roomIndices[change.room] else { return }
    let key = key(.typing, room, change.user)
    if change.on {
      let until = now.monotonic + Self.typingMilliseconds
      if typers.updateValue(Typer(until: until, isTyping: true), forKey: key) == nil {
        timers.insert(ShardTimer(at: until, kind: .typing(key)))
      }
    } else {
      typers[key]?.isTyping = false
    }
    tell(.typing(change.on), key, now)
  }

  mutating func apply(_ change: Commit.AudienceChange, _ now: Moment) {
    guard let room = roomIndices[change.room] else { return }
    tell(
      .subscribers(change.subscribers), key(.subscribers, room, ""), now)
  }

  /// A new entry ends its sender's typing, without a word; it moves the sender's marks, and is new to
  /// everybody else.
  mutating func noteSenders(_ commit: Commit, _ span: Commit.RoomSpan, in room: Slot<Room>) {
    let watched = !rooms[room].watchers.isEmpty
    guard watched || !typers.isEmpty else { return }
    if watched {
      let new = commit.contents(of: span.frames)
      for place in rooms[room].watchers.indices {
        let node = rooms[room].watchers[place]
        if watchedRooms[node].belongs { watchedRooms[node].unread += new }
        moveToFront(node, lastAt: span.lastAt)
      }
    }
    for frame in span.frames {
      let user = commit.senders[frame]
      if !typers.isEmpty {
        let key = self.key(.typing, room, user)
        if typers[key]?.isTyping == true {
          typers[key]?.isTyping = false
          throttles[key]?.value = nil
        }
      }
      if watched {
        guard let node = watchedRoom(of: user, room) else { continue }
        watchedRooms[node].unread = commit.contents(of: frame + 1..<span.frames.upperBound)
        watchedRooms[node].read = span.firstSeq + Int64(frame - span.frames.lowerBound)
      }
    }
  }

  // MARK: - At most so often

  private mutating func tell(_ value: EphemeralValue, _ key: EphemeralKey, _ now: Moment) {
    guard throttles[key] == nil else {
      throttles[key]?.value = value
      return
    }
    if let room = room(of: key) { broadcast(value, key, in: room) }
    throttles[key] = Throttle()
    timers.insert(
      ShardTimer(at: now.monotonic + Self.throttleMilliseconds, kind: .throttle(key)))
  }

  /// Lays the message into `frame`.
  private mutating func encode(
    _ value: EphemeralValue, _ key: EphemeralKey, in room: Slot<Room>
  ) {
    let name = rooms[room].name
    scratch.removeAll(keepingCapacity: true)
    switch value {
    case .receipt(let marks, _): ServerMessage.receipt(room: name, marks).append(to: &scratch)
    case .typing(let on):
      ServerMessage.typing(room: name, user: key.user, on: on).append(to: &scratch)
    case .subscribers(let count):
      ServerMessage.subscribers(room: name, count: count).append(to: &scratch)
    }
    frameScratch()
  }

  /// Lays the message in `scratch` into `frame`.
  mutating func frameScratch() {
    frame.removeAll(keepingCapacity: true)
    framing.appendHeader(scratch.count, &frame)
    frame.append(contentsOf: scratch)
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
    isTold(ofRoom: room, session)
      || subscription(of: session, toRoom: room).map { subscriptions[$0].place != nil } == true
  }

  /// Whether the session is told of a room that its user belongs to, since it asked for `rooms`.
  private func isTold(ofRoom room: Slot<Room>, _ session: Slot<Session>) -> Bool {
    guard sessions[session].extras?.watchesRooms == true,
      let node = watchedRoom(of: sessions[session].user, room)
    else { return false }
    return watchedRooms[node].belongs && rightsAllowReading(rooms[room].name, session)
  }

  /// Those who have joined, and in a dm the peer's connections that asked for `rooms`.
  private mutating func broadcastToOthers(_ key: EphemeralKey, in room: Slot<Room>) {
    for subscription in rooms[room].subscribers {
      let session = subscriptions[subscription].session
      if sessions[session].user != key.user { emit(key, to: session) }
    }
    guard RoomName.isDirect(rooms[room].name) else { return }
    for place in rooms[room].watchers.indices {
      let watched = watchedRooms[rooms[room].watchers[place]]
      let user = watches[watched.watch].user
      guard user != key.user else { continue }
      forEachSession(of: user) { shard, session in
        if shard.wantsActivity(watched, session) { shard.emit(key, to: session) }
      }
    }
  }

  /// Hands `frame` to a session, or lets it wait in place of an older one.
  mutating func emit(_ key: EphemeralKey, to index: Slot<Session>) {
    guard !sessions[index].isClosing else { return }
    if !sessions[index].isBlocked, !sessions[index].awaitsReply,
      sessions[index].queuedBytes < Self.pageBytes
    {
      sessions[index].outbox.append(contentsOf: frame)
      counters.ephemera += 1
      markDirty(index)
      return
    }
    wait(key, for: index)
  }

  /// Keeps `frame`, or where it can be made again later, that there is something to tell.
  private mutating func wait(_ key: EphemeralKey, for index: Slot<Session>) {
    let extras = extras(of: index)
    switch key.kind {
    case .activity, .typing, .presence: extras.ephemera[key] = []
    case .receipt, .subscribers:
      if extras.ephemera[key] != nil || extras.ephemera.count < Self.waitingLimit {
        extras.ephemera[key] = frame
      }
    }
  }

  /// The session reads again: what waited goes out.
  mutating func noteDrained(_ index: Slot<Session>) {
    guard let extras = sessions[index].extras, !extras.ephemera.isEmpty,
      !sessions[index].awaitsReply, sessions[index].queuedBytes == 0
    else { return }
    var waiting = extras.ephemera
    extras.ephemera = [:]
    for key in waiting.keys.sorted() {
      // The rest waits until this is out.
      guard sessions[index].queuedBytes < Self.pageBytes else { break }
      let kept = waiting.removeValue(forKey: key)
      guard let kept else { continue }
      if key.kind == .presence {
        if encodePresence(of: key.user, to: index) {
          sessions[index].outbox.append(contentsOf: frame)
          counters.ephemera += 1
        }
        continue
      }
      guard let room = room(of: key), mayTell(key, in: room, index) else { continue }
      frame = kept
      if key.kind == .activity, let node = watchedRoom(of: sessions[index].user, room) {
        encodeActivity(node)
      }
      if key.kind == .typing { encode(.typing(typers[key]?.isTyping == true), key, in: room) }
      sessions[index].outbox.append(contentsOf: frame)
      counters.ephemera += 1
    }
    extras.ephemera = waiting
    markDirty(index)
  }

  /// What waited may have become somebody else's business: of a room that was left nothing is told.
  private func mayTell(
    _ key: EphemeralKey, in room: Slot<Room>, _ index: Slot<Session>
  ) -> Bool {
    let isWatching = isTold(ofRoom: room, index)
    let joined = subscription(of: index, toRoom: room).map { subscriptions[$0] }
    let hasJoined = joined?.isJoined == true
    switch key.kind {
    case .activity: return isWatching && !hasJoined
    case .subscribers: return hasJoined && joined?.wantsSubscribers == true
    case .receipt, .typing:
      let isPeer =
        RoomName.isDirect(rooms[room].name) || key.user == sessions[index].user
      return hasJoined || isWatching && isPeer
    case .presence: return true
    }
  }

  // MARK: - Timers

  /// When the next turn is due without any event, in microseconds of the monotonic clock.
  /// `mutating` as `hasOutput` is.
  public mutating func nextWake() -> Int64? { wake }

  /// As `nextWake`, in milliseconds.
  public var nextDeadline: Int64? { wake.map { ($0 + 999) / 1000 } }

  private var wake: Int64? {
    let timer = timers.min.map { $0.at * 1000 }
    guard let delivery = nextDelivery else { return timer }
    return min(delivery, timer ?? .max)
  }

  /// How much is to be done later.
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
      case .throttle(let key):
        guard let value = throttles[key]?.value, let room = room(of: key) else {
          throttles[key] = nil
          continue
        }
        broadcast(value, key, in: room)
        throttles[key]?.value = nil
        timers.insert(
          ShardTimer(at: now.monotonic + Self.throttleMilliseconds, kind: .throttle(key)))
      case .typing(let key):
        guard let typer = typers[key], typer.isTyping, room(of: key) != nil else {
          typers[key] = nil
          continue
        }
        if typer.until > now.monotonic {
          timers.insert(ShardTimer(at: typer.until, kind: .typing(key)))
        } else {
          typers[key] = nil
          tell(.typing(false), key, now)
        }
      case .activity(let node, let generation): tellLateActivity(node, generation, now)
      case .expiry(let id): checkExpiry(id, now)
      case .departure(let user): depart(user, now)
      case .presence(let watched, let generation):
        tellLatePresence(ofWatched: watched, generation, now)
      }
    }
  }
}
