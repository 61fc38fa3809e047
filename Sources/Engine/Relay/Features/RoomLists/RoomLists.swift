import Wire

/// `rooms` and `activity`: the list of rooms of each user who has requested it, which is loaded from
/// the log slice by slice and then follows the commits, and the news of rooms that a session has not
/// joined, at most once per second and room.
final class RoomLists: Feature {
  /// The number of rooms for which the log is asked at a time; other requests have their turn in
  /// between.
  static let sliceLimit = 256
  /// A first load counts as one request for this many rooms.
  private static let roomsPerRequest = 200

  private let listed: [(room: String, title: String)]
  private let titles: [String: String]
  private(set) var table = WatchedRooms()
  private(set) var loads = RoomsLoads()
  private(set) var pages: RoomPages
  private var throttle = Throttle<Handle<WatchedRoom>, Void>(milliseconds: 1000)

  /// - Parameters:
  ///   - titles: those of the listed rooms, by name.
  ///   - seed: of the numbers of cursors.
  init(
    listed: [(room: String, title: String)], titles: [String: String], people: People,
    presence: PresenceNews, seed: UInt64
  ) {
    self.listed = listed
    self.titles = titles
    pages = RoomPages(titles: titles, people: people, presence: presence, seed: seed)
  }

  // MARK: - Sessions

  /// Starts to answer `rooms`. From here on the list follows the commits, so that none falls between
  /// the list and the first `activity`, which is sent after the answer.
  func receive(
    _ request: ClientMessage.RoomsRequest, ref: String?, from session: Slot<Session>,
    in audience: inout some ListsAudience & ~Copyable
  ) {
    if let cursor = request.cursor, RoomsCursor(cursor) == nil {
      audience.reply(.badCursor(re: .rooms), ref: ref, to: session)
      return
    }
    let watch = begin(session, in: audience)
    audience.awaitReply(ref: ref, session)
    switch table.users[watch].state {
    case .idle:
      pages.wait(request, audience.id(of: session))
      beginLoading(watch, in: &audience)
    case .loading: pages.wait(request, audience.id(of: session))
    case .loaded: passLog(request, session, in: &audience)
    }
  }

  /// Makes the session receive activity.
  private func begin(
    _ session: Slot<Session>, in audience: borrowing some ListsAudience & ~Copyable
  ) -> Slot<UserWatch> {
    let watch = table.findOrInsert(audience.user(of: session))
    guard pages.insert(audience.id(of: session)) else { return watch }
    table.users[watch].sessions += 1
    for room in audience.joinedRooms(of: session) {
      if let node = table.users[watch].rooms[room] { table.rooms[node].joined += 1 }
    }
    return watch
  }

  /// The session ends; with the user's last one, the list is removed.
  func end(_ session: Slot<Session>, in audience: inout some ListsAudience & ~Copyable) {
    let id = audience.id(of: session)
    guard pages.contains(id), let watch = table.find(audience.user(of: session)) else { return }
    pages.remove(id, on: watch, &table)
    table.users[watch].sessions -= 1
    guard table.users[watch].sessions == 0 else { return }
    for (room, node) in table.users[watch].rooms {
      table.remove(node)
      audience.release(room)
    }
    table.remove(watch)
  }

  /// A session has joined a room, or has left it.
  func setJoined(
    _ room: Slot<Room>, _ session: Slot<Session>, _ isJoined: Bool,
    in audience: borrowing some ListsAudience & ~Copyable
  ) {
    guard pages.contains(audience.id(of: session)),
      let node = table.find(audience.user(of: session), room)
    else { return }
    table.rooms[node].joined += isJoined ? 1 : -1
    assert(0...table.users[table.rooms[node].watch].sessions ~= table.rooms[node].joined)
  }

  // MARK: - Who watches

  /// Whether a list has the room.
  func isWatched(_ room: Slot<Room>) -> Bool { !table.watchers(of: room).isEmpty }

  /// Whether the session has requested `rooms`, and may be informed of this one.
  func isWatching(
    _ room: Slot<Room>, _ session: Slot<Session>,
    in audience: borrowing some ListsAudience & ~Copyable
  ) -> Bool {
    guard pages.contains(audience.id(of: session)),
      let node = table.find(audience.user(of: session), room)
    else { return false }
    return table.rooms[node].belongs
      && audience.rightsAllowReading(audience.name(of: room), session)
  }

  /// Informs the sessions that watch a room and have not joined it, but for those of the key's user.
  func informWatchers(
    of room: Slot<Room>, _ key: EphemeralKey, in audience: inout some ListsAudience & ~Copyable
  ) {
    for node in table.watchers(of: room)
    where table.users[table.rooms[node].watch].user != key.user {
      inform(node, key, in: &audience)
    }
  }

