import Wire

/// Applies each request to the rooms and to the batch.
extension Sequencer {
  /// Handles the requests of one loop in their order.
  mutating func handle(
    _ requests: [LogRequest], from loop: Int, _ batch: inout Batch,
    _ store: inout some EntryStore
  ) {
    for request in requests { handle(request, from: loop, &batch, &store) }
  }

  private mutating func handle(
    _ request: LogRequest, from loop: Int, _ batch: inout Batch, _ store: inout some EntryStore
  ) {
    do throws(StoreFailure) {
      switch request {
      case .append(let append): try handle(append, from: loop, &batch, &store)
      case .subscribe(let enter): try handle(enter, from: loop, &batch, &store)
      case .unsubscribe(let name, let user):
        if let room = indices[name] {
          unsubscribe(room, user)
          batch.audienceRooms.insert(room)
          forgetIfAbandoned(room, &batch)
        }
      case .mark(let name, let marks, let origin):
        let room = try room(name, &store)
        answer(origin, .ok, ifMember: marks.user, of: room, from: loop, &batch)
        mark(
          room, user: marks.user, MemberMarks(read: marks.read, received: marks.received), &batch)
      case .forget(let name, let user, let origin):
        let room = try room(name, &store)
        answer(origin, .left(room: name), ifMember: user, of: room, from: loop, &batch)
        forget(user, room, &batch)
      case .typing(let name, let user, let on, let origin):
        if let origin { batch.answers.append((loop, .answer(origin, .ok))) }
        let room = try room(name, &store)
        if rooms[room].members.count <= SequencedRoom.memberListLimit {
          batch.typing.append(Commit.TypingChange(room: name, user: user, on: on))
        }
      case .presence(let user, let from, let to):
        let before = presences.shift(user, from: from, to: to)
        if batch.presences[user] == nil { batch.presences[user] = before }
        if store.isShared { nodes.shift(user, from: from, to: to) }
      case .spent(let spending): if store.isShared { batch.spending += spending }
      case .memberships(let ticket, let user, let listed, let after, let limit):
        batch.questions.append(
          Batch.Question(
            loop: loop, ticket: ticket, user: user, listed: listed, after: after, limit: limit))
      case .trace(let request): traces.append((loop, request))
      }
    } catch {
      batch.failure = error
      refuseUnread(request, from: loop, &batch)
    }
  }

  /// Answers a request for which only membership is required.
  private func answer(
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
    _ name: String, _ store: inout some EntryStore
  ) throws(StoreFailure) -> Int {
    if let index = indices[name] {
      try refresh(index, &store)
      return index
    }
    var room = SequencedRoom(name: name)
    if let stored = try store.loadRoom(name) { room.restore(try stored.checked(name)) }
    room.isStale = false
    let index = rooms.count
    rooms.append(room)
    indices[name] = index
    return index
  }

  mutating func refresh(_ index: Int, _ store: inout some EntryStore) throws(StoreFailure) {
    guard rooms[index].isStale else { return }
    let name = rooms[index].name
    if let stored = try store.loadRoom(name) { rooms[index].restore(try stored.checked(name)) }
    rooms[index].isStale = false
  }

  static func noSuchRoom(re: String, _ room: String, id: String? = nil) -> WireError {
    WireError(
      .noSuchRoom, "Room \(room) does not exist, and creating rooms is not allowed.", re: re,
      room: room, id: id)
  }

  // MARK: - Entries

