import Wire

/// The lists of rooms of the users on this loop, and how they are loaded from the log.
extension Shard {
  /// The number of rooms for which the log is asked at a time; other requests have their turn in
  /// between.
  static let sliceLimit = 256
  /// A first load counts as one request for this many rooms.
  static let roomsPerRequest = 200

  // MARK: - Users

  /// Makes the session receive activity.
  mutating func beginWatching(_ session: Slot<Session>) {
    let extras = sessions.extras(of: session)
    guard !extras.watchesRooms else { return }
    extras.watchesRooms = true
    let watch = lists.findOrInsert(sessions[session].user)
    lists.users[watch].sessions += 1
    for index in joinedSubscriptions(session) {
      if let node = lists.users[watch].rooms[subscriptions[index].room] {
        lists.rooms[node].joined += 1
      }
    }
  }

  private func joinedSubscriptions(_ session: Slot<Session>) -> [Slot<Subscription>] {
    subscriptions.slots(in: sessions[session].firstSubscription) { $0.isJoined }
  }

  /// The session ends; with the user's last one, the list is removed.
  mutating func endWatching(_ session: Slot<Session>) {
    guard let extras = sessions[session].extras, extras.watchesRooms,
      let watch = lists.find(sessions[session].user)
    else { return }
    endPaging(session)
    extras.watchesRooms = false
    lists.users[watch].sessions -= 1
    guard lists.users[watch].sessions == 0 else { return }
    for (room, node) in lists.users[watch].rooms {
      lists.remove(node, watchers: &rooms[room].watchers)
      rooms.releaseIfUnused(room)
    }
    lists.remove(watch)
  }

  /// A subscription starts or ceases to count as joined.
  mutating func setJoined(_ index: Slot<Subscription>, _ isJoined: Bool) {
    let subscription = subscriptions[index]
    guard subscription.isJoined != isJoined else { return }
    subscriptions[index].isJoined = isJoined
    let session = subscription.session
    guard sessions[session].extras?.watchesRooms == true,
      let node = lists.find(sessions[session].user, subscription.room)
    else { return }
    lists.rooms[node].joined += isJoined ? 1 : -1
  }

  func hasJoined(_ room: Slot<Room>, _ session: Slot<Session>) -> Bool {
    subscription(of: session, toRoom: room).map { subscriptions[$0].isJoined } ?? false
  }

  // MARK: - The rooms of a user

  /// Adds a room to a user's list, or updates it.
  /// - Parameter joined: returns the number of the user's watching connections that have joined the
  ///   room; called only if the list does not have it.
  private mutating func put(
    _ membership: LogAnswer.Membership, on watch: Slot<UserWatch>,
    joined: (inout Shard, Slot<Room>) -> Int32
  ) {
    let room = rooms.findOrInsert(membership.room)
    rooms[room].head = max(rooms[room].head, membership.head)
    rooms[room].firstKept = max(rooms[room].firstKept, membership.first)
    let node: Slot<WatchedRoom>
    if let known = lists.users[watch].rooms[room] {
      node = known
    } else {
      node = lists.insert(room, on: watch, watchers: &rooms[room].watchers)
      let count = joined(&self, room)
      lists.rooms[node].joined = count
      if lists.users[watch].pagings > 0 { listLater(node) }
    }
    lists.rooms[node].belongs = membership.belongs
    lists.rooms[node].unread = membership.unread
    // As the log has it: a user who has left for good and come back has read nothing.
    lists.rooms[node].read = membership.read
    lists.rooms[node].lastAt = max(lists.rooms[node].lastAt, membership.lastAt)
  }

  /// A user became a member of a room or left it.
  mutating func updateList(with change: Commit.MembershipChange) {
    guard let watch = lists.find(change.user) else { return }
    if change.belongs {
      let membership = LogAnswer.Membership(
        room: change.room, belongs: true, head: change.head, read: change.read,
        unread: change.unread,
        first: change.first, lastAt: change.lastAt)
      put(membership, on: watch) { shard, room in shard.joinedCount(room, change.user) }
    } else if let room = rooms.find(change.room), let node = lists.users[watch].rooms[room] {
      lists.rooms[node].unread = Unread()
      lists.rooms[node].read = 0
      lists.rooms[node].belongs = false
      if listedTitles[change.room] == nil { remove(node) }
    }
  }

