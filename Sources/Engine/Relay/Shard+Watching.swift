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
  mutating func beginWatching(_ index: Int) {
    let extras = extras(of: index)
    guard !extras.watchesRooms else { return }
    extras.watchesRooms = true
    let user = sessions[index].user
    let watch: Int32
    if let known = watchIndices[user] {
      watch = known
    } else {
      var new = UserWatch()
      new.user = user
      if let free = freeWatches.popLast() {
        watches[Int(free)] = new
        watch = free
      } else {
        watches.append(new)
        watch = Int32(watches.count - 1)
      }
      watchIndices[user] = watch
    }
    watches[Int(watch)].sessions += 1
    var next = sessions[index].firstSubscription
    while next >= 0 {
      let subscription = subscriptions[Int(next)]
      if subscription.isJoined, let node = watches[Int(watch)].rooms[subscription.room] {
        watchedRooms[Int(node)].joined += 1
      }
      next = subscription.next
    }
  }

  /// The session ends; with the user's last one the list goes.
  mutating func endWatching(_ index: Int) {
    guard let extras = sessions[index].extras, extras.watchesRooms,
      let watch = watchIndices[sessions[index].user]
    else { return }
    endPaging(index)
    extras.watchesRooms = false
    watches[Int(watch)].sessions -= 1
    guard watches[Int(watch)].sessions == 0 else { return }
    for (room, node) in watches[Int(watch)].rooms {
      leaveWatchers(node, of: room)
      freeWatchedRoom(node)
      releaseIfUnused(room)
    }
    watchIndices[watches[Int(watch)].user] = nil
    watches[Int(watch)] = UserWatch()
    freeWatches.append(watch)
  }

  /// A subscription counts as joined for its connection, or no longer does.
  mutating func noteJoined(_ index: Int32, _ isJoined: Bool) {
    let subscription = subscriptions[Int(index)]
    guard subscription.isJoined != isJoined else { return }
    subscriptions[Int(index)].isJoined = isJoined
    let session = Int(subscription.session)
    guard sessions[session].extras?.watchesRooms == true,
      let node = watchedRoom(of: sessions[session].user, subscription.room)
    else { return }
    watchedRooms[Int(node)].joined += isJoined ? 1 : -1
  }

  func hasJoined(_ room: Int32, _ index: Int) -> Bool {
    subscription(of: index, toRoom: room).map { subscriptions[Int($0)].isJoined } ?? false
  }

  // MARK: - Rooms of a user

  /// Where a room stands in a user's list.
  func watchedRoom(of user: String, _ room: Int32) -> Int32? {
    watchIndices[user].flatMap { watches[Int($0)].rooms[room] }
  }

  /// A room is in the user's list from now on, or is there otherwise than before.
  /// - Parameter joined: how many of the user's connections that watch have joined it; only looked at
  ///   where it was not in the list.
  private mutating func put(
    _ membership: LogAnswer.Membership, on watch: Int32, joined: (inout Shard, Int32) -> Int32
  ) {
    let room = room(named: membership.room)
    rooms[Int(room)].head = max(rooms[Int(room)].head, membership.head)
    rooms[Int(room)].firstKept = max(rooms[Int(room)].firstKept, membership.first)
    let node: Int32
    if let known = watches[Int(watch)].rooms[room] {
      node = known
    } else {
      var new = WatchedRoom()
      new.watch = watch
      new.room = room
      watchGeneration &+= 1
      new.generation = watchGeneration
      new.place = Int32(rooms[Int(room)].watchers.count)
      if let free = freeWatchedRooms.popLast() {
        watchedRooms[Int(free)] = new
        node = free
      } else {
        watchedRooms.append(new)
        node = Int32(watchedRooms.count - 1)
      }
      rooms[Int(room)].watchers.append(node)
      watches[Int(watch)].rooms[room] = node
      watchedRooms[Int(node)].joined = joined(&self, room)
      linkAtFront(node)
      if watches[Int(watch)].pagings > 0 { noteMissed(node) }
    }
    watchedRooms[Int(node)].belongs = membership.belongs
    watchedRooms[Int(node)].unread = membership.unread
    // The log's word: whoever has left for good and come back has read nothing.
    watchedRooms[Int(node)].read = membership.read
    watchedRooms[Int(node)].lastAt = max(watchedRooms[Int(node)].lastAt, membership.lastAt)
  }

  /// A user came to belong to a room, or no longer does.
  mutating func apply(_ change: Commit.MembershipChange) {
    guard let watch = watchIndices[change.user] else { return }
    if change.belongs {
      let membership = LogAnswer.Membership(
        room: change.room, belongs: true, head: change.head, read: 0, unread: change.unread,
        first: change.first, lastAt: change.lastAt)
      put(membership, on: watch) { shard, room in shard.joinedCount(room, change.user) }
    } else if let room = roomIndices[change.room], let node = watches[Int(watch)].rooms[room] {
      watchedRooms[Int(node)].unread = 0
      watchedRooms[Int(node)].read = 0
      watchedRooms[Int(node)].belongs = false
      if listedTitles[change.room] == nil { remove(node) }
    }
  }

  private mutating func joinedCount(_ room: Int32, _ user: String) -> Int32 {
    if rooms[Int(room)].uses == 0 { return 0 }
    var count: Int32 = 0
    forEachSession(of: user) { shard, session in
      if shard.sessions[Int(session)].extras?.watchesRooms == true,
        shard.hasJoined(room, Int(session))
      {
        count += 1
      }
    }
    return count
  }

  private mutating func remove(_ node: Int32) {
    let (watch, room) = (watchedRooms[Int(node)].watch, watchedRooms[Int(node)].room)
    if watches[Int(watch)].pagings > 0 { noteGone(node) }
    unlink(node)
    leaveWatchers(node, of: room)
    watches[Int(watch)].rooms[room] = nil
    freeWatchedRoom(node)
    releaseIfUnused(room)
  }

  private mutating func leaveWatchers(_ node: Int32, of room: Int32) {
    let place = Int(watchedRooms[Int(node)].place)
    let last = rooms[Int(room)].watchers.removeLast()
    guard last != node else { return }
    rooms[Int(room)].watchers[place] = last
    watchedRooms[Int(last)].place = Int32(place)
  }

  private mutating func freeWatchedRoom(_ node: Int32) {
    watchedRooms[Int(node)] = WatchedRoom()
    freeWatchedRooms.append(node)
  }

  // MARK: - The order of activity

  private mutating func linkAtFront(_ node: Int32) {
    let watch = Int(watchedRooms[Int(node)].watch)
    let newest = watches[watch].newest
    watchedRooms[Int(node)].newer = -1
    watchedRooms[Int(node)].older = newest
    if newest >= 0 { watchedRooms[Int(newest)].newer = node } else { watches[watch].oldest = node }
    watches[watch].newest = node
    watches[watch].stamp += 1
    watchedRooms[Int(node)].stamp = watches[watch].stamp
  }

  private mutating func unlink(_ node: Int32) {
    let (watch, newer, older) = (
      Int(watchedRooms[Int(node)].watch), watchedRooms[Int(node)].newer,
      watchedRooms[Int(node)].older
    )
    if newer >= 0 { watchedRooms[Int(newer)].older = older } else { watches[watch].newest = older }
    if older >= 0 { watchedRooms[Int(older)].newer = newer } else { watches[watch].oldest = newer }
  }

  /// There are new entries in a room that the user is told of.
  mutating func moveToFront(_ node: Int32, lastAt: Int64) {
    let watch = Int(watchedRooms[Int(node)].watch)
    watchedRooms[Int(node)].lastAt = lastAt
    if watches[watch].newest == node, watches[watch].pagings == 0 { return }
    if watches[watch].pagings > 0 { noteMoving(node) }
    unlink(node)
    linkAtFront(node)
  }

  /// Puts a list that has just been loaded into its order: the latest first, and by name what is as old.
  private mutating func sort(_ watch: Int32) {
    var nodes = Array(watches[Int(watch)].rooms.values)
    nodes.sort { a, b in
      let (x, y) = (watchedRooms[Int(a)], watchedRooms[Int(b)])
      if x.lastAt != y.lastAt { return x.lastAt < y.lastAt }
      return rooms[Int(x.room)].name > rooms[Int(y.room)].name
    }
    watches[Int(watch)].newest = -1
    watches[Int(watch)].oldest = -1
    for node in nodes { linkAtFront(node) }
  }

  // MARK: - Pagings

  mutating func endPaging(_ index: Int) {
    guard let extras = sessions[index].extras, extras.paging != nil,
      let watch = watchIndices[sessions[index].user]
    else { return }
    extras.paging = nil
    watches[Int(watch)].pagings -= 1
  }

  private mutating func forEachPaging(
    of node: Int32, _ body: (inout RoomsPaging, _ isUnlisted: Bool) -> Void
  ) {
    let watch = Int(watchedRooms[Int(node)].watch)
    let stamp = watchedRooms[Int(node)].stamp
    forEachSession(of: watches[watch].user) { shard, session in
      guard let extras = shard.sessions[Int(session)].extras, var paging = extras.paging else {
        return
      }
      let isUnlisted =
        paging.next >= 0 && stamp <= shard.watchedRooms[Int(paging.next)].stamp
      if paging.next == node { paging.next = shard.watchedRooms[Int(node)].older }
      extras.paging = nil
      body(&paging, isUnlisted)
      extras.paging = paging
    }
  }

  private mutating func noteMissed(_ node: Int32) {
    forEachPaging(of: node) { paging, _ in paging.missed.append(node) }
  }

  private mutating func noteMoving(_ node: Int32) {
    forEachPaging(of: node) { paging, isUnlisted in
      if isUnlisted { paging.missed.append(node) }
    }
  }

  private mutating func noteGone(_ node: Int32) {
    forEachPaging(of: node) { paging, _ in
      paging.missed.removeAll { $0 == node }
      for place in paging.page.indices where paging.page[place] == node { paging.page[place] = -1 }
    }
  }

  // MARK: - Loading

  /// Asks the log for a user's rooms, slice by slice, in turn with other users.
  mutating func beginLoading(_ watch: Int32) {
    watchTicket = watchTicket == .max ? 1 : watchTicket + 1
    watches[Int(watch)].state = .loading
    watches[Int(watch)].ticket = watchTicket
    watches[Int(watch)].listedAsked = 0
    watches[Int(watch)].after = .start
    loads.append(RoomsLoad(watch: watch, ticket: watchTicket))
    askForSlice()
  }

  private mutating func askForSlice() {
    while !isLoading, let load = loads.popFirst() {
      let watch = Int(load.watch)
      guard watches[watch].state == .loading, watches[watch].ticket == load.ticket else { continue }
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
    guard let watch = watchIndices[user], watches[Int(watch)].ticket == ticket,
      watches[Int(watch)].state == .loading
    else { return }
    guard isComplete else {
      watches[Int(watch)].state = .idle
      forEachWaiting(of: user, ticket: 0) { shard, index, _ in
        shard.reply(.error(Sequencer.unavailable(re: "rooms", room: nil)), to: index)
      }
      return
    }
    var joined: [Int32: Int32] = [:]
    forEachSession(of: user) { shard, session in
      guard shard.sessions[Int(session)].extras?.watchesRooms == true else { return }
      var next = shard.sessions[Int(session)].firstSubscription
      while next >= 0 {
        let subscription = shard.subscriptions[Int(next)]
        if subscription.isJoined { joined[subscription.room, default: 0] += 1 }
        next = subscription.next
      }
    }
    for membership in memberships { put(membership, on: watch) { _, room in joined[room] ?? 0 } }
    if let next {
      watches[Int(watch)].after = next
      loads.append(RoomsLoad(watch: watch, ticket: ticket))
      return
    }
    watches[Int(watch)].state = .loaded
    sort(watch)
    var isCharged = false
    let requests = watches[Int(watch)].rooms.count / Self.roomsPerRequest
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
    of user: String, ticket: UInt32, _ body: (inout Shard, Int, ClientMessage.RoomsRequest) -> Void
  ) {
    forEachSession(of: user) { shard, session in
      guard let extras = shard.sessions[Int(session)].extras, let request = extras.roomsRequest,
        extras.roomsTicket == ticket
      else { return }
      extras.roomsRequest = nil
      extras.roomsTicket = 0
      shard.sessions[Int(session)].awaitsReply = false
      body(&shard, Int(session), request)
    }
  }
}

/// A user's list that waits to be asked for.
struct RoomsLoad {
  var watch: Int32
  var ticket: UInt32
}
