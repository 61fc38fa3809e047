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

/// Rooms with rules: who may read, send, and change them. The other rooms pay one test for it.
extension Sequencer {
  func rules(of room: Int) -> RoomRules? {
    guard rooms[room].isGoverned, let number = rooms[room].number else { return nil }
    return governed[number]?.rules
  }

  func isPrivate(_ room: Int) -> Bool { rules(of: room)?.settings.access == .private }

  /// The time of the next entry of a room.
  func time(in room: Int, _ now: Int64) -> Int64 { max(now, rooms[room].lastAt) }

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

  static func refusalToForget(_ user: String, _ room: String) -> ServerMessage {
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
    case .text, .file: .text
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
      receivedAt: receivedAt, traceparent: traceparent)
  }
}