  private func inform(
    _ node: Slot<WatchedRoom>, _ key: EphemeralKey,
    in audience: inout some ListsAudience & ~Copyable
  ) {
    let watched = table.rooms[node]
    guard watched.belongs else { return }
    audience.forEachSession(of: table.users[watched.watch].user) { audience, session in
      if pages.contains(audience.id(of: session)),
        key.kind == .activity || audience.separation(of: key.user, session) == nil,
        watched.joined == 0 || watched.isAccepted && key.kind == .activity
          || !audience.hasJoined(watched.room, session),
        // A user who may send to a room is not always allowed to read it.
        audience.rightsAllowReading(audience.name(of: watched.room), session)
      {
        audience.inform(session, key)
      }
    }
  }

  // MARK: - Commits

  /// A user became a member of a room or left it.
  func updateMembership(
    _ change: Commit.MembershipChange, in audience: inout some ListsAudience & ~Copyable
  ) {
    guard let watch = table.find(change.user) else { return }
    if change.belongs {
      let membership = LogAnswer.Membership(
        room: change.room, belongs: true, head: change.head, read: change.read,
        unread: change.unread, first: change.first, lastAt: change.lastAt)
      put(membership, on: watch, in: &audience)
    } else if let room = audience.room(named: change.room)?.slot,
      let node = table.users[watch].rooms[room]
    {
      table.rooms[node].unread = Unread()
      table.rooms[node].read = 0
      table.rooms[node].belongs = false
      guard titles[change.room] == nil else { return }
      pages.remove(node, table, in: &audience)
      table.remove(node)
      audience.release(room)
    }
  }

  /// A direct room became a request to its user, or is none any more: their other devices are told.
  func updateRequest(
    _ change: Commit.RequestChange, in audience: inout some ListsAudience & ~Copyable, _ now: Moment
  ) {
    guard let room = audience.room(named: change.room)?.slot,
      let node = table.find(change.user, room)
    else { return }
    table.rooms[node].isRequest = change.isOn
    table.rooms[node].isAccepted = !change.isOn
    if throttle.admit((), for: table.rooms.handle(node), now: now.monotonic) {
      tell(node, in: &audience)
    }
  }

  /// A user's marks in a room have moved.
  func updateMarks(
    _ change: Commit.MarkChange, in audience: borrowing some ListsAudience & ~Copyable
  ) {
    guard let watch = table.find(change.marks.user),
      let room = audience.room(named: change.room)?.slot,
      let node = table.users[watch].rooms[room]
    else { return }
    table.rooms[node].unread = change.unread
    table.rooms[node].read = change.marks.read
  }

  /// Applies new entries to the lists that have the room, and tells their users.
  func countEntries(
    _ span: Commit.RoomSpan, of commit: Commit, in room: Slot<Room>,
    _ audience: inout some ListsAudience & ~Copyable, _ now: Moment
  ) {
    let watchers = table.watchers(of: room)
    if watchers.isEmpty { return }
    countUnread(span, of: commit, in: room, watchers, &audience)
    for node in watchers
    where table.rooms[node].belongs && shows(span, of: commit, to: node)
      && table.rooms[node].joined < table.users[table.rooms[node].watch].sessions
      && throttle.admit((), for: table.rooms.handle(node), now: now.monotonic)
    {
      tell(node, in: &audience)
    }
  }

  /// Whether an entry is shown to the user of a list.
  private func shows(
    _ span: Commit.RoomSpan, of commit: Commit, to node: Slot<WatchedRoom>
  ) -> Bool {
    if commit.hidden.isEmpty { return true }
    let user = table.users[table.rooms[node].watch].user
    return commit.hidden(in: span.frames, from: user).count < span.frames.count
  }

  /// An entry is unread for all but its sender, whose marks it may move (as
  /// `MemberMarks.recordSend`).
  private func countUnread(
    _ span: Commit.RoomSpan, of commit: Commit, in room: Slot<Room>,
    _ watchers: [Slot<WatchedRoom>], _ audience: inout some ListsAudience & ~Copyable
  ) {
    let new = commit.contents(of: span.frames)
    for node in watchers where shows(span, of: commit, to: node) {
      if table.rooms[node].belongs { table.rooms[node].unread.count += new }
      for frame in commit.hidden(
        in: span.frames, from: table.users[table.rooms[node].watch].user)
      {
        table.rooms[node].unread.count -= commit.contents(of: frame..<frame + 1)
      }
      table.rooms[node].lastAt = span.lastAt
      pages.move(node, table, in: &audience)
      table.moveToFront(node)
    }
    // The last `seq` that the sender of the current entry did not send.
    var others = span.others
    for frame in span.frames {
      let user = commit.senders[frame]
      let seq = span.firstSeq + Int64(frame - span.frames.lowerBound)
      if frame > span.frames.lowerBound, commit.senders[frame - 1] != user { others = seq - 1 }
      guard let node = table.find(user, room), table.rooms[node].belongs else { continue }
      table.rooms[node].unread.count -= commit.contents(of: frame..<frame + 1)
      if table.rooms[node].read >= others {
        table.rooms[node].read = max(table.rooms[node].read, seq)
      }
    }
  }

