import Moderation
import Wire

/// Applies each request to the rooms and to the batch.
extension Sequencer {
  /// Applies the requests of one loop in their order.
  mutating func applyRequests(
    _ requests: [LogRequest], from loop: Int, _ batch: inout Batch,
    _ store: inout some EntryLookup
  ) {
    for request in requests { applyRequest(request, from: loop, &batch, &store) }
  }

  private mutating func applyRequest(
    _ request: LogRequest, from loop: Int, _ batch: inout Batch, _ store: inout some EntryLookup
  ) {
    do throws(StoreFailure) {
      switch request {
      case .append(let request): try append(request, from: loop, &batch, &store)
      case .subscribe(let request): try subscribe(request, from: loop, &batch, &store)
      case .unsubscribe(let name, let user):
        if let room = indices[name] {
          unsubscribe(room, user)
          batch.audienceRooms.insert(room)
          forgetIfAbandoned(room, &batch)
        }
      case .mark(let name, let marks, let origin):
        let room = try room(name, knowing: marks.user, &store)
        answerMember(origin, .ok, ifMember: marks.user, of: room, from: loop, &batch)
        mark(
          room, user: marks.user, MemberMarks(read: marks.read, received: marks.received), &batch)
      case .forget(let name, let user, let origin):
        let room = try room(name, knowing: user, &store)
        if try standing(of: user, in: room, &store).isMember(batch.now) {
          // Only an entry ends what an entry began: else the others would not see who may read.
          if let origin {
            batch.answers.append((loop, .answer(origin, Self.refusalToForget(user, name))))
          }
          return
        }
        answerMember(origin, .left(room: name), ifMember: user, of: room, from: loop, &batch)
        removeMember(user, from: room, &batch)
      case .typing(let name, let user, let on, let origin):
        let room = try room(name, &store)
        if let origin { batch.answers.append((loop, .answer(origin, .ok))) }
        if rooms[room].memberCount <= SequencedRoom.memberListLimit,
          rooms[room].direct.request?.user != user,
          try maySend(user, to: room, batch.now, &store)
        {
          batch.typing.append(Commit.TypingChange(room: name, user: user, on: on))
        }
      case .presence(let user, let from, let to):
        shiftPresence(of: user, from: from, to: to, &batch)
      case .memberships(let ticket, let user, let listed, let after, let limit):
        batch.questions.append(
          Batch.Question(
            loop: loop, ticket: ticket, user: user, listed: listed, after: after, limit: limit))
      case .trace(let request): traces.append((loop, request))
      case .ban(let change, let order): try ban(change, order, from: loop, &batch, &store)
      case .act(let act, let order): try recordAct(act, order, from: loop, &batch, &store)
      case .deleteRoom(let room, let order):
        try deleteRoom(room, order, from: loop, &batch, &store)
      case .erase(let erasure, let order):
        try erase(erasure, order, from: loop, &batch, &store)
      case .file(let change, let asker):
        try self.change(change, for: asker, from: loop, &batch, &store)
      case .report(let request): try report(request, from: loop, &batch, &store)
      case .block(let request): try block(request, from: loop, &batch, &store)
      case .accept(let name, let user, let origin):
        let room = try room(name, knowing: user, &store)
        guard rooms[room].members[user] != nil else {
          answerMember(origin, .ok, ifMember: user, of: room, from: loop, &batch)
          return
        }
        acceptRequest(user, in: room, &batch)
        if let origin { batch.promises.append((loop, origin, room: name)) }
      }
    } catch {
      if error.damage == nil { batch.failure = error } else { batch.damage = error }
      if error.damage == .entry, case .append(let append) = request {
        refuseUnreadable(append, from: loop, &batch)
      } else {
        refuseUnread(request, from: loop, &batch)
      }
    }
  }

  /// Answers a request for which only membership is required.
  private func answerMember(
    _ origin: LogRequest.Origin?, _ message: ServerMessage, ifMember user: String, of room: Int,
    from loop: Int, _ batch: inout Batch
  ) {
    guard let origin else { return }
    let answer =
      rooms[room].members[user] == nil
      ? .error(.notMember(of: rooms[room].name, re: origin.re)) : message
    batch.answers.append((loop, .answer(origin, answer)))
  }

