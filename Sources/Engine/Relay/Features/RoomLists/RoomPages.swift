import Mixing
import Wire

/// The sessions that have requested `rooms`: the request that waits for the user's list, and the
/// progress of each session through it, a page at a time.
struct RoomPages {
  /// The number of rooms that one page looks at, including those that a token does not allow to
  /// read: a list with few readable rooms has short pages.
  private static let scanLimit = 2048

  struct Asker {
    /// The request that waits for the log.
    var request: ClientMessage.RoomsRequest?
    /// Identifies the question to the log after whose answer the page is built; 0 while the list is
    /// loaded.
    var ticket: UInt32 = 0
    var paging: RoomsPaging?
    /// The rows of the page that is being made.
    var summaries: [ServerMessage.RoomSummary] = []
  }

  private let titles: [String: String]
  private let people: People
  private let presence: PresenceNews
  private(set) var askers: [SessionID: Asker] = [:]
  /// Makes the numbers of cursors.
  private var random: SplitMix64

  /// - Parameter titles: those of the listed rooms, by name.
  init(titles: [String: String], people: People, presence: PresenceNews, seed: UInt64) {
    self.titles = titles
    self.people = people
    self.presence = presence
    random = SplitMix64(seed: seed)
  }

  func contains(_ session: SessionID) -> Bool { !askers.isEmpty && askers[session] != nil }

  /// Adds a session.
  /// - Returns: false if it is there already.
  mutating func insert(_ session: SessionID) -> Bool {
    guard askers[session] == nil else { return false }
    askers[session] = Asker()
    return true
  }

  /// Removes a session that has ended.
  mutating func remove(_ session: SessionID, on watch: Slot<UserWatch>, _ table: inout WatchedRooms)
  {
    endPaging(session, on: watch, &table)
    askers[session] = nil
  }

  var isLoose: Bool { askers.isLoose }
  mutating func shrink() { askers.shrinkIfLoose() }

  // MARK: - Waiting for the log

  /// Keeps a request until the log has answered a question.
  /// - Parameter ticket: identifies the question; 0 = until the list is loaded.
  mutating func wait(
    _ request: ClientMessage.RoomsRequest, _ session: SessionID, for ticket: UInt32 = 0
  ) {
    askers[session]?.request = request
    askers[session]?.ticket = ticket
  }

  /// Returns the request of a session if it waits for this answer, and ends the wait.
  mutating func take(_ session: SessionID, for ticket: UInt32) -> ClientMessage.RoomsRequest? {
    guard let asker = askers[session], let request = asker.request, asker.ticket == ticket else {
      return nil
    }
    askers[session]?.request = nil
    askers[session]?.ticket = 0
    return request
  }

  // MARK: - A page

  /// Starts a page: after the request's cursor, or at the front. The times at which offline peers
  /// were last online are read next.
  mutating func begin(
    _ request: ClientMessage.RoomsRequest, _ session: Slot<Session>, on watch: Slot<UserWatch>,
    _ table: inout WatchedRooms, in audience: inout some ListsAudience & ~Copyable
  ) {
    let id = audience.id(of: session)
    let cursor = request.cursor.flatMap { RoomsCursor($0) }
    if cursor == nil || askers[id]?.paging?.number != cursor?.number {
      endPaging(id, on: watch, &table)
      let next = cursor.map {
        table.place(
          after: audience.room(named: $0.room)?.slot, lastAt: $0.lastAt, watch,
          scanLimit: Self.scanLimit)
      }
      askers[id]?.paging = RoomsPaging(next: next ?? table.users[watch].newest)
      table.users[watch].pagings += 1
    }
    guard var paging = askers[id]?.paging else { return }
    paging.page = takeRooms(request.limit, from: &paging, session, table, in: audience)
    let user = audience.user(of: session)
    let summaries = paging.page.compactMap { $0 }
      .map { summary(table.rooms[$0], of: user, in: audience) }
    askers[id]?.paging = paging
    askers[id]?.summaries = summaries
    let peers = summaries.compactMap(\.peer)
      .filter { audience.presence(of: $0, to: session) == .offline }
    audience.read(.lastSeen(id, peers, for: .rooms))
  }

  private func takeRooms(
    _ limit: Int, from paging: inout RoomsPaging, _ session: Slot<Session>,
    _ table: borrowing WatchedRooms, in audience: borrowing some ListsAudience & ~Copyable
  ) -> [Slot<WatchedRoom>?] {
    var page: [Slot<WatchedRoom>?] = []
    var scanned = 0
    while page.count < limit, scanned < Self.scanLimit {
      let node: Slot<WatchedRoom>
      if let missed = paging.missed.popLast() {
        node = missed
      } else if let next = paging.next.slot {
        node = next
        paging.next = table.rooms[node].older
      } else {
        break
      }
      scanned += 1
      if audience.rightsAllowReading(audience.name(of: table.rooms[node].room), session) {
        page.append(node)
      }
    }
    return page
  }

  private func summary(
    _ watched: WatchedRoom, of user: String, in audience: borrowing some ListsAudience & ~Copyable
  ) -> ServerMessage.RoomSummary {
    let name = audience.name(of: watched.room)
    let bounds = audience.bounds(of: watched.room)
    var summary = ServerMessage.RoomSummary(
      room: name, title: titles[name] ?? name, head: bounds.head, read: watched.read, unread: 0,
      listed: titles[name] != nil, peer: nil, last: nil)
    (summary.unread, summary.unreadMore) = watched.unread(within: bounds)
    if let peer = RoomName.peer(in: name, of: user) {
      let profile = people.profile(of: peer)
      summary.peer = peer
      summary.title = profile?.name ?? peer
      summary.avatar = profile?.avatar
    }
    return summary
  }