  // MARK: - Activity

  private func tell(_ node: Slot<WatchedRoom>, in audience: inout some ListsAudience & ~Copyable) {
    encode(node, in: &audience)
    let room = audience.handle(of: table.rooms[node].room)
    inform(node, EphemeralKey(.activity, room, ""), in: &audience)
    table.rooms[node].isAccepted = false
  }

  /// Encodes the activity of a room for a session that reads again.
  func encode(
    _ key: EphemeralKey, _ session: Slot<Session>,
    in audience: inout some ListsAudience & ~Copyable
  ) {
    if let room = key.room, let node = table.find(audience.user(of: session), room.slot) {
      encode(node, in: &audience)
    }
  }

  private func encode(
    _ node: Slot<WatchedRoom>, in audience: inout some ListsAudience & ~Copyable
  ) {
    let watched = table.rooms[node]
    let bounds = audience.bounds(of: watched.room)
    let unread = watched.unread(within: bounds)
    var activity = ServerMessage.Activity(
      room: audience.name(of: watched.room), head: bounds.head, unread: unread.count,
      unreadMore: unread.isMore, last: nil)
    activity.isRequest = watched.isRequest
    audience.encode(
      activity, last: audience.lastEntry(of: watched.room, for: table.users[watched.watch].user))
  }

  // MARK: - The rooms of a user

  /// Adds a room to a user's list, or updates it.
  /// - Parameter joined: the number of the user's watching sessions that have joined each room; nil
  ///   = they are counted if the list does not have the room.
  private func put(
    _ membership: LogAnswer.Membership, on watch: Slot<UserWatch>,
    joined: [Slot<Room>: Int32]? = nil, in audience: inout some ListsAudience & ~Copyable
  ) {
    let room = audience.update(
      membership.room, head: membership.head, firstKept: membership.first)
    let node: Slot<WatchedRoom>
    if let known = table.users[watch].rooms[room] {
      node = known
    } else {
      audience.retain(room)
      node = table.insert(room, on: watch)
      let joined = joined ?? joinedCounts(of: table.users[watch].user, in: &audience)
      table.rooms[node].joined = joined[room] ?? 0
      pages.add(node, table, in: &audience)
    }
    table.rooms[node].belongs = membership.belongs
    table.rooms[node].unread = membership.unread
    // As the log has it: a user who has left for good and come back has read nothing.
    table.rooms[node].read = membership.read
    table.rooms[node].lastAt = max(table.rooms[node].lastAt, membership.lastAt)
  }

  /// Returns the number of a user's watching sessions that have joined each room.
  private func joinedCounts(
    of user: String, in audience: inout some ListsAudience & ~Copyable
  ) -> [Slot<Room>: Int32] {
    var counts: [Slot<Room>: Int32] = [:]
    audience.forEachSession(of: user) { audience, session in
      guard pages.contains(audience.id(of: session)) else { return }
      for room in audience.joinedRooms(of: session) { counts[room, default: 0] += 1 }
    }
    return counts
  }

  // MARK: - Loading

  /// Asks the log for a user's rooms, slice by slice, in turn with other users.
  private func beginLoading(
    _ watch: Slot<UserWatch>, in audience: inout some ListsAudience & ~Copyable
  ) {
    let ticket = loads.nextTicket()
    table.users[watch].state = .loading
    table.users[watch].ticket = ticket
    table.users[watch].listedAsked = 0
    table.users[watch].after = .start
    loads.append(watch, ticket: ticket)
    askForSlice(in: &audience)
  }

  private func askForSlice(in audience: inout some ListsAudience & ~Copyable) {
    guard let load = loads.start(in: table) else { return }
    let watch = load.watch
    let asked = table.users[watch].listedAsked
    let listed = self.listed[asked...].prefix(Self.sliceLimit).map(\.room)
    table.users[watch].listedAsked += listed.count
    let limit = Self.sliceLimit - listed.count
    audience.submit(
      .memberships(
        ticket: load.ticket, user: table.users[watch].user, listed: listed,
        after: table.users[watch].after, limit: limit))
  }