  private mutating func handle(
    _ append: LogRequest.Append, from loop: Int, _ batch: inout Batch,
    _ store: inout some EntryStore
  ) throws(StoreFailure) {
    let room = try room(append.room, &store)
    func refuse(_ error: WireError) {
      var error = error
      error.ref = append.ref
      batch.refuse(append.session, from: loop, error)
    }
    guard append.mayCreate || rooms[room].exists else {
      refuse(Self.noSuchRoom(re: "send", append.room, id: append.id))
      return
    }
    if !holds.isEmpty, let wait = hold(append.room, loop, append.session, batch.now) {
      refuse(
        WireError.unavailable(
          re: "send", room: append.room, id: append.id, retryAfterMilliseconds: wait))
      return
    }
    func acknowledge(_ seq: Int64, _ at: Int64, duplicate: Bool, wasStored: Bool) {
      let ack = ServerMessage.Ack(
        room: append.room, id: append.id, seq: seq, at: at, duplicate: duplicate,
        ref: append.ref)
      batch.acks[loop].append(ack, to: append.session, wasStored: wasStored)
    }
    /// Answers a send whose id an earlier entry has.
    func answer(as first: Entry, wasStored: Bool) {
      if append.hasContent(of: first) || first.isRedacted {
        acknowledge(first.seq, first.at, duplicate: true, wasStored: wasStored)
      } else if batch.redacts(first, room: room) {
        // If the batch is not stored, the content is not redacted either.
        acknowledge(first.seq, first.at, duplicate: true, wasStored: false)
      } else {
        refuse(Self.idConflict(append, first.seq))
      }
    }
    var known: EntryIdentity?
    if let number = rooms[room].number {
      let identity = EntryIdentity(
        room: number, sender: append.user, id: append.id, key: store.identityKey)
      known = identity
      if let index = batch.find(identity, room: room, sender: append.user, id: append.id) {
        answer(as: batch.entries[index].entry, wasStored: false)
        return
      }
      if let first = try store.find(
        identity, room: number, named: append.room, sender: append.user, id: append.id)
      {
        answer(as: first, wasStored: true)
        return
      }
    }
    let member = rooms[room].members.place(of: append.user)
    if member == nil, try !mayBelong(append.user, to: room, &batch, &store) {
      refuse(roomsPerUserReached(append.user, re: "send", room: append.room, id: append.id))
      return
    }
    // This comes before the reference is resolved, because that may change the batch.
    do throws(WireError) {
      try checkSpace(for: append, append.body.count, in: room, loop, &batch)
    } catch {
      refuse(error)
      return
    }
    var body = append.body
    if append.reference != nil {
      switch try resolve(append, room, &batch, &store) {
      case .success(let resolved): body = resolved
      case .failure(let error):
        refuse(error)
        return
      }
    }
    if body.count > append.body.count {
      do throws(WireError) {
        try checkSpace(for: append, body.count, in: room, loop, &batch)
      } catch {
        refuse(error)
        return
      }
    }
    let number = try makeStorable(room, &batch, &store)
    touch(room, &batch)
    let seq = rooms[room].head + 1
    let at = max(batch.now, rooms[room].lastAt)
    rooms[room].head = seq
    rooms[room].lastAt = at
    if rooms[room].hasDerivedMarks, rooms[room].last.sender != append.user {
      // From here on they do not follow from the last entries.
      batch.dirtyMembers.insert(MemberKey(room: room, user: rooms[room].last.sender))
      rooms[room].hasDerivedMarks = false
    }
    rooms[room].last.note(append.user, seq: seq, isContent: append.kind.isContent)
    var entry = StoreChanges.NewEntry(
      room: number,
      identity: known
        ?? EntryIdentity(room: number, sender: append.user, id: append.id, key: store.identityKey),
      entry: Entry(
        room: append.room, seq: seq, id: append.id, from: append.user, at: at, kind: append.kind,
        body: body),
      last: rooms[room].last)
    if case .target(let target)? = append.reference {
      rooms[room].changes += 1
      entry.change = StoreChanges.Change(target: target, number: rooms[room].changes)
      batch.append(consume entry, room: room, receivedAt: append.receivedAt)
      batch.noteChange(of: target, room: room)
    } else {
      batch.append(consume entry, room: room, receivedAt: append.receivedAt)
    }
    if let member {
      rooms[room].noteSend(by: member)
    } else {
      add(append.user, to: room, &batch)
      rooms[room].noteSend(by: append.user)
    }
    if rooms[room].members.count < 2, let (a, b) = RoomName.peers(of: append.room) {
      // A peer who has reached the limit of rooms receives the entries but does not become a
      // member; the next entry tries again.
      for peer in [a, b] where try mayBelong(peer, to: room, &batch, &store) {
        add(peer, to: room, &batch)
      }
    }
    acknowledge(seq, at, duplicate: false, wasStored: false)
  }

  /// Throws if an entry would exceed the limit of its batch or the last possible `seq`.
  private mutating func checkSpace(
    for append: LogRequest.Append, _ bodyBytes: Int, in room: Int, _ loop: Int, _ batch: inout Batch
  ) throws(WireError) {
    if rooms[room].head >= Entry.sequenceLimit {
      throw WireError(
        .limitReached, "Room \(append.room) has reached the maximum seq.",
        re: "send", room: append.room, id: append.id, field: "seq")
    }
    if batch.hasRoom(forBody: bodyBytes, limitBytes: batchBytesLimit) { return }
    // As after a failed commit, later sends of the session to the room wait as well, which keeps
    // their order.
    holds[HoldKey(loop: loop, session: append.session, room: append.room)] =
      batch.now + Refusal.retryAfterMilliseconds
    throw WireError.unavailable(re: "send", room: append.room, id: append.id)
  }

  /// Gives the room its number in the store, and schedules its existing members to be written.
  private mutating func makeStorable(
    _ room: Int, _ batch: inout Batch, _ store: inout some EntryStore
  ) throws(StoreFailure) -> Int64 {
    if let number = rooms[room].number { return number }
    let number: Int64
    if let nextRoomNumber { number = nextRoomNumber } else { number = try store.nextRoomNumber() }
    nextRoomNumber = number + 1
    rooms[room].number = number
    touch(room, &batch)
    batch.newRooms.append(room)
    for user in rooms[room].members.keys {
      batch.unwritten[user, default: 0] += 1
      batch.dirtyMembers.insert(MemberKey(room: room, user: user))
      noteStored(rooms[room].name, user)
    }
    return number
  }