  /// A user's marks in a room have moved.
  mutating func updateList(with change: Commit.MarkChange) {
    guard let room = rooms.find(change.room), let node = lists.find(change.marks.user, room)
    else { return }
    lists.rooms[node].unread = change.unread
    lists.rooms[node].read = change.marks.read
  }

  /// Applies new entries to the lists that have the room: an entry is unread for all but its sender,
  /// whose marks it may move (as `MemberMarks.recordSend`).
  mutating func countUnread(_ commit: Commit, _ span: Commit.RoomSpan, in room: Slot<Room>) {
    guard !rooms[room].watchers.isEmpty else { return }
    let new = commit.contents(of: span.frames)
    for place in rooms[room].watchers.indices {
      let node = rooms[room].watchers[place]
      if lists.rooms[node].belongs { lists.rooms[node].unread.count += new }
      moveToFront(node, lastAt: span.lastAt)
    }
    // The last `seq` that the sender of the current entry did not send.
    var others = span.others
    for frame in span.frames {
      let user = commit.senders[frame]
      let seq = span.firstSeq + Int64(frame - span.frames.lowerBound)
      if frame > span.frames.lowerBound, commit.senders[frame - 1] != user { others = seq - 1 }
      guard let node = lists.find(user, room), lists.rooms[node].belongs else { continue }
      lists.rooms[node].unread.count -= commit.contents(of: frame..<frame + 1)
      if lists.rooms[node].read >= others {
        lists.rooms[node].read = max(lists.rooms[node].read, seq)
      }
    }
  }

  private mutating func joinedCount(_ room: Slot<Room>, _ user: String) -> Int32 {
    if rooms[room].uses == 0 { return 0 }
    var count: Int32 = 0
    forEachSession(of: user) { shard, session in
      if shard.sessions[session].extras?.watchesRooms == true, shard.hasJoined(room, session) {
        count += 1
      }
    }
    return count
  }

  private mutating func remove(_ node: Slot<WatchedRoom>) {
    let room = lists.rooms[node].room
    if lists.users[lists.rooms[node].watch].pagings > 0 { unlist(node) }
    lists.remove(node, watchers: &rooms[room].watchers)
    rooms.releaseIfUnused(room)
  }

  /// A room in a user's list has new entries.
  mutating func moveToFront(_ node: Slot<WatchedRoom>, lastAt: Int64) {
    let watch = lists.rooms[node].watch
    lists.rooms[node].lastAt = lastAt
    let isPaged = lists.users[watch].pagings > 0
    if !isPaged, lists.users[watch].newest.slot == node { return }
    if isPaged { listLaterIfUnlisted(node) }
    lists.moveToFront(node)
  }

  // MARK: - Pagings

  mutating func endPaging(_ session: Slot<Session>) {
    guard let extras = sessions[session].extras, extras.paging != nil,
      let watch = lists.find(sessions[session].user)
    else { return }
    extras.paging = nil
    lists.users[watch].pagings -= 1
  }

  /// Calls `body` with the pagings of a room's user.
  private mutating func forEachPaging(
    of node: Slot<WatchedRoom>, _ body: (inout RoomsPaging, _ isUnlisted: Bool) -> Void
  ) {
    let watched = lists.rooms[node]
    forEachSession(of: lists.users[watched.watch].user) { shard, session in
      guard let extras = shard.sessions[session].extras, var paging = extras.paging else {
        return
      }
      let isUnlisted =
        paging.next.slot.map { watched.stamp <= shard.lists.rooms[$0].stamp } ?? false
      if paging.next.slot == node { paging.next = watched.older }
      extras.paging = nil
      body(&paging, isUnlisted)
      extras.paging = paging
    }
  }

  private mutating func listLater(_ node: Slot<WatchedRoom>) {
    forEachPaging(of: node) { paging, _ in paging.missed.append(node) }
  }

  private mutating func listLaterIfUnlisted(_ node: Slot<WatchedRoom>) {
    forEachPaging(of: node) { paging, isUnlisted in
      if isUnlisted { paging.missed.append(node) }
    }
  }

