import Moderation
import Wire

/// The rules of a room in memory, and what is known of the users that its entries name.
struct Governance {
  var rules: RoomRules
  /// Filled on demand.
  var standings: [String: Standing] = [:]
  /// When users have sent their last texts to a slow room, in milliseconds since 1970.
  var lastTexts: [String: Int64] = [:]

  /// The number of users in memory, over all rooms, beyond which all are looked up again.
  static let usersLimit = 100_000

  /// Whether the store, which may be asked before the current batch is stored, has none of the standings that
  /// count.
  private(set) var isCleared = false

  init(rules: RoomRules) { self.rules = rules }

  /// Removes what entries have made of users, here and in the store.
  mutating func clearStandings() {
    standings = [:]
    isCleared = true
  }

  /// Forgets what can be looked up again. A user of a slow room may send the next text early then.
  mutating func forgetUsers() { (standings, lastTexts, isCleared) = ([:], [:], false) }
}

/// What a `settings` or `member` entry makes of its room, decided before the entry has its place.
struct Verdict {
  var rules: RoomRules
  /// The user who is named, and what they are then.
  var named: (user: String, standing: Standing)?
  /// Whether the room becomes private.
  var closes = false
  /// The members who are none then.
  var outsiders: [String] = []
}

/// Rooms with rules: who may read, send, and change them. The other rooms pay one test for it.
extension Sequencer {
  private func rules(of room: Int) -> RoomRules? {
    guard rooms[room].isGoverned, let number = rooms[room].number else { return nil }
    return governed[number]?.rules
  }

  func isPrivate(_ room: Int) -> Bool { rules(of: room)?.settings.access == .private }

  /// The time of the next entry of a room.
  private func time(in room: Int, _ now: Int64) -> Int64 { max(now, rooms[room].lastAt) }

  /// Returns what a user is in a room.
  mutating func standing(
    of user: String, in room: Int, _ store: inout some EntryLookup
  ) throws(StoreFailure) -> Standing {
    guard rooms[room].isGoverned, let number = rooms[room].number else { return .unnamed }
    if let known = governed[number]?.standings[user] { return known }
    let isCleared = governed[number]?.isCleared == true
    let standing = isCleared ? .unnamed : try store.standing(of: user, inRoom: number)
    governed[number]?.standings[user] = standing
    governedUsers += 1
    return standing
  }

  /// Bounds the memory for users, between batches.
  mutating func forgetGovernedUsers() {
    guard governedUsers > Governance.usersLimit else { return }
    governedUsers = 0
    for number in Array(governed.keys) { governed[number]?.forgetUsers() }
  }

  /// Records a text in a room with rules, if it is slow.
  mutating func recordText(of user: String, at: Int64, inRoom number: Int64) {
    guard let slow = governed[number]?.rules.settings.slowSeconds, slow > 0 else { return }
    governed[number]?.lastTexts[user] = at
    governedUsers += 1
  }

  private mutating func actor(
    _ user: String, _ isOperator: Bool, in room: Int, _ store: inout some EntryLookup
  ) throws(StoreFailure) -> RoomRules.Actor {
    RoomRules.Actor(user, try standing(of: user, in: room, &store), isOperator: isOperator)
  }

  // MARK: - Reading

  /// Returns the error for a user who may not read a room; `nil` if they may.
  mutating func readingRefusal(
    of user: String, _ isOperator: Bool, in room: Int, re: RequestName, _ now: Int64,
    _ store: inout some EntryLookup
  ) throws(StoreFailure) -> WireError? {
    let name = rooms[room].name
    if rooms[room].isReserved, RoomName.isForOperators(name), !isOperator {
      return Self.forOperators(re, name)
    }
    guard let rules = rules(of: room) else { return nil }
    let actor = try actor(user, isOperator, in: room, &store)
    do throws(RoomRules.Refusal) {
      try rules.checkReading(by: actor, now: time(in: room, now))
      return nil
    } catch {
      return error.wireError(re: re, room: name)
    }
  }

  static func forOperators(_ re: RequestName, _ room: String) -> WireError {
    WireError(
      .forbidden, "Room \(room) is for the operators of the relay.", re: re, room: room)
  }