  /// Takes the times at which offline peers were last online; what the rooms show is read next.
  mutating func continuePage(
    _ seen: [String: Int64], _ session: Slot<Session>,
    in audience: inout some ListsAudience & ~Copyable, _ now: Moment
  ) {
    let id = audience.id(of: session)
    guard var summaries = askers[id]?.summaries else { return }
    for place in summaries.indices {
      guard let peer = summaries[place].peer,
        audience.presence(of: peer, to: session) == .offline
      else { continue }
      summaries[place].lastSeen = audience.lastSeen(seen[peer], of: peer, to: session)
    }
    askers[id]?.summaries = summaries
    audience.read(
      .glimpses(id, summaries.map { ($0.room, $0.head) }, by: audience.asker(session, now)))
  }

  /// Takes what the rooms show, which completes the answer.
  mutating func completePage(
    _ glimpses: [LogAnswer.Glimpse], _ session: Slot<Session>, on watch: Slot<UserWatch>,
    _ table: inout WatchedRooms, in audience: inout some ListsAudience & ~Copyable
  ) {
    let id = audience.id(of: session)
    guard let asker = askers[id], var paging = asker.paging else { return }
    var included: [ServerMessage.RoomSummary] = []
    var last: Slot<WatchedRoom>?
    var bytes = 0
    for (place, summary) in asker.summaries.enumerated() {
      var summary = summary
      let glimpse = place < glimpses.count ? glimpses[place] : nil
      if let glimpse {
        // A listed room that has become private, or may have: only a member knows of it then.
        let belongs = paging.page[place].map { table.rooms[$0].belongs } ?? false
        if glimpse.isHidden ?? !belongs { continue }
      }
      summary.about = glimpse?.about
      if let json = glimpse?.last { summary.last = try? Entry(decoding: json.span) }
      summary.presence = summary.peer.map { audience.presence(of: $0, to: session) }
      summary.isRequest = glimpse?.isRequest ?? false
      if glimpse?.isAccepted == true {
        audience.submit(.accept(room: summary.room, user: audience.user(of: session), from: nil))
      }
      if let node = paging.page[place] { table.rooms[node].isRequest = summary.isRequest }
      bytes += audience.length { summary.append(to: &$0) } + 1
      if bytes > Shard.replyBytes || glimpse == nil, !included.isEmpty {
        // What does not fit, or has no last entry, is on the next page.
        paging.missed += paging.page[place...].compactMap { $0 }.reversed()
        break
      }
      included.append(summary)
      last = paging.page[place] ?? last
    }
    for row in included {
      if let peer = row.peer {
        presence.watch(peer, lastSeen: row.lastSeen, session, in: audience)
      }
    }
    paging.page = []
    askers[id]?.summaries = []
    var next: String?
    if paging.isAtEnd {
      endPaging(id, on: watch, &table)
    } else {
      paging.number = max(1, random.next() >> 11)
      askers[id]?.paging = paging
      let cursor = RoomsCursor(
        number: paging.number, lastAt: last.map { table.rooms[$0].lastAt } ?? Entry.sequenceLimit,
        room: included.last?.room ?? "-")
      next = cursor.text
    }
    let ref = audience.endReply(to: session)
    audience.reply(.rooms(included, next: next), ref: ref, to: session)
  }

  private mutating func endPaging(
    _ session: SessionID, on watch: Slot<UserWatch>, _ table: inout WatchedRooms
  ) {
    guard askers[session]?.paging != nil else { return }
    askers[session]?.paging = nil
    table.users[watch].pagings -= 1
  }

  // MARK: - A list that changes while it is paged

  /// A room was added at the front of a list: the next pages have it.
  mutating func add(
    _ node: Slot<WatchedRoom>, _ table: borrowing WatchedRooms,
    in audience: inout some ListsAudience & ~Copyable
  ) {
    changePagings(of: node, table, in: &audience) { paging, _ in paging.missed.append(node) }
  }

  /// A room moves to the front of its list: the next pages have it if the earlier ones did not.
  mutating func move(
    _ node: Slot<WatchedRoom>, _ table: borrowing WatchedRooms,
    in audience: inout some ListsAudience & ~Copyable
  ) {
    changePagings(of: node, table, in: &audience) { paging, isUnlisted in
      if isUnlisted { paging.missed.append(node) }
    }
  }

  /// A room is removed from its list.
  mutating func remove(
    _ node: Slot<WatchedRoom>, _ table: borrowing WatchedRooms,
    in audience: inout some ListsAudience & ~Copyable
  ) {
    changePagings(of: node, table, in: &audience) { paging, _ in
      paging.missed.removeAll { $0 == node }
      for place in paging.page.indices where paging.page[place] == node { paging.page[place] = nil }
    }
  }

  /// Calls `change` with the pagings of a room's user.
  private mutating func changePagings(
    of node: Slot<WatchedRoom>, _ table: borrowing WatchedRooms,
    in audience: inout some ListsAudience & ~Copyable,
    _ change: (inout RoomsPaging, _ isUnlisted: Bool) -> Void
  ) {
    let watched = table.rooms[node]
    guard table.users[watched.watch].pagings > 0 else { return }
    var sessions: [SessionID] = []
    audience.forEachSession(of: table.users[watched.watch].user) { audience, session in
      sessions.append(audience.id(of: session))
    }
    for session in sessions {
      guard var paging = askers[session]?.paging else { continue }
      let isUnlisted = paging.next.slot.map { watched.stamp <= table.rooms[$0].stamp } ?? false
      if paging.next.slot == node { paging.next = watched.older }
      change(&paging, isUnlisted)
      askers[session]?.paging = paging
    }
  }
}