  private mutating func unlist(_ node: Slot<WatchedRoom>) {
    forEachPaging(of: node) { paging, _ in
      paging.missed.removeAll { $0 == node }
      for place in paging.page.indices where paging.page[place] == node { paging.page[place] = nil }
    }
  }

  // MARK: - Loading

  /// Asks the log for a user's rooms, slice by slice, in turn with other users.
  mutating func beginLoading(_ watch: Slot<UserWatch>) {
    let ticket = loads.nextTicket()
    lists.users[watch].state = .loading
    lists.users[watch].ticket = ticket
    lists.users[watch].listedAsked = 0
    lists.users[watch].after = .start
    loads.append(watch, ticket: ticket)
    askForSlice()
  }

  private mutating func askForSlice() {
    guard let load = loads.start(in: lists) else { return }
    let watch = load.watch
    let asked = lists.users[watch].listedAsked
    let listed = configuration.listed[asked...].prefix(Self.sliceLimit).map(\.room)
    lists.users[watch].listedAsked += listed.count
    let limit = Self.sliceLimit - listed.count
    log.append(
      .memberships(
        ticket: load.ticket, user: lists.users[watch].user, listed: listed,
        after: lists.users[watch].after, limit: limit))
  }

  /// Takes a slice. What the log has committed since follows it.
  mutating func continueLoading(
    _ memberships: [LogAnswer.Membership], of user: String, ticket: UInt32,
    next: MembershipsCursor?, isComplete: Bool, _ now: Moment
  ) {
    guard loads.finish(ticket: ticket) else {
      // The answer to a request for nothing: see `passLog`.
      forEachWaiting(of: user, ticket: ticket) { shard, session, request in
        shard.beginPaging(request, session)
      }
      return
    }
    defer { askForSlice() }
    guard let watch = lists.find(user), lists.users[watch].ticket == ticket,
      lists.users[watch].state == .loading
    else { return }
    guard isComplete else {
      lists.users[watch].state = .idle
      forEachWaiting(of: user, ticket: 0) { shard, session, _ in
        shard.reply(
          WireError.unavailable(re: .rooms, room: nil), ref: shard.endReply(to: session),
          to: session)
      }
      return
    }
    let joined = joinedCounts(of: user)
    for membership in memberships { put(membership, on: watch) { _, room in joined[room] ?? 0 } }
    if let next {
      lists.users[watch].after = next
      loads.append(watch, ticket: ticket)
      return
    }
    lists.users[watch].state = .loaded
    lists.sort(watch, rooms)
    answerLoaded(watch)
  }

  /// Returns the number of a user's watching connections that have joined each room.
  private mutating func joinedCounts(of user: String) -> [Slot<Room>: Int32] {
    var counts: [Slot<Room>: Int32] = [:]
    forEachSession(of: user) { shard, session in
      guard shard.sessions[session].extras?.watchesRooms == true else { return }
      for index in shard.joinedSubscriptions(session) {
        counts[shard.subscriptions[index].room, default: 0] += 1
      }
    }
    return counts
  }

  /// A list is loaded: charges the first connection that waits for it, and answers all of them.
  private mutating func answerLoaded(_ watch: Slot<UserWatch>) {
    var isCharged = false
    let requests = lists.users[watch].rooms.count / Self.roomsPerRequest
    forEachWaiting(of: lists.users[watch].user, ticket: 0) { shard, session, request in
      if !isCharged { shard.chargeRequests(requests, session) }
      isCharged = true
      // Some have asked while the last slice was being read.
      shard.sessions.extras(of: session).roomsRequest = request
      shard.sessions[session].awaitsReply = true
      shard.passLog(session)
    }
  }

  /// Calls `body` with the user's connections whose `rooms` waits for the log.
  private mutating func forEachWaiting(
    of user: String, ticket: UInt32,
    _ body: (inout Shard, Slot<Session>, ClientMessage.RoomsRequest) -> Void
  ) {
    forEachSession(of: user) { shard, session in
      guard let extras = shard.sessions[session].extras, let request = extras.roomsRequest,
        extras.roomsTicket == ticket
      else { return }
      extras.roomsRequest = nil
      extras.roomsTicket = 0
      shard.sessions[session].awaitsReply = false
      body(&shard, session, request)
    }
  }
}
