import Moderation
import Wire

/// Blocks between users, and direct rooms that are requests: `BlockTable` and `DirectState` have the state,
/// which the store keeps. The other rooms pay one test for it.
extension Sequencer {
  /// Begins a block or ends it.
  mutating func block(
    _ change: LogRequest.Block, from loop: Int, _ batch: inout Batch,
    _ store: inout some EntryLookup
  ) throws(StoreFailure) {
    let (user, blocked) = (change.user, change.blocked)
    if (blocks.since(user, blocked: blocked) != nil) == change.on {
      batch.promises.append((loop, change.origin, room: nil))
      return
    }
    let room = try room(RoomName.direct(user, blocked), &store)
    if change.on, let refusal = blockRefusal(change, in: room) {
      batch.answers.append((loop, .answer(change.origin, .error(refusal))))
      return
    }
    setBlock(of: user, blocked, on: change.on, in: room, &batch)
    batch.promises.append((loop, change.origin, room: nil))
  }

  /// Begins a block that there is not, or ends one that there is.
  /// - Parameter room: the direct room of the two.
  mutating func setBlock(
    of user: String, _ blocked: String, on: Bool, in room: Int, _ batch: inout Batch
  ) {
    // A room that is not stored has nothing to hide: its first entry asks the table.
    if rooms[room].number != nil {
      if on {
        if blocks.separation(of: user, blocked) == nil { standStill(room, of: [user, blocked]) }
        rooms[room].direct.beginHiding(blocked, after: rooms[room].head)
      } else {
        rooms[room].direct.endHiding(blocked, after: rooms[room].head)
        if blocks.since(blocked, blocked: user) == nil { rooms[room].direct.standstills = [] }
      }
      batch.directs.insert(room)
    }
    batch.audienceRooms.insert(room)
    batch.undoneBlocks.append(
      BlockChange(user: user, blocked: blocked, at: blocks.since(user, blocked: blocked)))
    let begun = BlockChange(user: user, blocked: blocked, at: on ? batch.now : nil)
    blocks.apply(begun)
    batch.blocks.append(begun)
  }

  /// Keeps how far two users have got in their direct room, before they are separated.
  private mutating func standStill(_ room: Int, of users: [String]) {
    rooms[room].direct.standstills = users.sorted().compactMap { user in
      rooms[room].members[user].map {
        DirectState.Standstill(user: user, read: $0.read, received: $0.received)
      }
    }
  }

  private func blockRefusal(_ change: LogRequest.Block, in room: Int) -> WireError? {
    let limit = EntryLimits.blocksPerUser
    // The other user's own blocks do not count: they could use up the limit against this one.
    let runs = rooms[room].direct.hidden.count { $0.sender == change.blocked }
    let text: String
    if blocks.count(by: change.user) >= limit {
      text = "You have reached the limit of \(limit) blocked users; end a block first."
    } else if runs >= EntryLimits.hiddenRuns {
      text = "You have blocked this user and ended the block too often."
    } else {
      return nil
    }
    return WireError(.limitReached, text, re: .block, field: "blocks_per_user")
  }

  // MARK: - Direct rooms

  /// A direct room gets its first entry: those of a user who is blocked are hidden.
  mutating func hideEntries(ofNewRoom room: Int, _ batch: inout Batch) {
    guard !blocks.isEmpty, let (a, b) = RoomName.peers(of: rooms[room].name) else { return }
    for (user, other) in [(a, b), (b, a)] where blocks.since(user, blocked: other) != nil {
      rooms[room].direct.beginHiding(other, after: 0)
      batch.directs.insert(room)
    }
  }

  /// Whether an entry is hidden from a user.
  func hides(_ entry: Entry, from user: String, in room: Int) -> Bool {
    !rooms[room].direct.hidden.isEmpty && rooms[room].direct.hides(entry, from: user)
  }

  /// Whether an entry is the first one of a direct room, from a user who is not known to the other one.
  mutating func isRequest(
    _ append: LogRequest.Append, in room: Int, _ batch: inout Batch, _ store: inout some EntryLookup
  ) throws(StoreFailure) -> Bool {
    guard rooms[room].head == 0, let peer = RoomName.peer(in: append.room, of: append.user)
    else { return false }
    return try !share(append.user, peer, batch.now, &store)
  }

  mutating func beginRequest(
    _ append: LogRequest.Append, in room: Int, _ batch: inout Batch
  ) {
    guard let stranger = append.stranger, let peer = RoomName.peer(in: append.room, of: append.user)
    else { return }
    rooms[room].direct.request = DirectState.Request(user: peer, issuer: stranger.issuer)
    batch.directs.insert(room)
    batch.requests.append(Commit.RequestChange(room: append.room, user: peer, isOn: true))
  }