  private mutating func hold(
    _ room: String, _ loop: Int, _ session: SessionID, _ now: Int64
  ) -> Int64? {
    let key = HoldKey(loop: loop, session: session, room: room)
    guard let until = holds[key] else { return nil }
    // A hold that ends even later was set before the clock was put back.
    if until > now, until - now <= Refusal.retryAfterMilliseconds { return until - now }
    holds = holds.filter { $0.value > now }
    return nil
  }

  // MARK: - Members and subscribers

  private mutating func handle(
    _ enter: LogRequest.Subscribe, from loop: Int, _ batch: inout Batch,
    _ store: inout some EntryStore
  ) throws(StoreFailure) {
    let room = try room(enter.room, &store)
    func refuse(_ error: WireError) {
      batch.subscribing.append(
        Batch.Subscribing(
          loop: loop, request: enter, room: room, head: 0,
          resumption: Resumption(after: 0, resume: .ok), refusal: error))
    }
    guard enter.mayCreate || rooms[room].exists else {
      refuse(Self.noSuchRoom(re: "join", enter.room))
      return
    }
    guard try mayBelong(enter.user, to: room, &batch, &store) else {
      refuse(roomsPerUserReached(enter.user, re: "join", room: enter.room))
      return
    }
    let resumption = try resumption(of: enter, room, &store)
    add(enter.user, to: room, &batch)
    rooms[room].subscribers.add(enter.user)
    batch.audienceRooms.insert(room)
    batch.subscribing.append(
      Batch.Subscribing(
        loop: loop, request: enter, room: room, head: rooms[room].head, resumption: resumption))
  }

  /// Also reads the room's epochs, which `joined` lists.
  mutating func resumption(
    of enter: LogRequest.Subscribe, _ room: Int, _ store: inout some EntryStore
  ) throws(StoreFailure) -> Resumption {
    if rooms[room].epochs == nil {
      rooms[room].epochs = try RoomEpochs(
        ofRoom: rooms[room].number, current: lineage.current.number, from: &store)
    }
    let head = rooms[room].head
    guard let after = enter.after else { return Resumption(after: head, resume: .ok) }
    guard let common = lineage.common(epoch: enter.epoch, lineage: enter.lineage) else {
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

  /// Makes the user belong to the room, if not so already.
  /// - Parameter marks: the marks to begin with; `nil` = those of a membership that begins now.
  mutating func add(
    _ user: String, to room: Int, marks: MemberMarks? = nil, _ batch: inout Batch
  ) {
    guard rooms[room].members[user] == nil, !rooms[room].isReserved else { return }
    rooms[room].members[user] = marks ?? rooms[room].firstMarks
    noteMembership(user, 1, isStored: rooms[room].number != nil, &batch)
    if rooms[room].number == nil {
      unstored.insert(rooms[room].name, of: user)
    } else {
      touch(room, &batch)
      batch.dirtyMembers.insert(MemberKey(room: room, user: user))
    }
    batch.membershipChanges.append(
      Commit.MembershipChange(room: rooms[room].name, user: user, belongs: true))
  }

  mutating func forget(_ user: String, _ room: Int, _ batch: inout Batch) {
    guard rooms[room].members.removeValue(forKey: user) != nil else { return }
    noteMembership(user, -1, isStored: rooms[room].number != nil, &batch)
    let key = MemberKey(room: room, user: user)
    batch.dirtyMembers.remove(key)
    if rooms[room].number == nil {
      noteStored(rooms[room].name, user)
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
    rooms[room].subscribers.remove(user)
    if rooms[room].subscribers.isEmpty { emptiedRooms += 1 }
  }

  /// Notes the rooms whose audience differs from the one that was last published.
  mutating func noteAudiences(_ batch: inout Batch) {
    for room in batch.audienceRooms.sorted() {
      let audience = rooms[room].audience
      guard audience != rooms[room].publishedAudience else { continue }
      rooms[room].publishedAudience = audience
      batch.audiences.append(
        Commit.AudienceChange(room: rooms[room].name, subscribers: audience))
    }
  }

  /// Forgets a room without entries or subscribers, together with its members.
  mutating func forgetIfAbandoned(_ room: Int, _ batch: inout Batch) {
    guard rooms[room].number == nil, rooms[room].subscribers.isEmpty else { return }
    abandonedRooms += 1
    for user in rooms[room].members.keys.sorted() { forget(user, room, &batch) }
  }

  /// Removes a membership from those that the store does not know: it was stored, or it ended.
  mutating func noteStored(_ room: String, _ user: String) {
    unstored.remove(room, of: user)
  }
}