  /// Sends the log a request for nothing: after its answer, the list has everything that was
  /// acknowledged on any loop before the client asked.
  private func passLog(
    _ request: ClientMessage.RoomsRequest, _ session: Slot<Session>,
    in audience: inout some ListsAudience & ~Copyable
  ) {
    let ticket = loads.nextTicket()
    pages.wait(request, audience.id(of: session), for: ticket)
    audience.submit(
      .memberships(
        ticket: ticket, user: audience.user(of: session), listed: [], after: .start, limit: 0))
  }

  /// Takes a slice. What the log has committed since follows it.
  func continueLoading(
    _ memberships: [LogAnswer.Membership], of user: String, ticket: UInt32,
    next: MembershipsCursor?, isComplete: Bool, in audience: inout some ListsAudience & ~Copyable
  ) {
    guard loads.finish(ticket: ticket) else {
      // The answer to a request for nothing: see `passLog`.
      for (session, request) in takeWaiting(of: user, ticket: ticket, in: &audience) {
        if let watch = table.find(user) {
          pages.begin(request, session, on: watch, &table, in: &audience)
        }
      }
      return
    }
    defer { askForSlice(in: &audience) }
    guard let watch = table.find(user), table.users[watch].ticket == ticket,
      table.users[watch].state == .loading
    else { return }
    guard isComplete else {
      table.users[watch].state = .idle
      for (session, _) in takeWaiting(of: user, ticket: 0, in: &audience) {
        let ref = audience.endReply(to: session)
        audience.reply(WireError.unavailable(re: .rooms, room: nil), ref: ref, to: session)
      }
      return
    }
    let joined = joinedCounts(of: user, in: &audience)
    for membership in memberships { put(membership, on: watch, joined: joined, in: &audience) }
    if let next {
      table.users[watch].after = next
      loads.append(watch, ticket: ticket)
      return
    }
    table.users[watch].state = .loaded
    table.sort(watch) { audience.name(of: $0) }
    answerLoaded(watch, in: &audience)
  }

  /// A list is loaded: charges the first session that waits for it, and answers all of them. Some
  /// have asked while the last slice was being read.
  private func answerLoaded(
    _ watch: Slot<UserWatch>, in audience: inout some ListsAudience & ~Copyable
  ) {
    let requests = table.users[watch].rooms.count / Self.roomsPerRequest
    let waiting = takeWaiting(of: table.users[watch].user, ticket: 0, in: &audience)
    if let first = waiting.first { audience.chargeRequests(requests, first.session) }
    for (session, request) in waiting { passLog(request, session, in: &audience) }
  }

  /// Returns the user's sessions whose `rooms` waits for an answer of the log, and ends their wait.
  private func takeWaiting(
    of user: String, ticket: UInt32, in audience: inout some ListsAudience & ~Copyable
  ) -> [(session: Slot<Session>, request: ClientMessage.RoomsRequest)] {
    var waiting: [(session: Slot<Session>, request: ClientMessage.RoomsRequest)] = []
    audience.forEachSession(of: user) { audience, session in
      if let request = pages.take(audience.id(of: session), for: ticket) {
        waiting.append((session, request))
      }
    }
    return waiting
  }

  // MARK: - Answers of storage

  /// Takes the times at which offline peers were last online.
  func continuePage(
    _ seen: [String: Int64], to session: Slot<Session>,
    in audience: inout some ListsAudience & ~Copyable, _ now: Moment
  ) {
    pages.continuePage(seen, session, in: &audience, now)
  }

  /// Takes what the rooms on a page show.
  func completePage(
    _ glimpses: [LogAnswer.Glimpse], to session: Slot<Session>,
    in audience: inout some ListsAudience & ~Copyable
  ) {
    guard let watch = table.find(audience.user(of: session)) else { return }
    pages.completePage(glimpses, session, on: watch, &table, in: &audience)
  }

  // MARK: - Time

  var nextDeadline: Int64? { throttle.nextDeadline }

  func tick(in audience: inout some ListsAudience & ~Copyable, _ now: Moment) {
    while let (node, _) = throttle.takeDue(now: now.monotonic) {
      if table.rooms.contains(node) { tell(node.slot, in: &audience) }
    }
  }

  var timerCount: Int { throttle.timerCount }
  var isLoose: Bool { table.isLoose || pages.isLoose || throttle.isLoose }

  func shrink() {
    table.shrink()
    pages.shrink()
    throttle.shrink()
  }
}
