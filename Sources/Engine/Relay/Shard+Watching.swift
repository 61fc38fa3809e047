import DequeModule
import HeapModule
import Wire

/// The lists of rooms that users of this loop are told of, and how they come from the log.
extension Shard {
  /// So many rooms the log is asked for at a time, and one slice at a time: others have their turn in
  /// between.
  static let sliceLimit = 256
  /// A first load counts as one request for so many rooms.
  static let roomsPerRequest = 200

  // MARK: - Users

  /// The session is told of activity from now on.
  mutating func beginWatching(_ index: Slot<Session>) {
    let extras = extras(of: index)
    guard !extras.watchesRooms else { return }
    extras.watchesRooms = true
    let user = sessions[index].user
    let watch = watchIndices[user] ?? watches.insert(UserWatch(user: user))
    watchIndices[user] = watch
    watches[watch].sessions += 1
    var next = sessions[index].firstSubscription.slot
    while let place = next {
      let subscription = subscriptions[place]
      if subscription.isJoined, let node = watches[watch].rooms[subscription.room] {
        watchedRooms[node].joined += 1
      }
      next = subscription.next.slot
    }
  }

  /// The session ends; with the user's last one the list goes.
  mutating func endWatching(_ index: Slot<Session>) {
    guard let extras = sessions[index].extras, extras.watchesRooms,
      let watch = watchIndices[sessions[index].user]
    else { return }
    endPaging(index)
    extras.watchesRooms = false
    watches[watch].sessions -= 1
    guard watches[watch].sessions == 0 else { return }
    for (room, node) in watches[watch].rooms {
      leaveWatchers(node, of: room)
      watchedRooms.remove(node)
      releaseIfUnused(room)
    }
    watchIndices[watches[watch].user] = nil
    watches.remove(watch)
  }

  /// A subscription counts as joined for its connection, or no longer does.
  mutating func noteJoined(_ index: Slot<Subscription>, _ isJoined: Bool) {
    let subscription = subscriptions[index]
    guard subscription.isJoined != isJoined else { return }
    subscriptions[index].isJoined = isJoined
    let session = subscription.session
    guard sessions[session].extras?.watchesRooms == true,
      let node = watchedRoom(of: sessions[session].user, subscription.room)
    else { return }
    watchedRooms[node].joined += isJoined ? 1 : -1
  }

  func hasJoined(_ room: Slot<Room>, _ index: Slot<Session>) -> Bool {
    subscription(of: index, toRoom: room).map { subscriptions[$0].isJoined } ?? false
  }

  // MARK: - Rooms of a user

  /// Where a room stands in a user's list.
  func watchedRoom(of user: String, _ room: Slot<Room>) -> Slot<WatchedRoom>? {
    watchIndices[user].flatMap { watches[$0].rooms[room] }
  }

  /// A room is in the user's list from now on, or is there otherwise than before.
  /// - Parameter joined: how many of the user's connections that watch have joined it; only looked at
  ///   where it was not in the list.
  private mutating func put(
    _ membership: LogAnswer.Membership, on watch: Slot<UserWatch>,
    joined: (inout Shard, Slot<Room>) -> Int32
  ) {
    let room = room(named: membership.room)
    rooms[room].head = max(rooms[room].head, membership.head)
    rooms[room].firstKept = max(rooms[room].firstKept, membership.first)
    let node: Slot<WatchedRoom>
    if let known = watches[watch].rooms[room] {
      node = known
    } else {
      node = watchedRooms.insert(
        WatchedRoom(
          watch: watch, generation: nextGeneration(), room: room,
          place: Int32(rooms[room].watchers.count)))
      rooms[room].watchers.append(node)
      watches[watch].rooms[room] = node
      watchedRooms[node].joined = joined(&self, room)
      linkAtFront(node)
      if watches[watch].pagings > 0 { noteMissed(node) }
    }
    watchedRooms[node].belongs = membership.belongs
    watchedRooms[node].unread = membership.unread
    // The log's word: whoever has left for good and come back has read nothing.
    watchedRooms[node].read = membership.read
    watchedRooms[node].lastAt = max(watchedRooms[node].lastAt, membership.lastAt)
  }

