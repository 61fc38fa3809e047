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

  func key(_ kind: EphemeralKey.Kind, _ room: Int32, _ user: String) -> EphemeralKey {
    EphemeralKey(kind: kind, room: room, generation: rooms[Int(room)].generation, user: user)
  }

  mutating func apply(_ change: Commit.MarkChange, _ now: Moment) {
    guard let room = roomIndices[change.room] else { return }
    if let node = watchedRoom(of: change.marks.user, room) {
      watchedRooms[Int(node)].unread = change.unread
      watchedRooms[Int(node)].read = change.marks.read
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
  mutating func noteSenders(_ commit: Commit, _ span: Commit.RoomSpan, in room: Int32) {
    let watched = !rooms[Int(room)].watchers.isEmpty
    guard watched || !typers.isEmpty else { return }
    if watched {
      let new = commit.contents(of: span.frames)
      for place in rooms[Int(room)].watchers.indices {
        let node = rooms[Int(room)].watchers[place]
        if watchedRooms[Int(node)].belongs { watchedRooms[Int(node)].unread += new }
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
        watchedRooms[Int(node)].unread = commit.contents(of: frame + 1..<span.frames.upperBound)
        watchedRooms[Int(node)].read = span.firstSeq + Int64(frame - span.frames.lowerBound)
      }
    }
  }

  // MARK: - At most so often

  private mutating func tell(_ value: EphemeralValue, _ key: EphemeralKey, _ now: Moment) {
    guard throttles[key] == nil else {
      throttles[key]?.value = value
      return
    }
    broadcast(value, key)
    throttles[key] = Throttle()
    timers.insert(
      ShardTimer(at: now.monotonic + Self.throttleMilliseconds, kind: .throttle(key)))
  }

  /// Lays the message into `frame`.
  private mutating func encode(_ value: EphemeralValue, _ key: EphemeralKey) {
    let name = rooms[Int(key.room)].name
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

  private mutating func broadcast(_ value: EphemeralValue, _ key: EphemeralKey) {
    let room = Int(key.room)
    encode(value, key)
    switch value {
    case .receipt(_, let toOthers):
      forEachSession(of: key.user) { shard, session in
        if shard.concerns(Int(session), key.room) { shard.emit(key, to: Int(session)) }
      }
      if toOthers {
        broadcastToOthers(key)
      }
    case .typing: broadcastToOthers(key)
    case .subscribers:
      for subscription in rooms[room].subscribers
      where subscriptions[Int(subscription)].wantsSubscribers {
        emit(key, to: Int(subscriptions[Int(subscription)].session))
      }
    }
  }

  /// Whether the session has joined the room or watches it.
  private func concerns(_ session: Int, _ room: Int32) -> Bool {
    isTold(ofRoom: room, session)
      || subscription(of: session, toRoom: room).map { subscriptions[Int($0)].place >= 0 } == true
  }

  /// Whether the session is told of a room that its user belongs to, since it asked for `rooms`.
  private func isTold(ofRoom room: Int32, _ session: Int) -> Bool {
    guard sessions[session].extras?.watchesRooms == true,
      let node = watchedRoom(of: sessions[session].user, room)
    else { return false }
    return watchedRooms[Int(node)].belongs && rightsAllowReading(rooms[Int(room)].name, session)
  }

  /// Those who have joined, and in a dm the peer's connections that asked for `rooms`.
  private mutating func broadcastToOthers(_ key: EphemeralKey) {
    let room = Int(key.room)
    for subscription in rooms[room].subscribers {
      let session = Int(subscriptions[Int(subscription)].session)
      if sessions[session].user != key.user { emit(key, to: session) }
    }
    guard RoomName.isDirect(rooms[room].name) else { return }
    for place in rooms[room].watchers.indices {
      let watched = watchedRooms[Int(rooms[room].watchers[place])]
      let user = watches[Int(watched.watch)].user
      guard user != key.user else { continue }
      forEachSession(of: user) { shard, session in
        if shard.wantsActivity(watched, Int(session)) { shard.emit(key, to: Int(session)) }
      }
    }
  }

  /// Hands `frame` to a session, or lets it wait in place of an older one.
  mutating func emit(_ key: EphemeralKey, to index: Int) {
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
  private mutating func wait(_ key: EphemeralKey, for index: Int) {
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
  mutating func noteDrained(_ index: Int) {
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
      guard rooms[Int(key.room)].generation == key.generation, mayTell(key, index) else { continue }
      frame = kept
      if key.kind == .activity, let node = watchedRoom(of: sessions[index].user, key.room) {
        encodeActivity(node)
      }
      if key.kind == .typing { encode(.typing(typers[key]?.isTyping == true), key) }
      sessions[index].outbox.append(contentsOf: frame)
      counters.ephemera += 1
    }
    extras.ephemera = waiting
    markDirty(index)
  }

  /// What waited may have become somebody else's business: of a room that was left nothing is told.
  private func mayTell(_ key: EphemeralKey, _ index: Int) -> Bool {
    let isWatching = isTold(ofRoom: key.room, index)
    let joined = subscription(of: index, toRoom: key.room).map { subscriptions[Int($0)] }
    let hasJoined = joined?.isJoined == true
    switch key.kind {
    case .activity: return isWatching && !hasJoined
    case .subscribers: return hasJoined && joined?.wantsSubscribers == true
    case .receipt, .typing:
      let isPeer =
        RoomName.isDirect(rooms[Int(key.room)].name) || key.user == sessions[index].user
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
        if isCurrent(id) { markDirty(Int(id.index)) }
      case .throttle(let key):
        guard let value = throttles[key]?.value, rooms[Int(key.room)].generation == key.generation
        else {
          throttles[key] = nil
          continue
        }
        broadcast(value, key)
        throttles[key]?.value = nil
        timers.insert(
          ShardTimer(at: now.monotonic + Self.throttleMilliseconds, kind: .throttle(key)))
      case .typing(let key):
        guard let typer = typers[key], typer.isTyping,
          rooms[Int(key.room)].generation == key.generation
        else {
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
