import Moderation
import Wire

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

/// What `settings` and `member` entries do to their rooms: judged before they have their places, applied with
/// them.
extension Sequencer {
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

  mutating func judge(
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

  mutating func judge(
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
      if append.kind.isEditable { recordText(of: append.user, at: entry.at, inRoom: number) }
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
    of batch: borrowing Batch, _ store: inout some EntryLookup
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
}