  /// Whether a join or a send makes a user a member of a room, who may read it. An operator is none of a
  /// private room: the membership would outlast the right.
  mutating func mayJoin(
    _ user: String, _ room: Int, _ now: Int64, _ store: inout some EntryLookup
  ) throws(StoreFailure) -> Bool {
    try readingRefusal(of: user, false, in: room, re: .join, now, &store) == nil
  }

  /// Whether a user may read an entry of a room.
  mutating func isReadable(
    _ seq: Int64, by user: String, _ isOperator: Bool, in room: Int, _ batch: inout Batch,
    _ store: inout some EntryLookup
  ) throws(StoreFailure) -> Bool {
    guard let rules = rules(of: room) else { return true }
    let actor = try actor(user, isOperator, in: room, &store)
    return rules.firstReadable(by: actor, now: time(in: room, batch.now)).map { seq >= $0 } ?? false
  }

  /// Returns the first entry that a user who joins a room may read, and what the room is to them.
  mutating func view(
    of room: Int, for request: LogRequest.Subscribe, _ now: Int64,
    _ store: inout some EntryLookup
  ) -> (firstReadable: Int64, about: ServerMessage.RoomDescription?, joins: Bool) {
    guard let rules = rules(of: room) else { return (1, nil, true) }
    let now = time(in: room, now)
    guard let actor = try? actor(request.user, request.isOperator, in: room, &store) else {
      // The join has just read it: it fails now only if the store does, and then the log has none to show.
      return (rooms[room].head + 1, nil, false)
    }
    return (
      rules.firstReadable(by: actor, now: now) ?? rooms[room].head + 1,
      rules.description(for: actor, now),
      rules.settings.access == .open || actor.standing.isMember(now)
    )
  }

  /// Returns members with their roles.
  mutating func roles(
    of members: [ServerMessage.Marks], in room: Int, _ now: Int64, _ store: inout some EntryLookup
  ) -> [ServerMessage.Marks] {
    members.map { member in
      var member = member
      if let standing = try? standing(of: member.user, in: room, &store),
        standing != .unnamed
      {
        member.role = standing.role(time(in: room, now))
      }
      return member
    }
  }

  /// Refuses a send to a room that does not exist for its sender, as one to a free name, whatever the
  /// room has.
  /// - Returns: whether the room exists for the sender.
  mutating func isVisible(
    _ append: LogRequest.Append, _ room: Int, _ loop: Int, _ batch: inout Batch,
    _ store: inout some EntryLookup
  ) throws(StoreFailure) -> Bool {
    let refusal = try readingRefusal(
      of: append.user, append.isOperator, in: room, re: .send, batch.now, &store)
    guard var refusal, refusal.code == .noSuchRoom else { return true }
    if append.mayCreate, case .target(let target)? = append.reference {
      refusal =
        try mayBelong(append.user, to: room, &batch, &store)
        ? Self.noSuchEntry(append, target, in: append.room, "target")
        : roomsPerUserReached(append.user, re: .send, room: append.room, id: append.id)
    } else if !append.mayCreate {
      refusal = Self.noSuchRoom(re: .send, append.room)
    }
    refusal.id = append.id
    refuseSend(append, refusal, loop, &batch)
    return false
  }

  // MARK: - Sending

  /// Returns why a send is refused that has no other fault; `nil` if it is not. Keeps the verdict of one
  /// that changes the room.
  mutating func refusal(
    of append: LogRequest.Append, in room: Int, _ batch: inout Batch,
    _ store: inout some EntryLookup
  ) throws(StoreFailure) -> WireError? {
    batch.verdict = nil
    let actor = try actor(append.user, append.isOperator, in: room, &store)
    batch.isAct = append.isNotice && actor.acts && rooms[room].head > 0
    let now = time(in: room, batch.now)
    let refusal: WireError?
    switch append.reference {
    case .settings(let change):
      refusal = try judge(change, by: actor, append, in: room, now, &batch, &store)
    case .member(let change):
      refusal = try judge(change, by: actor, append, in: room, now, &batch, &store)
    default:
      guard let number = rooms[room].number, let governance = governed[number] else { return nil }
      do throws(RoomRules.Refusal) {
        try governance.rules.checkSending(
          append.deed, by: actor, lastTextAt: governance.lastTexts[append.user], now: now)
        refusal = nil
      } catch {
        refusal = error.wireError(re: .send, room: append.room)
      }
    }
    guard var refusal else { return nil }
    refusal.id = append.id
    return refusal
  }