  /// The user of a direct room has accepted it: from here on their receipts are told.
  mutating func acceptRequest(_ user: String, in room: Int, _ batch: inout Batch) {
    guard rooms[room].direct.request?.user == user else { return }
    rooms[room].direct.request = nil
    batch.directs.insert(room)
    batch.requests.append(
      Commit.RequestChange(room: rooms[room].name, user: user, isOn: false))
    if rooms[room].members[user] != nil {
      batch.marked.insert(MemberKey(room: room, user: user))
    }
  }

  /// Whether two users are members of a private room. A mere invitation to `b` does not count: a stranger
  /// could send it first.
  private mutating func share(
    _ a: String, _ b: String, _ now: Int64, _ store: inout some EntryLookup
  ) throws(StoreFailure) -> Bool {
    let limit = EntryLimits.sharedRooms
    for membership in try store.memberships(of: a, after: 0, limit: limit)
    where !RoomName.isDirect(membership.room) {
      let other = try store.standing(of: b, inRoom: membership.number)
      guard other.isMember(now), other.inviter == nil else { continue }
      let room = try room(membership.room, &store)
      if isPrivate(room), try standing(of: a, in: room, &store).isMember(now) { return true }
    }
    return false
  }

  // MARK: - What users see of each other

  /// Returns the marks of members as one of them sees them: those of a user who is separated from them
  /// do not pass what they were then in a direct room, and what there was then elsewhere; those of a user who
  /// has not accepted a request do not show.
  mutating func marks(
    _ members: [ServerMessage.Marks], seenBy user: String, in room: Int,
    _ store: inout some EntryLookup
  ) -> [ServerMessage.Marks] {
    if blocks.isEmpty, rooms[room].direct.request == nil { return members }
    return members.map { member in
      var member = member
      if rooms[room].direct.request?.user == member.user, member.user != user {
        (member.read, member.received) = (0, 0)
      } else if let at = blocks.separation(of: member.user, user) {
        if let then = rooms[room].direct.standstills.first(where: { $0.user == member.user }) {
          member.read = min(member.read, then.read)
          member.received = min(member.received, then.received)
          return member
        }
        // A store that cannot be read shows none of them.
        let last = (try? lastSeq(through: at, in: room, &store)) ?? 0
        member.read = min(member.read, last)
        member.received = min(member.received, last)
      }
      return member
    }
  }

  /// Returns the number of a room's subscribed users, as it is published: separated users do not count for
  /// each other.
  func audience(of room: Int) -> Int64 {
    let audience = rooms[room].audience
    return blocks.separates(directRoom: rooms[room].name) ? min(1, audience) : audience
  }

  /// Returns the last entry of a room that was there at a time, at which two of its users were separated: by
  /// bisection, once for each time.
  private mutating func lastSeq(
    through time: Int64, in room: Int, _ store: inout some EntryLookup
  ) throws(StoreFailure) -> Int64 {
    guard let number = rooms[room].number else { return 0 }
    if let begun = rooms[room].direct.hidden.filter({ $0.last == nil }).map(\.first).min() {
      return begun - 1
    }
    let key = PastHead(room: number, at: time)
    if let known = pastHeads[key] { return known }
    var (low, high) = (rooms[room].first - 1, rooms[room].head)
    while low < high {
      let middle = low + (high - low + 1) / 2
      let entry = try store.entry(middle, ofRoom: number, named: rooms[room].name)
      if let entry, entry.at <= time { low = middle } else { high = middle - 1 }
    }
    if pastHeads.count >= Self.pastHeadsLimit { pastHeads = [:] }
    pastHeads[key] = low
    return low
  }

  /// A room at a time.
  struct PastHead: Hashable {
    var room: Int64
    /// Milliseconds since 1970.
    var at: Int64
  }

  static let pastHeadsLimit = 8192

  // MARK: - Outcomes

  /// The blocks of a batch that was not stored never were.
  mutating func undoBlocks(_ batch: borrowing Batch) {
    for change in batch.undoneBlocks.reversed() { blocks.apply(change) }
    for room in batch.directs { rooms[room].isStale = true }
  }

  /// Returns the entries of a batch that are hidden from the other user of their room, by index.
  func hiddenEntries(of batch: borrowing Batch) -> Set<Int> {
    // Blocks may have ended in this batch.
    if blocks.isEmpty, batch.blocks.isEmpty { return [] }
    var hidden: Set<Int> = []
    for (index, room) in batch.entryRooms.enumerated() where !rooms[room].direct.hidden.isEmpty {
      let entry = batch.entries[index].entry
      if rooms[room].direct.hides(entry.seq, of: entry.from) { hidden.insert(index) }
    }
    return hidden
  }
}