  // MARK: - Rooms

  /// Returns the index of a room, and reads its stored state if necessary.
  mutating func room(
    _ name: String, _ store: inout some EntryLookup
  ) throws(StoreFailure) -> Int {
    let known = indices[name]
    if let known, !rooms[known].isStale { return known }
    let stored = try store.loadRoom(name)?.checked(name)
    let index = known ?? add(SequencedRoom(name: name))
    if let stored {
      rooms[index].restore(stored)
      governed[stored.number] = stored.rules.map { Governance(rules: $0) }
    }
    rooms[index].isStale = false
    return index
  }

  /// The same; it is known then whether the user is a member.
  mutating func room(
    _ name: String, knowing user: String, _ store: inout some EntryLookup
  ) throws(StoreFailure) -> Int {
    let room = try room(name, &store)
    if rooms[room].mustRead(user, batch: batchNumber),
      let marks = try store.membership(of: user, toRoom: name)?.checked().marks
    {
      rooms[room].members[user] = marks
      rooms[room].otherMembers -= 1
    }
    return room
  }

  static func noSuchRoom(re: RequestName, _ room: String, id: String? = nil) -> WireError {
    WireError(
      .noSuchRoom, "Room \(room) does not exist, and creating rooms is not allowed.", re: re,
      room: room, id: id)
  }

  // MARK: - Members and subscribers

  private mutating func subscribe(
    _ request: LogRequest.Subscribe, from loop: Int, _ batch: inout Batch,
    _ store: inout some EntryLookup
  ) throws(StoreFailure) {
    let room = try room(request.room, knowing: request.user, &store)
    func refuse(_ error: WireError) {
      batch.subscribing.append(
        Batch.Subscribing(
          loop: loop, request: request, room: room, head: 0,
          resumption: Resumption(after: 0, resume: .ok), refusal: error))
    }
    guard request.mayCreate || rooms[room].exists else {
      refuse(Self.noSuchRoom(re: .join, request.room))
      return
    }
    if let refusal = try readingRefusal(
      of: request.user, request.isOperator, in: room, re: .join, batch.now, &store)
    {
      let isHidden = refusal.code == .noSuchRoom && !request.mayCreate
      refuse(isHidden ? Self.noSuchRoom(re: .join, request.room) : refusal)
      return
    }
    guard try mayBelong(request.user, to: room, &batch, &store) else {
      refuse(roomsPerUserReached(request.user, re: .join, room: request.room))
      return
    }
    try acceptInvitation(request.user, to: room, &batch, &store)
    let resumption = try resumption(of: request, room, &store)
    if rooms[room].members.count >= SequencedRoom.unstoredMembersLimit {
      _ = try makeStorable(room, &batch, &store)
    }
    if try mayJoin(request.user, room, batch.now, &store) {
      addMember(request.user, to: room, &batch)
    }
    if rooms[room].subscribers.isEmpty { subscribedRooms += 1 }
    rooms[room].subscribers.add(request.user)
    batch.audienceRooms.insert(room)
    batch.subscribing.append(
      Batch.Subscribing(
        loop: loop, request: request, room: room, head: rooms[room].head, resumption: resumption))
  }

  /// Also reads the room's epochs, which `joined` lists.
  mutating func resumption(
    of request: LogRequest.Subscribe, _ room: Int, _ store: inout some EntryLookup
  ) throws(StoreFailure) -> Resumption {
    if rooms[room].epochs == nil {
      rooms[room].epochs = try RoomEpochs(
        ofRoom: rooms[room].number, current: lineage.current.number, from: &store)
    }
    let head = rooms[room].head
    guard let after = request.after else { return Resumption(after: head, resume: .ok) }
    guard let common = lineage.common(epoch: request.epoch, lineage: request.lineage) else {
      return Resumption(after: after, limit: nil, first: rooms[room].first)
    }
    var limit = head
    if common.epoch != lineage.current {
      limit = 0
      if let number = rooms[room].number {
        limit =
          try store.lastEntry(ofRoom: number, throughEpoch: common.epoch.number)?.seq ?? 0
      }
    }
    return Resumption(after: after, limit: limit, end: common.end, first: rooms[room].first)
  }

