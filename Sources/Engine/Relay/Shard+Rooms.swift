import DequeModule
import HeapModule
import Wire

/// `rooms` and `activity`: what happens where a connection is not.
extension Shard {
  static let activityMilliseconds: Int64 = 1000
  /// So many rooms are looked at for one page, those that a token does not allow to read among them:
  /// what finds few has short pages, and a `next`.
  private static let scanLimit = 2048

  // MARK: - A page

  /// From here on activity is noted, so that nothing falls between the list and the first `activity`;
  /// it is told behind the answer.
  mutating func askForRooms(_ request: ClientMessage.RoomsRequest, _ index: Slot<Session>) {
    if let cursor = request.cursor, RoomsCursor(cursor) == nil {
      reply(.error(Self.badCursor(re: "rooms")), to: index)
      return
    }
    beginWatching(index)
    guard let watch = watchIndices[sessions[index].user] else { return }
    extras(of: index).roomsRequest = request
    sessions[index].awaitsReply = true
    switch watches[watch].state {
    case .idle: beginLoading(watch)
    case .loading: break
    case .loaded: passLog(index)
    }
  }

  /// Asks the log for nothing: behind the answer the list has everything that was acknowledged, on
  /// whatever loop, before the client asked.
  mutating func passLog(_ index: Slot<Session>) {
    watchTicket = watchTicket == .max ? 1 : watchTicket + 1
    extras(of: index).roomsTicket = watchTicket
    ask(
      .memberships(
        ticket: watchTicket, user: sessions[index].user, listed: [], after: .start, limit: 0))
  }

  /// Goes on where the cursor is from, or begins anew.
  mutating func beginPaging(_ request: ClientMessage.RoomsRequest, _ index: Slot<Session>) {
    guard let watch = watchIndices[sessions[index].user] else { return }
    let extras = extras(of: index)
    let cursor = request.cursor.flatMap { RoomsCursor($0) }
    if cursor == nil || extras.paging?.number != cursor?.number {
      endPaging(index)
      extras.paging = RoomsPaging(
        next: cursor.map { place(after: $0, watch) } ?? watches[watch].newest)
      watches[watch].pagings += 1
    }
    makePage(request.limit, index)
  }

  /// Where a cursor leads whose paging has gone: behind its room where that has not moved, and otherwise
  /// by time. What is beyond the bound comes once more, rather than not at all.
  private func place(
    after cursor: RoomsCursor, _ watch: Slot<UserWatch>
  ) -> Link<WatchedRoom> {
    if let room = roomIndices[cursor.room], let node = watches[watch].rooms[room],
      watchedRooms[node].lastAt == cursor.lastAt
    {
      return watchedRooms[node].older
    }
    var next = watches[watch].newest
    var looked = 0
    while let node = next.slot, watchedRooms[node].lastAt > cursor.lastAt,
      looked < Self.scanLimit
    {
      next = watchedRooms[node].older
      looked += 1
    }
    return next
  }

  private mutating func makePage(_ limit: Int, _ index: Slot<Session>) {
    let extras = extras(of: index)
    guard var paging = extras.paging else { return }
    var page: [Slot<WatchedRoom>] = []
    var looked = 0
    while page.count < limit, looked < Self.scanLimit {
      let node: Slot<WatchedRoom>
      if let missed = paging.missed.popLast() {
        node = missed
      } else if let next = paging.next.slot {
        node = next
        paging.next = watchedRooms[node].older
      } else {
        break
      }
      looked += 1
      if rightsAllowReading(rooms[watchedRooms[node].room].name, index) {
        page.append(node)
      }
    }
    paging.page = page
    extras.paging = paging
    extras.summaries = page.map { summary(watchedRooms[$0], of: sessions[index].user) }
    sessions[index].awaitsReply = true
    let peers = extras.summaries.compactMap(\.peer).filter { presence(of: $0) == .offline }
    reads.append(.lastSeen(id(of: index), peers, for: .rooms))
  }

  /// It is known when those were there who are not; what was last said is next.
  mutating func answerRoomsSeen(_ seen: [String: Int64], _ index: Slot<Session>) {
    guard let extras = sessions[index].extras else { return }
    for (place, summary) in extras.summaries.enumerated() {
      guard let peer = summary.peer else { continue }
      extras.summaries[place].lastSeen = seen[peer]
    }
    reads.append(
      .lastEntries(id(of: index), extras.summaries.map { ($0.room, $0.head) }))
  }

  private func summary(_ watched: WatchedRoom, of user: String) -> ServerMessage.RoomSummary {
    let room = rooms[watched.room]
    let title = listedTitles[room.name]
    var summary = ServerMessage.RoomSummary(
      room: room.name, title: title ?? room.name, head: room.head, read: watched.read,
      unread: unread(watched), listed: title != nil, peer: nil, last: nil)
    if let peers = RoomName.peers(of: room.name) {
      let peer = peers.0 == user ? peers.1 : peers.0
      let profile = profile(of: peer)
      summary.peer = peer
      summary.title = profile?.name ?? peer
      summary.avatar = profile?.avatar
    }
    return summary
  }