  /// A user came to belong to a room, or no longer does.
  mutating func apply(_ change: Commit.MembershipChange) {
    guard let watch = watchIndices[change.user] else { return }
    if change.belongs {
      let membership = LogAnswer.Membership(
        room: change.room, belongs: true, head: change.head, read: 0, unread: change.unread,
        first: change.first, lastAt: change.lastAt)
      put(membership, on: watch) { shard, room in shard.joinedCount(room, change.user) }
    } else if let room = roomIndices[change.room], let node = watches[watch].rooms[room] {
      watchedRooms[node].unread = 0
      watchedRooms[node].read = 0
      watchedRooms[node].belongs = false
      if listedTitles[change.room] == nil { remove(node) }
    }
  }

  private mutating func joinedCount(_ room: Slot<Room>, _ user: String) -> Int32 {
    if rooms[room].uses == 0 { return 0 }
    var count: Int32 = 0
    forEachSession(of: user) { shard, session in
      if shard.sessions[session].extras?.watchesRooms == true,
        shard.hasJoined(room, session)
      {
        count += 1
      }
    }
    return count
  }

  private mutating func remove(_ node: Slot<WatchedRoom>) {
    let (watch, room) = (watchedRooms[node].watch, watchedRooms[node].room)
    if watches[watch].pagings > 0 { noteGone(node) }
    unlink(node)
    leaveWatchers(node, of: room)
    watches[watch].rooms[room] = nil
    watchedRooms.remove(node)
    releaseIfUnused(room)
  }

  private mutating func leaveWatchers(_ node: Slot<WatchedRoom>, of room: Slot<Room>) {
    let place = watchedRooms[node].place
    let last = rooms[room].watchers.removeLast()
    guard last != node else { return }
    rooms[room].watchers[Int(place)] = last
    watchedRooms[last].place = place
  }

  // MARK: - The order of activity

  private mutating func linkAtFront(_ node: Slot<WatchedRoom>) {
    let watch = watchedRooms[node].watch
    let newest = watches[watch].newest
    watchedRooms[node].newer = .none
    watchedRooms[node].older = newest
    if let newest = newest.slot {
      watchedRooms[newest].newer = Link(node)
    } else {
      watches[watch].oldest = Link(node)
    }
    watches[watch].newest = Link(node)
    watches[watch].stamp += 1
    watchedRooms[node].stamp = watches[watch].stamp
  }

  private mutating func unlink(_ node: Slot<WatchedRoom>) {
    let (watch, newer, older) = (
      watchedRooms[node].watch, watchedRooms[node].newer,
      watchedRooms[node].older
    )
    if let newer = newer.slot {
      watchedRooms[newer].older = older
    } else {
      watches[watch].newest = older
    }
    if let older = older.slot {
      watchedRooms[older].newer = newer
    } else {
      watches[watch].oldest = newer
    }
  }

  /// There are new entries in a room that the user is told of.
  mutating func moveToFront(_ node: Slot<WatchedRoom>, lastAt: Int64) {
    let watch = watchedRooms[node].watch
    watchedRooms[node].lastAt = lastAt
    if watches[watch].newest.slot == node, watches[watch].pagings == 0 { return }
    if watches[watch].pagings > 0 { noteMoving(node) }
    unlink(node)
    linkAtFront(node)
  }

  /// Puts a list that has just been loaded into its order: the latest first, and by name what is as old.
  private mutating func sort(_ watch: Slot<UserWatch>) {
    var nodes = Array(watches[watch].rooms.values)
    nodes.sort { a, b in
      let (x, y) = (watchedRooms[a], watchedRooms[b])
      if x.lastAt != y.lastAt { return x.lastAt < y.lastAt }
      return rooms[x.room].name > rooms[y.room].name
    }
    watches[watch].newest = .none
    watches[watch].oldest = .none
    for node in nodes { linkAtFront(node) }
  }

  // MARK: - Pagings

  mutating func endPaging(_ index: Slot<Session>) {
    guard let extras = sessions[index].extras, extras.paging != nil,
      let watch = watchIndices[sessions[index].user]
    else { return }
    extras.paging = nil
    watches[watch].pagings -= 1
  }

  private mutating func forEachPaging(
    of node: Slot<WatchedRoom>, _ body: (inout RoomsPaging, _ isUnlisted: Bool) -> Void
  ) {
    let watch = watchedRooms[node].watch
    let stamp = watchedRooms[node].stamp
    forEachSession(of: watches[watch].user) { shard, session in
      guard let extras = shard.sessions[session].extras, var paging = extras.paging else {
        return
      }
      let isUnlisted =
        paging.next.slot.map { stamp <= shard.watchedRooms[$0].stamp } ?? false
      if paging.next.slot == node { paging.next = shard.watchedRooms[node].older }
      extras.paging = nil
      body(&paging, isUnlisted)
      extras.paging = paging
    }
  }