  /// Whether a user may delete the entry of another user.
  mutating func mayDelete(
    _ entry: Entry, _ append: LogRequest.Append, in room: Int, _ batch: inout Batch,
    _ store: inout some EntryLookup
  ) throws(StoreFailure) -> Bool {
    guard Self.takesNotices(append.room) else { return false }
    let actor = try actor(append.user, append.isOperator, in: room, &store)
    let author = try standing(of: entry.from, in: room, &store)
    let rules = rules(of: room) ?? RoomRules()
    do throws(RoomRules.Refusal) {
      try rules.checkDeleting(entryOf: author, by: actor, now: time(in: room, batch.now))
      batch.isAct = actor.acts
      return true
    } catch {
      return false
    }
  }

  /// Whether a user who types may send then.
  mutating func maySend(
    _ user: String, to room: Int, _ now: Int64, _ store: inout some EntryLookup
  ) throws(StoreFailure) -> Bool {
    guard let rules = rules(of: room) else { return true }
    let actor = try actor(user, false, in: room, &store)
    do throws(RoomRules.Refusal) {
      try rules.checkSending(.content, by: actor, lastTextAt: nil, now: time(in: room, now))
      return true
    } catch {
      return false
    }
  }

  // MARK: - Settings and members

  /// Direct messages and the relay's own rooms have no rules.
  static func takesNotices(_ room: String) -> Bool {
    !RoomName.isDirect(room) && !RoomName.isReserved(room)
  }

  /// Returns why a notice has no sense in its room; `nil` if it has.
  private func unsuitable(
    _ append: LogRequest.Append, by actor: RoomRules.Actor, in room: Int
  ) -> WireError? {
    let text: String
    if !Self.takesNotices(append.room) {
      text = "Room \(append.room) has neither settings nor roles."
    } else if append.isListed, rules(of: room)?.counts.owners ?? 0 == 0, !actor.isOperator {
      text = "Room \(append.room) is listed, and belongs to the operators of the relay."
    } else if rules(of: room) == nil, rooms[room].head > 0, !actor.isOperator {
      text = "Room \(append.room) has no owner: only an operator of the relay may change it."
    } else {
      return nil
    }
    return WireError(.forbidden, text, re: .send, room: append.room)
  }

  private mutating func judge(
    _ change: RoomSettings.Change, by actor: RoomRules.Actor, _ append: LogRequest.Append,
    in room: Int, _ now: Int64, _ batch: inout Batch, _ store: inout some EntryLookup
  ) throws(StoreFailure) -> WireError? {
    if let error = unsuitable(append, by: actor, in: room) { return error }
    let before = rules(of: room) ?? RoomRules()
    var verdict = Verdict(rules: before)
    if rooms[room].head == 0 {
      let (rules, owner) = RoomRules.created(with: change, at: 1, now)
      verdict = Verdict(rules: rules, named: (append.user, owner))
    } else {
      do throws(RoomRules.Refusal) {
        try verdict.rules.change(change, by: actor, now: now)
      } catch {
        return error.wireError(re: .send, room: append.room)
      }
    }
    if verdict.rules.settings.access == .private, before.settings.access == .open {
      let limit = EntryLimits.closingMembers
      guard rooms[room].memberCount <= limit else {
        return WireError(
          .limitReached,
          "Room \(append.room) has more than \(limit) members, and cannot become private.",
          re: .send, room: append.room, field: "members_per_room")
      }
      verdict.closes = true
      verdict.outsiders = try outsiders(of: room, but: append.user, now, limit: limit, &store)
    }
    batch.verdict = verdict
    return nil
  }

  /// Returns the members that no entry has let in.
  private mutating func outsiders(
    of room: Int, but sender: String, _ now: Int64, limit: Int, _ store: inout some EntryLookup
  ) throws(StoreFailure) -> [String] {
    var users = Set(rooms[room].members.keys)
    if rooms[room].otherMembers > 0, let number = rooms[room].number {
      users.formUnion(try store.members(ofRoom: number, limit: limit + 1))
    }
    var outsiders: [String] = []
    for user in users.sorted() where user != sender || rooms[room].head > 0 {
      if try !standing(of: user, in: room, &store).isMember(now) { outsiders.append(user) }
    }
    return outsiders
  }