  /// Of what was not read, some may no longer be kept.
  private func unread(_ watched: WatchedRoom) -> Int64 {
    let room = rooms[watched.room]
    return max(0, min(watched.unread, room.head - room.firstKept + 1))
  }

  /// The last entries are there: the answer is complete.
  mutating func answerRooms(_ lastEntries: [[UInt8]?], _ index: Slot<Session>, _ now: Moment) {
    guard let extras = sessions[index].extras, var paging = extras.paging else { return }
    var included: [ServerMessage.RoomSummary] = []
    var bytes = 0
    for (place, summary) in extras.summaries.enumerated() {
      var summary = summary
      if place < lastEntries.count, let json = lastEntries[place] {
        summary.last = try? Entry(decoding: json.span)
      }
      summary.presence = summary.peer.map(presence)
      scratch.removeAll(keepingCapacity: true)
      summary.append(to: &scratch)
      bytes += scratch.count + 1
      if bytes > Self.replyBytes || place >= lastEntries.count, !included.isEmpty {
        // What does not fit, and that of which the last entry is not told, is the next to come.
        paging.missed += paging.page[place...].compactMap { $0 }.reversed()
        break
      }
      included.append(summary)
    }
    for row in included {
      if let peer = row.peer { watch(peer, lastSeen: row.lastSeen, index) }
    }
    let last = paging.page.prefix(included.count).compactMap { $0 }.last
    paging.page = []
    extras.summaries = []
    sessions[index].awaitsReply = false
    var next: String?
    if paging.isAtEnd {
      endPaging(index)
    } else {
      paging.number = max(1, random.next() >> 11)
      extras.paging = paging
      next =
        RoomsCursor(
          number: paging.number, lastAt: last.map { watchedRooms[$0].lastAt } ?? 0,
          room: included.last?.room ?? "-"
        ).text
    }
    reply(.rooms(included, next: next), to: index)
  }

  // MARK: - Activity

  /// Something new is in the room.
  mutating func tellActivity(in room: Slot<Room>, _ now: Moment) {
    for place in rooms[room].watchers.indices {
      let node = rooms[room].watchers[place]
      let watched = watchedRooms[node]
      guard watched.belongs, !watched.isPending,
        watched.joined < watches[watched.watch].sessions
      else { continue }
      if now.monotonic >= watched.nextAt {
        watchedRooms[node].nextAt = now.monotonic + Self.activityMilliseconds
        emitActivity(node)
      } else {
        watchedRooms[node].isPending = true
        timers.insert(
          ShardTimer(
            at: watched.nextAt, kind: .activity(node: node, generation: watched.generation)))
      }
    }
  }

  mutating func tellLateActivity(_ node: Slot<WatchedRoom>, _ generation: UInt32, _ now: Moment) {
    guard watchedRooms.contains(node), watchedRooms[node].generation == generation,
      watchedRooms[node].isPending
    else { return }
    watchedRooms[node].isPending = false
    watchedRooms[node].nextAt = now.monotonic + Self.activityMilliseconds
    if watchedRooms[node].belongs { emitActivity(node) }
  }

  private mutating func emitActivity(_ node: Slot<WatchedRoom>) {
    let watched = watchedRooms[node]
    encodeActivity(node)
    let key = key(.activity, watched.room, "")
    forEachSession(of: watches[watched.watch].user) { shard, session in
      if shard.wantsActivity(watched, session) { shard.emit(key, to: session) }
    }
  }

  /// Whether the connection asked for `rooms`, has not joined this one, and may be told of it.
  func wantsActivity(_ watched: WatchedRoom, _ session: Slot<Session>) -> Bool {
    sessions[session].extras?.watchesRooms == true && watched.belongs
      && (watched.joined == 0 || !hasJoined(watched.room, session))
      // Who may send to a room need not be allowed to read it.
      && rightsAllowReading(rooms[watched.room].name, session)
  }

  /// Lays what a user is to be told of the room into `frame`.
  mutating func encodeActivity(_ node: Slot<WatchedRoom>) {
    let watched = watchedRooms[node]
    let state = rooms[watched.room]
    var last = state.last[...]
    if let newest = state.tail.last {
      let frames = newest.commit.frames
      last = frames.payload(newest.commit.spans[Int(newest.span)].frames.upperBound - 1)
    }
    let activity = ServerMessage.Activity(
      room: state.name, head: state.head, unread: unread(watched), last: nil)
    scratch.removeAll(keepingCapacity: true)
    activity.append(to: &scratch, last: last)
    frameScratch()
  }
}
