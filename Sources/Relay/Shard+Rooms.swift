import DequeModule
import HeapModule
import Wire

/// `rooms` and `activity`: what happens where a connection is not.
extension Shard {
  static let activityMilliseconds: Int64 = 1000
  /// Rows of a `rooms` answer for which the last entry is read.
  static let summaryLimit = 256

  mutating func askForRooms(_ index: Int) {
    sessions[index].awaitsReply = true
    ask(
      .belongings(
        session: id(of: index), user: sessions[index].user,
        listed: configuration.listed.map(\.room).filter { rightsAllowReading($0, index) }))
  }

  // MARK: - The answer

  /// The log's list. From here on activity is noted, so that nothing falls between the list and the
  /// first `activity`; it is told behind the answer.
  mutating func apply(
    _ belongings: [LogAnswer.Belonging], isComplete: Bool, to index: Int
  ) {
    let extras = extras(of: index)
    extras.watchesRooms = true
    let belongings = belongings.filter { rightsAllowReading($0.room, index) }
    for belonging in belongings where belonging.belongs {
      watch(belonging.room, unread: belonging.unread, index)
    }
    var summaries = belongings.map { summary($0, of: sessions[index].user) }
    // The unread ones come first, since what does not fit is left out.
    summaries.sort { ($0.unread > 0 ? 0 : 1, $0.room) < ($1.unread > 0 ? 0 : 1, $1.room) }
    extras.summariesAreComplete = isComplete && summaries.count <= Self.summaryLimit
    extras.summaries = Array(summaries.prefix(Self.summaryLimit))
    let peers = extras.summaries.compactMap(\.peer).filter { presence(of: $0) == .offline }
    reads.append(.lastSeen(id(of: index), peers, for: .rooms))
  }

  /// It is known when those were there who are not; what was last said is next.
  mutating func answerRoomsSeen(_ seen: [String: Int64], _ index: Int) {
    guard let extras = sessions[index].extras else { return }
    for (place, summary) in extras.summaries.enumerated() {
      guard let peer = summary.peer else { continue }
      extras.summaries[place].lastSeen = seen[peer]
    }
    reads.append(
      .lasts(id(of: index), extras.summaries.map { ($0.room, $0.head) }))
  }

  private func summary(
    _ belonging: LogAnswer.Belonging, of user: String
  ) -> ServerMessage.RoomSummary {
    let title = configuration.listed.first { $0.room == belonging.room }?.title
    var summary = ServerMessage.RoomSummary(
      room: belonging.room, title: title ?? belonging.room, head: belonging.head,
      read: belonging.read, unread: belonging.unread, listed: title != nil, peer: nil, last: nil)
    if let peers = RoomName.peers(of: belonging.room) {
      let peer = peers.0 == user ? peers.1 : peers.0
      let profile = profile(of: peer)
      summary.peer = peer
      summary.title = profile?.name ?? peer
      summary.avatar = profile?.avatar
    }
    return summary
  }

  /// The last entries are there: the answer is complete.
  mutating func answerRooms(_ lasts: [[UInt8]?], _ index: Int, _ now: Moment) {
    guard let extras = sessions[index].extras else { return }
    var included: [ServerMessage.RoomSummary] = []
    var bytes = 0
    for (place, summary) in extras.summaries.enumerated() {
      var summary = summary
      if place < lasts.count, let json = lasts[place] {
        summary.last = try? Entry(decoding: json.span)
      }
      summary.presence = summary.peer.map(presence)
      scratch.removeAll(keepingCapacity: true)
      summary.append(to: &scratch)
      bytes += scratch.count + 1
      if bytes > Self.replyBytes, !included.isEmpty {
        extras.summariesAreComplete = false
        break
      }
      included.append(summary)
    }
    for row in included {
      if let peer = row.peer { watch(peer, lastSeen: row.lastSeen, index) }
    }
    extras.summaries = []
    sessions[index].awaitsReply = false
    reply(.rooms(included, more: !extras.summariesAreComplete), to: index)
  }

  // MARK: - Watching

  mutating func watch(_ name: String, unread: Int64, _ index: Int) {
    let room = room(named: name)
    extras(of: index).watched.insert(room)
    let isJoined = subscription(of: index, toRoom: room).map {
      subscriptions[Int($0)].isJoined
    }
    // Asking once more for `rooms` does not make activity come more often.
    let earlier = rooms[Int(room)].watchers[Int32(index)]
    rooms[Int(room)].watchers[Int32(index)] = Room.Watcher(
      generation: sessions[index].generation, unread: unread, isJoined: isJoined ?? false,
      nextAt: earlier?.nextAt ?? 0, isPending: earlier?.isPending ?? false)
  }

  /// A user came to belong to a room, or no longer does.
  mutating func apply(_ change: Commit.MembershipChange) {
    forEachSession(of: change.user) { shard, session in
      guard shard.sessions[Int(session)].extras?.watchesRooms == true else { return }
      if change.belongs {
        // Who may send to a room need not be allowed to read it.
        guard shard.rightsAllowReading(change.room, Int(session)) else { return }
        shard.watch(change.room, unread: change.unread, Int(session))
      } else if let room = shard.roomIndices[change.room] {
        shard.unwatch(room, Int(session))
      }
    }
  }

  mutating func unwatch(_ room: Int32, _ index: Int) {
    sessions[index].extras?.watched.remove(room)
    rooms[Int(room)].watchers[Int32(index)] = nil
    releaseIfUnused(room)
  }

  // MARK: - Telling

  /// Something new is in the room.
  mutating func tellActivity(in room: Int32, _ now: Moment) {
    guard !rooms[Int(room)].watchers.isEmpty else { return }
    for (session, watcher) in rooms[Int(room)].watchers
    where !watcher.isJoined && !watcher.isPending {
      if now.monotonic >= watcher.nextAt {
        rooms[Int(room)].watchers[session]?.nextAt = now.monotonic + Self.activityMilliseconds
        emitActivity(in: room, to: Int(session))
      } else {
        rooms[Int(room)].watchers[session]?.isPending = true
        timers.insert(
          ShardTimer(
            at: watcher.nextAt,
            kind: .activity(
              room: room, SessionID(index: session, generation: watcher.generation))))
      }
    }
  }

  mutating func tellLateActivity(in room: Int32, to id: SessionID, _ now: Moment) {
    guard isCurrent(id), let watcher = rooms[Int(room)].watchers[id.index], watcher.isPending,
      watcher.generation == id.generation
    else { return }
    rooms[Int(room)].watchers[id.index]?.isPending = false
    rooms[Int(room)].watchers[id.index]?.nextAt = now.monotonic + Self.activityMilliseconds
    if !watcher.isJoined { emitActivity(in: room, to: Int(id.index)) }
  }

  private mutating func emitActivity(in room: Int32, to index: Int) {
    encodeActivity(in: room, to: index)
    emit(key(.activity, room, ""), to: index)
  }

  /// Lays what the session is to be told of the room into `frame`.
  mutating func encodeActivity(in room: Int32, to index: Int) {
    let state = rooms[Int(room)]
    var last = state.last[...]
    if let newest = state.tail.last {
      let frames = newest.commit.frames
      last = frames.payload(newest.commit.spans[Int(newest.span)].frames.upperBound - 1)
    }
    let activity = ServerMessage.Activity(
      room: state.name, head: state.head,
      // Of what was not read, some may no longer be kept.
      unread: min(
        state.watchers[Int32(index)]?.unread ?? 0, state.head - state.firstKept + 1), last: nil)
    scratch.removeAll(keepingCapacity: true)
    activity.append(to: &scratch, last: last)
    frameScratch()
  }
}