  /// Makes the user a member of the room, unless the user is one.
  /// - Parameters:
  ///   - marks: the marks to begin with; `nil` = those of a membership that begins now.
  ///   - inviter: another user whose rooms it counts among.
  mutating func addMember(
    _ user: String, to room: Int, marks: MemberMarks? = nil, invitedBy inviter: String? = nil,
    _ batch: inout Batch
  ) {
    guard rooms[room].members[user] == nil, !rooms[room].isReserved else { return }
    rooms[room].members[user] = marks ?? rooms[room].firstMarks
    countMembership(inviter ?? user, 1, isStored: rooms[room].number != nil, &batch)
    if rooms[room].number == nil {
      unstored.insert(rooms[room].name, of: user)
    } else {
      touch(room, &batch)
      batch.dirtyMembers.insert(MemberKey(room: room, user: user))
    }
    // An invitation by a blocked user is not shown.
    if let inviter, blocks.since(user, blocked: inviter) != nil { return }
    batch.membershipChanges.append(
      Commit.MembershipChange(room: rooms[room].name, user: user, belongs: true))
  }

  /// - Parameter inviter: another user whose rooms it counts among.
  mutating func removeMember(
    _ user: String, from room: Int, invitedBy inviter: String? = nil, _ batch: inout Batch
  ) {
    guard rooms[room].removeMember(user, batch: batch.number) else { return }
    countMembership(inviter ?? user, -1, isStored: rooms[room].number != nil, &batch)
    let key = MemberKey(room: room, user: user)
    batch.dirtyMembers.remove(key)
    if rooms[room].number == nil {
      recordStored(rooms[room].name, user)
    } else {
      touch(room, &batch)
      batch.formerMembers.append(key)
    }
    batch.membershipChanges.append(
      Commit.MembershipChange(room: rooms[room].name, user: user, belongs: false))
  }

  mutating func mark(_ room: Int, user: String, _ marks: MemberMarks, _ batch: inout Batch) {
    guard var own = rooms[room].members[user] else { return }
    let head = rooms[room].head
    let before = own
    own.read = max(own.read, min(marks.read, head))
    // An entry that is read has also been received.
    own.received = max(own.received, min(marks.received, head), own.read)
    guard own != before else { return }
    rooms[room].members[user] = own
    touch(room, &batch)
    let key = MemberKey(room: room, user: user)
    batch.dirtyMembers.insert(key)
    batch.marked.insert(key)
  }

  mutating func unsubscribe(_ room: Int, _ user: String) {
    if rooms[room].subscribers.isEmpty { return }
    rooms[room].subscribers.remove(user)
    if rooms[room].subscribers.isEmpty { subscribedRooms -= 1 }
  }

  /// Records the rooms whose audience differs from the one that was last published.
  mutating func recordAudiences(_ batch: inout Batch) {
    for room in batch.audienceRooms.sorted() {
      let audience = audience(of: room)
      guard audience != rooms[room].publishedAudience else { continue }
      rooms[room].publishedAudience = audience
      batch.audiences.append(
        Commit.AudienceChange(room: rooms[room].name, subscribers: audience))
    }
  }

  /// Forgets a room without entries or subscribers, together with its members.
  mutating func forgetIfAbandoned(_ room: Int, _ batch: inout Batch) {
    guard rooms[room].number == nil, rooms[room].subscribers.isEmpty else { return }
    abandonedRooms.append(room)
    for user in rooms[room].members.keys.sorted() { removeMember(user, from: room, &batch) }
  }

  /// Removes a membership from those that the store does not know: it was stored, or it ended.
  mutating func recordStored(_ room: String, _ user: String) {
    unstored.remove(room, of: user)
  }
}