  private mutating func judge(
    _ change: MemberChange, by actor: RoomRules.Actor, _ append: LogRequest.Append, in room: Int,
    _ now: Int64, _ batch: inout Batch, _ store: inout some EntryLookup
  ) throws(StoreFailure) -> WireError? {
    if let error = unsuitable(append, by: actor, in: room) { return error }
    guard rooms[room].head > 0 else { return .hidden(append.room, re: .send) }
    if let until = change.until, until <= now {
      return WireError(
        .badField, "\"until\" must be in the future.", re: .send, room: append.room,
        field: "until")
    }
    _ = try self.room(append.room, knowing: change.user, &store)
    let target = try standing(of: change.user, in: room, &store)
    var verdict = Verdict(rules: rules(of: room) ?? RoomRules())
    let lastTextAt = rooms[room].number.flatMap { governed[$0]?.lastTexts[append.user] }
    do throws(RoomRules.Refusal) {
      if change.user == append.user, change.reason != nil {
        // It is shown as a text is.
        try verdict.rules.checkSending(.text, by: actor, lastTextAt: lastTextAt, now: now)
      }
      let standing = try verdict.rules.setRole(
        of: change.user, target, to: change.role, Standing.Term(until: change.until), by: actor,
        takesPart: rooms[room].members[change.user] != nil,
        limit: limits.membersPerRoom, at: rooms[room].head + 1, now: now)
      // One who takes part already is not invited.
      let takesPart = rooms[room].members[change.user] != nil && target.inviter == nil
      verdict.named = (change.user, takesPart ? standing.accepted : standing)
    } catch {
      return error.wireError(re: .send, room: append.room)
    }
    if let inviter = verdict.named?.standing.inviter {
      if target.inviter == nil, try !mayInvite(inviter, &batch, &store) {
        return roomsPerUserReached(inviter, re: .send, room: append.room)
      }
    } else if verdict.named?.standing.isMember(now) == true,
      try !mayBelong(change.user, to: room, &batch, &store)
    {
      return roomsPerUserReached(change.user, re: .send, room: append.room)
    }
    batch.verdict = verdict
    return nil
  }

  /// An invited user takes part in the room: from here on it counts among their own rooms.
  mutating func acceptInvitation(
    _ user: String, to room: Int, _ batch: inout Batch, _ store: inout some EntryLookup
  ) throws(StoreFailure) {
    let standing = try standing(of: user, in: room, &store)
    guard let inviter = standing.inviter, let number = rooms[room].number else { return }
    touch(room, &batch)
    governed[number]?.standings[user] = standing.accepted
    batch.judged.insert(MemberKey(room: room, user: user))
    countMembership(inviter, -1, isStored: true, &batch)
    countMembership(user, 1, isStored: true, &batch)
    if blocks.since(user, blocked: inviter) != nil {
      // It was not shown so far.
      batch.membershipChanges.append(
        Commit.MembershipChange(room: rooms[room].name, user: user, belongs: true))
    }
  }

  /// Applies what an entry of a room with rules does to them.
  mutating func applyRules(
    _ append: LogRequest.Append, _ entry: (seq: Int64, at: Int64), in room: Int,
    _ batch: inout Batch
  ) {
    guard let number = rooms[room].number else { return }
    guard append.isNotice else {
      if append.kind == .text { recordText(of: append.user, at: entry.at, inRoom: number) }
      return
    }
    guard let verdict = batch.verdict else { preconditionFailure("a notice has been judged") }
    batch.verdict = nil
    rooms[room].isGoverned = true
    governed[number, default: Governance(rules: verdict.rules)].rules = verdict.rules
    batch.ruled.insert(room)
    if let (user, standing) = verdict.named {
      let inviter = standing.inviter ?? governed[number]?.standings[user]?.inviter
      governed[number]?.standings[user] = standing
      batch.judged.insert(MemberKey(room: room, user: user))
      setMember(user, standing.isMember(entry.at), in: room, invitedBy: inviter, &batch)
    }
    for user in verdict.outsiders {
      // One who is removed needs no marks.
      if rooms[room].mustRead(user, batch: batch.number) {
        rooms[room].members[user] = MemberMarks()
        rooms[room].otherMembers -= 1
      }
      if batch.newRooms.contains(room) { batch.evicted.append(MemberKey(room: room, user: user)) }
      setMember(user, false, in: room, &batch)
    }
    if case .member(let change)? = append.reference {
      recordDeparture(change, by: append.user, at: entry.seq, in: room, &batch)
    }
    if verdict.closes { batch.recordClosing(of: room, by: append.user, at: entry.seq) }
  }

