import HeapModule
import Wire

/// `rooms`, a page at a time, and `activity`: news of rooms that a connection has not joined.
extension Shard {
  static let activityMilliseconds: Int64 = 1000
  /// The number of rooms that one page looks at, including those that a token does not allow to
  /// read: a list with few readable rooms has short pages.
  private static let scanLimit = 2048

  // MARK: - A page

  /// Starts to answer `rooms`. Activity is noted from here on, so that none falls between the list
  /// and the first `activity`; it is sent after the answer.
  mutating func askForRooms(
    _ request: ClientMessage.RoomsRequest, ref: String?, _ session: Slot<Session>
  ) {
    if let cursor = request.cursor, RoomsCursor(cursor) == nil {
      reply(.badCursor(re: .rooms), ref: ref, to: session)
      return
    }
    beginWatching(session)
    guard let watch = lists.find(sessions[session].user) else { return }
    sessions.extras(of: session).roomsRequest = request
    awaitReply(ref: ref, session)
    switch lists.users[watch].state {
    case .idle: beginLoading(watch)
    case .loading: break
    case .loaded: passLog(session)
    }
  }

  /// Sends the log a request for nothing: after its answer, the list has everything that was
  /// acknowledged on any loop before the client asked.
  mutating func passLog(_ session: Slot<Session>) {
    let ticket = loads.nextTicket()
    sessions.extras(of: session).roomsTicket = ticket
    log.append(
      .memberships(
        ticket: ticket, user: sessions[session].user, listed: [], after: .start, limit: 0))
  }

  /// Continues after the request's cursor, or starts at the front.
  mutating func beginPaging(_ request: ClientMessage.RoomsRequest, _ session: Slot<Session>) {
    guard let watch = lists.find(sessions[session].user) else { return }
    let extras = sessions.extras(of: session)
    let cursor = request.cursor.flatMap { RoomsCursor($0) }
    if cursor == nil || extras.paging?.number != cursor?.number {
      endPaging(session)
      let next = cursor.map {
        lists.place(
          after: rooms.find($0.room), lastAt: $0.lastAt, watch, scanLimit: Self.scanLimit)
      }
      extras.paging = RoomsPaging(next: next ?? lists.users[watch].newest)
      lists.users[watch].pagings += 1
    }
    makePage(request.limit, session)
  }

  private mutating func makePage(_ limit: Int, _ session: Slot<Session>) {
    let extras = sessions.extras(of: session)
    guard var paging = extras.paging else { return }
    var page: [Slot<WatchedRoom>] = []
    var scanned = 0
    while page.count < limit, scanned < Self.scanLimit {
      let node: Slot<WatchedRoom>
      if let missed = paging.missed.popLast() {
        node = missed
      } else if let next = paging.next.slot {
        node = next
        paging.next = lists.rooms[node].older
      } else {
        break
      }
      scanned += 1
      if rightsAllowReading(rooms[lists.rooms[node].room].name, session) {
        page.append(node)
      }
    }
    paging.page = page
    extras.paging = paging
    let user = sessions[session].user
    extras.summaries = page.map { summary(lists.rooms[$0], of: user) }
    sessions[session].awaitsReply = true
    let peers = extras.summaries.compactMap(\.peer).filter { presence(of: $0) == .offline }
    reads.append(.lastSeen(sessions.id(of: session), peers, for: .rooms))
  }

  /// Takes the times at which offline peers were last online; the last entries are read next.
  mutating func answerRoomsSeen(_ seen: [String: Int64], _ session: Slot<Session>) {
    guard let extras = sessions[session].extras else { return }
    for (place, summary) in extras.summaries.enumerated() {
      guard let peer = summary.peer else { continue }
      extras.summaries[place].lastSeen = seen[peer]
    }
    reads.append(
      .lastEntries(sessions.id(of: session), extras.summaries.map { ($0.room, $0.head) }))
  }

  private func summary(_ watched: WatchedRoom, of user: String) -> ServerMessage.RoomSummary {
    let room = rooms[watched.room]
    let title = listedTitles[room.name]
    var summary = ServerMessage.RoomSummary(
      room: room.name, title: title ?? room.name, head: room.head, read: watched.read,
      unread: 0, listed: title != nil, peer: nil, last: nil)
    (summary.unread, summary.unreadMore) = unread(watched)
    if let peer = RoomName.peer(in: room.name, of: user) {
      let profile = people.profile(of: peer)
      summary.peer = peer
      summary.title = profile?.name ?? peer
      summary.avatar = profile?.avatar
    }
    return summary
  }