  private mutating func noteMissed(_ node: Slot<WatchedRoom>) {
    forEachPaging(of: node) { paging, _ in paging.missed.append(node) }
  }

  private mutating func noteMoving(_ node: Slot<WatchedRoom>) {
    forEachPaging(of: node) { paging, isUnlisted in
      if isUnlisted { paging.missed.append(node) }
    }
  }

  private mutating func noteGone(_ node: Slot<WatchedRoom>) {
    forEachPaging(of: node) { paging, _ in
      paging.missed.removeAll { $0 == node }
      for place in paging.page.indices where paging.page[place] == node { paging.page[place] = nil }
    }
  }

  // MARK: - Loading

  /// Asks the log for a user's rooms, slice by slice, in turn with other users.
  mutating func beginLoading(_ watch: Slot<UserWatch>) {
    watchTicket = watchTicket == .max ? 1 : watchTicket + 1
    watches[watch].state = .loading
    watches[watch].ticket = watchTicket
    watches[watch].listedAsked = 0
    watches[watch].after = .start
    loads.append(RoomsLoad(watch: watch, ticket: watchTicket))
    askForSlice()
  }

  private mutating func askForSlice() {
    while !isLoading, let load = loads.popFirst() {
      let watch = load.watch
      guard watches.contains(watch), watches[watch].state == .loading,
        watches[watch].ticket == load.ticket
      else { continue }
      let asked = watches[watch].listedAsked
      let listed = configuration.listed[asked...].prefix(Self.sliceLimit).map(\.room)
      watches[watch].listedAsked += listed.count
      isLoading = true
      loadTicket = load.ticket
      let limit = Self.sliceLimit - listed.count
      ask(
        .memberships(
          ticket: load.ticket, user: watches[watch].user, listed: listed,
          after: watches[watch].after, limit: limit))
    }
  }

  /// A slice is there. What the log has committed since comes behind it.
  mutating func apply(
    _ memberships: [LogAnswer.Membership], of user: String, ticket: UInt32,
    next: MembershipsCursor?,
    isComplete: Bool, _ now: Moment
  ) {
    if loadTicket != ticket {
      // Nothing was asked for: see `passLog`.
      forEachWaiting(of: user, ticket: ticket) { shard, index, request in
        shard.beginPaging(request, index)
      }
      return
    }
    isLoading = false
    defer { askForSlice() }
    guard let watch = watchIndices[user], watches[watch].ticket == ticket,
      watches[watch].state == .loading
    else { return }
    guard isComplete else {
      watches[watch].state = .idle
      forEachWaiting(of: user, ticket: 0) { shard, index, _ in
        shard.reply(.error(Sequencer.unavailable(re: "rooms", room: nil)), to: index)
      }
      return
    }
    var joined: [Slot<Room>: Int32] = [:]
    forEachSession(of: user) { shard, session in
      guard shard.sessions[session].extras?.watchesRooms == true else { return }
      var next = shard.sessions[session].firstSubscription.slot
      while let place = next {
        let subscription = shard.subscriptions[place]
        if subscription.isJoined { joined[subscription.room, default: 0] += 1 }
        next = subscription.next.slot
      }
    }
    for membership in memberships { put(membership, on: watch) { _, room in joined[room] ?? 0 } }
    if let next {
      watches[watch].after = next
      loads.append(RoomsLoad(watch: watch, ticket: ticket))
      return
    }
    watches[watch].state = .loaded
    sort(watch)
    var isCharged = false
    let requests = watches[watch].rooms.count / Self.roomsPerRequest
    forEachWaiting(of: user, ticket: 0) { shard, index, request in
      if !isCharged { shard.chargeRequests(requests, index) }
      isCharged = true
      // Some have asked while the last slice was under way.
      shard.extras(of: index).roomsRequest = request
      shard.sessions[index].awaitsReply = true
      shard.passLog(index)
    }
  }

  /// Calls `body` with the user's connections whose `rooms` waits for the list.
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

/// A user's list that waits to be asked for.
struct RoomsLoad {
  var watch: Slot<UserWatch>
  var ticket: UInt32
}