  private mutating func setMember(
    _ user: String, _ isMember: Bool, in room: Int, invitedBy inviter: String? = nil,
    _ batch: inout Batch
  ) {
    if !isMember { _ = retries.take(.init(room: rooms[room].name, user: user)) }
    guard (rooms[room].members[user] != nil) != isMember else { return }
    batch.byEntry.insert(MemberKey(room: room, user: user))
    if isMember {
      addMember(user, to: room, invitedBy: inviter, &batch)
    } else {
      removeMember(user, from: room, invitedBy: inviter, &batch)
    }
  }

  /// Records that an entry ends the subscriptions of a user, if it does.
  func recordDeparture(
    _ change: MemberChange, by sender: String, at seq: Int64, in room: Int, _ batch: inout Batch
  ) {
    guard change.role == .none || change.role == .banned else { return }
    batch.departures.append(
      Commit.Departure(
        room: rooms[room].name, user: change.user,
        entry: ServerMessage.Departure(
          seq: seq, by: sender, role: change.role, reason: change.reason)))
  }

  // MARK: - Outcomes

  /// Refuses the joins of a batch whose users have lost the right to read in it.
  mutating func endSubscriptions(_ batch: inout Batch, _ store: inout some EntryLookup) {
    guard !batch.ruled.isEmpty else { return }
    for place in batch.subscribing.indices where batch.subscribing[place].refusal == nil {
      let subscribing = batch.subscribing[place]
      let (room, request) = (subscribing.room, subscribing.request)
      guard batch.ruled.contains(room) else { continue }
      let refusal: WireError?
      do throws(StoreFailure) {
        refusal = try readingRefusal(
          of: request.user, request.isOperator, in: room, re: .join, batch.now, &store)
      } catch {
        refusal = WireError.unavailable(re: .join, room: request.room)
      }
      guard let refusal else { continue }
      batch.subscribing[place].refusal = refusal
      unsubscribe(room, request.user)
      batch.audienceRooms.insert(room)
    }
  }

  /// Returns the users whose subscriptions end with entries of a batch: for each, the first such entry of a
  /// room counts.
  mutating func departures(
    of batch: Batch, _ store: inout some EntryLookup
  ) -> [Commit.Departure] {
    var departures = batch.departures
    for (room, departure) in batch.closings.sorted(by: { $0.key < $1.key }) {
      for user in rooms[room].subscribers.users.sorted() {
        // Operators are not told apart here: they join again.
        if let standing = try? standing(of: user, in: room, &store),
          standing.isMember(rooms[room].lastAt), standing.since <= departure.seq
        {
          continue
        }
        departures.append(
          Commit.Departure(room: rooms[room].name, user: user, entry: departure))
      }
    }
    return departures.sorted { $0.entry.seq < $1.entry.seq }
  }

  static func named(_ user: String, _ room: String) -> ServerMessage {
    .error(
      WireError(
        .forbidden,
        "\(user) is a member of \(room) by an entry; leave with an entry of kind \"member\" and role"
          + " \"none\".", re: .leave, room: room, field: "forget"))
  }
}

extension RoomRules.Actor {
  /// Whether they may do as operators what their role does not allow.
  fileprivate var acts: Bool { isOperator && standing.base != .owner }
}

extension LogRequest.Append {
  fileprivate var deed: RoomRules.Deed {
    switch kind {
    case .text: .text
    case .edit, .react: .change
    case .delete: .deletion
    default: .content
    }
  }

  /// The length of a name that the relay chooses.
  static let chosenNameBytes = 34

  /// Returns the same for a room whose name the relay chooses: the same one for the same user and id,
  /// and one that no other user can guess.
  func naming(key: EntryIdentity.Key) -> LogRequest.Append {
    var name = "r-"
    // No room has such a number.
    for half in [UInt64.max, UInt64.max - 1] {
      let hash = EntryIdentity.hash(half, sender: user, id: id, key: key)
      let digits = String(hash, radix: 16)
      name += String(repeating: "0", count: 16 - digits.count) + digits
    }
    return LogRequest.Append(
      session: session, room: name, user: user, id: id, kind: kind, body: body,
      reference: reference, mayCreate: mayCreate, isOperator: isOperator, ref: ref,
      receivedAt: receivedAt)
  }
}