  /// The number of unread entries that are still kept.
  private func unread(_ watched: WatchedRoom) -> (count: Int64, isMore: Bool) {
    let room = rooms[watched.room]
    let kept = room.head - room.firstKept + 1
    let unread = watched.unread
    return (max(0, min(unread.count, kept)), unread.isMore && unread.count < kept)
  }

  /// Takes the last entries, which complete the answer.
  mutating func answerRooms(
    _ lastEntries: [[UInt8]?], _ session: Slot<Session>, _ now: Moment
  ) {
    guard let extras = sessions[session].extras, var paging = extras.paging else { return }
    var included: [ServerMessage.RoomSummary] = []
    var bytes = 0
    for (place, summary) in extras.summaries.enumerated() {
      var summary = summary
      if place < lastEntries.count, let json = lastEntries[place] {
        summary.last = try? Entry(decoding: json.span)
      }
      summary.presence = summary.peer.map { presence(of: $0) }
      bytes += encoder.length { summary.append(to: &$0) } + 1
      if bytes > Self.replyBytes || place >= lastEntries.count, !included.isEmpty {
        // What does not fit, or has no last entry, is on the next page.
        paging.missed += paging.page[place...].compactMap { $0 }.reversed()
        break
      }
      included.append(summary)
    }
    for row in included {
      if let peer = row.peer {
        presenceNews.watch(peer, lastSeen: row.lastSeen, session, in: self)
      }
    }
    let last = paging.page.prefix(included.count).compactMap { $0 }.last
    paging.page = []
    extras.summaries = []
    var next: String?
    if paging.isAtEnd {
      endPaging(session)
    } else {
      paging.number = max(1, random.next() >> 11)
      extras.paging = paging
      next =
        RoomsCursor(
          number: paging.number, lastAt: last.map { lists.rooms[$0].lastAt } ?? 0,
          room: included.last?.room ?? "-"
        ).text
    }
    reply(.rooms(included, next: next), ref: endReply(to: session), to: session)
  }

  // MARK: - Activity

  /// Sends `activity` for a room with new entries, or schedules it.
  mutating func sendActivity(in room: Slot<Room>, _ now: Moment) {
    for place in rooms[room].watchers.indices {
      let node = rooms[room].watchers[place]
      let watched = lists.rooms[node]
      guard watched.belongs, !watched.isPending,
        watched.joined < lists.users[watched.watch].sessions
      else { continue }
      if now.monotonic >= watched.nextAt {
        lists.rooms[node].nextAt = now.monotonic + Self.activityMilliseconds
        sendActivity(node)
      } else {
        lists.rooms[node].isPending = true
        timers.insert(
          ShardTimer(at: watched.nextAt, kind: .activity(lists.rooms.handle(node))))
      }
    }
  }

  mutating func sendLateActivity(_ node: Handle<WatchedRoom>, _ now: Moment) {
    guard lists.rooms.contains(node), lists.rooms[node.slot].isPending else { return }
    lists.rooms[node.slot].isPending = false
    lists.rooms[node.slot].nextAt = now.monotonic + Self.activityMilliseconds
    if lists.rooms[node.slot].belongs { sendActivity(node.slot) }
  }

  private mutating func sendActivity(_ node: Slot<WatchedRoom>) {
    let watched = lists.rooms[node]
    encodeActivity(node)
    let key = EphemeralKey(.activity, rooms.handle(watched.room), "")
    forEachSession(of: lists.users[watched.watch].user) { shard, session in
      if shard.wantsActivity(watched, session) { shard.inform(session, key) }
    }
  }

  /// Whether the connection requested `rooms`, has not joined this one, and may be informed of it.
  func wantsActivity(_ watched: WatchedRoom, _ session: Slot<Session>) -> Bool {
    sessions[session].extras?.watchesRooms == true && watched.belongs
      && (watched.joined == 0 || !hasJoined(watched.room, session))
      // A user who may send to a room is not always allowed to read it.
      && rightsAllowReading(rooms[watched.room].name, session)
  }

  /// Encodes the activity of a watched room for a session that reads again.
  mutating func encodeActivity(_ key: EphemeralKey, _ session: Slot<Session>) {
    if let room = key.room, let node = lists.find(sessions[session].user, room.slot) {
      encodeActivity(node)
    }
  }

  private mutating func encodeActivity(_ node: Slot<WatchedRoom>) {
    let watched = lists.rooms[node]
    let room = rooms[watched.room]
    let last = room.tail.lastEntry ?? room.last[...]
    let unread = unread(watched)
    let activity = ServerMessage.Activity(
      room: room.name, head: room.head, unread: unread.count, unreadMore: unread.isMore, last: nil)
    encoder.encode { activity.append(to: &$0, last: last) }
  }
}
