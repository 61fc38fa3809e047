import Wire

/// Appends an entry, or refuses it. The order of the steps matters: a send that was stored is
/// acknowledged before anything could refuse it.
extension Sequencer {
  mutating func append(
    _ append: LogRequest.Append, from loop: Int, _ batch: inout Batch,
    _ store: inout some EntryLookup
  ) throws(StoreFailure) {
    batch.isAct = false
    if append.room.isEmpty {
      try self.append(append.naming(key: store.identityKey), from: loop, &batch, &store)
      return
    }
    let room = try room(append.room, knowing: append.user, &store)
    guard mayAppend(append, to: room, loop, &batch) else { return }
    if rooms[room].isGoverned, try !isVisible(append, room, loop, &batch, &store) { return }
    var identity: EntryIdentity?
    if let number = rooms[room].number {
      let known = EntryIdentity(
        room: number, sender: append.user, id: append.id, key: store.identityKey)
      identity = known
      guard try isNew(append, known, in: room, number, loop, &batch, &store) else { return }
    }
    let isNotice = append.isNotice
    if rooms[room].isGoverned || isNotice,
      let refusal = try refusal(of: append, in: room, &batch, &store)
    {
      refuseSend(append, refusal, loop, &batch)
      return
    }
    let member = rooms[room].members.place(of: append.user)
    // An operator who acts on a room takes no part in it for that.
    let acts = isNotice || append.isOperator && append.kind == .delete
    var becomesMember = member == nil && (!acts || rooms[room].head == 0)
    if becomesMember, rooms[room].isGoverned {
      becomesMember = try mayJoin(append.user, room, batch.now, &store)
    }
    if becomesMember || rooms[room].isGoverned && !acts,
      try !mayBelong(append.user, to: room, &batch, &store)
    {
      refuseSend(
        append, roomsPerUserReached(append.user, re: .send, room: append.room, id: append.id),
        loop, &batch)
      return
    }
    guard let body = try bodyThatFits(append, in: room, loop, &batch, &store) else { return }
    if rooms[room].isGoverned, !acts {
      try acceptInvitation(append.user, to: room, &batch, &store)
    }
    // What may fail comes before the entry has its place.
    let isRequest = append.stranger != nil ? try isRequest(append, in: room, &batch, &store) : false
    if batch.isAct { _ = try self.room(RoomName.audit, &store) }
    let number = try makeStorable(room, &batch, &store)
    let (seq, at) = advance(room, by: append, &batch)
    let entry = StoreChanges.NewEntry(
      room: number,
      identity: identity
        ?? EntryIdentity(room: number, sender: append.user, id: append.id, key: store.identityKey),
      entry: Entry(
        room: append.room, seq: seq, id: append.id, from: append.user, at: at, kind: append.kind,
        body: body),
      last: rooms[room].last)
    addEntry(entry, of: append, to: room, &batch)
    if let member {
      rooms[room].recordSend(by: member)
    } else if becomesMember {
      addMember(append.user, to: room, &batch)
      rooms[room].recordSend(by: append.user)
    }
    if rooms[room].isGoverned || isNotice { applyRules(append, (seq, at), in: room, &batch) }
    if rooms[room].direct.request != nil { acceptRequest(append.user, in: room, &batch) }
    if isRequest { beginRequest(append, in: room, &batch) }
    if rooms[room].memberCount < 2 { try addPeers(to: room, &batch, &store) }
    if batch.isAct { try recordAct(append, seq, in: room, &batch, &store) }
    if let parent = append.traceparent {
      batch.traced.append(.init(room: append.room, seq: seq, parent: parent))
    }
    acknowledge(append, seq, at, loop, &batch)
  }

  // MARK: - Steps

  /// Refuses a send to a room that may not be created, and one that must wait for its order.
  private mutating func mayAppend(
    _ append: LogRequest.Append, to room: Int, _ loop: Int, _ batch: inout Batch
  ) -> Bool {
    guard append.mayCreate || rooms[room].exists else {
      refuseSend(append, Self.noSuchRoom(re: .send, append.room, id: append.id), loop, &batch)
      return false
    }
    if let wait = holds.wait(append.room, loop, append.session, now: batch.now) {
      let error = WireError.unavailable(
        re: .send, room: append.room, id: append.id, retryAfterMilliseconds: wait)
      refuseSend(append, error, loop, &batch)
      return false
    }
    return true
  }

  /// Whether no entry has the identity; if one has, the send is answered.
  private mutating func isNew(
    _ append: LogRequest.Append, _ identity: EntryIdentity, in room: Int, _ number: Int64,
    _ loop: Int, _ batch: inout Batch, _ store: inout some EntryLookup
  ) throws(StoreFailure) -> Bool {
    if let index = batch.find(identity, room: room, sender: append.user, id: append.id) {
      answerAgain(
        append, as: batch.entries[index].entry, wasStored: false, in: room, loop, &batch)
      return false
    }
    if let first = try store.find(
      identity, room: number, named: append.room, sender: append.user, id: append.id)
    {
      answerAgain(append, as: first, wasStored: true, in: room, loop, &batch)
      return false
    }
    return true
  }

  /// Answers a send whose id an earlier entry has.
  private mutating func answerAgain(
    _ append: LogRequest.Append, as first: Entry, wasStored: Bool, in room: Int, _ loop: Int,
    _ batch: inout Batch
  ) {
    if append.hasContent(of: first) || first.isRedacted {
      acknowledge(
        append, first.seq, first.at, isDuplicate: true, wasStored: wasStored, loop, &batch)
    } else if batch.redacts(first, room: room) {
      // If the batch is not stored, the content is not redacted either.
      acknowledge(append, first.seq, first.at, isDuplicate: true, loop, &batch)
    } else {
      refuseSend(append, Self.idConflict(append, first.seq), loop, &batch)
    }
  }

  /// Returns the body of the entry, with its reference resolved; nil if the send is refused.
  private mutating func bodyThatFits(
    _ append: LogRequest.Append, in room: Int, _ loop: Int, _ batch: inout Batch,
    _ store: inout some EntryLookup
  ) throws(StoreFailure) -> [UInt8]? {
    do throws(WireError) {
      // Before the reference is resolved, because that may change the batch.
      try checkSpace(for: append, append.body.count, in: room, loop, &batch)
    } catch {
      refuseSend(append, error, loop, &batch)
      return nil
    }
    if append.reference == nil { return append.body }
    let resolved = try resolve(append, room, &batch, &store)
    do throws(WireError) {
      let body = try resolved.get()
      if body.count > append.body.count {
        try checkSpace(for: append, body.count, in: room, loop, &batch)
      }
      return body
    } catch {
      refuseSend(append, error, loop, &batch)
      return nil
    }
  }

  /// Throws if an entry would exceed the limit of its batch or the last possible `seq`.
  private mutating func checkSpace(
    for append: LogRequest.Append, _ bodyBytes: Int, in room: Int, _ loop: Int, _ batch: inout Batch
  ) throws(WireError) {
    if rooms[room].head >= Entry.sequenceLimit {
      throw WireError(
        .limitReached, "Room \(append.room) has reached the maximum seq.",
        re: .send, room: append.room, id: append.id, field: "seq")
    }
    if batch.hasRoom(forBody: bodyBytes, limitBytes: batchBytesLimit) { return }
    // As after a failed commit, later sends of the session to the room wait as well, which keeps
    // their order.
    holds.refuse(append.room, loop, append.session, now: batch.now)
    throw WireError.unavailable(re: .send, room: append.room, id: append.id)
  }

  /// Gives the room its number in the store, and schedules its existing members to be written.
  mutating func makeStorable(
    _ room: Int, _ batch: inout Batch, _ store: inout some EntryLookup
  ) throws(StoreFailure) -> Int64 {
    if let number = rooms[room].number { return number }
    let number: Int64
    if let nextRoomNumber { number = nextRoomNumber } else { number = try store.nextRoomNumber() }
    nextRoomNumber = number + 1
    rooms[room].number = number
    touch(room, &batch)
    batch.newRooms.append(room)
    hideEntries(ofNewRoom: room, &batch)
    for user in rooms[room].members.keys {
      batch.unwritten[user, default: 0] += 1
      batch.dirtyMembers.insert(MemberKey(room: room, user: user))
      recordStored(rooms[room].name, user)
    }
    return number
  }

  /// Moves the head of a room to the next entry.
  mutating func advance(
    _ room: Int, by append: LogRequest.Append, _ batch: inout Batch
  ) -> (seq: Int64, at: Int64) {
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
    rooms[room].last.record(append.user, seq: seq, isContent: append.kind.isContent)
    return (seq, at)
  }

  mutating func addEntry(
    _ entry: consuming StoreChanges.NewEntry, of append: LogRequest.Append, to room: Int,
    _ batch: inout Batch
  ) {
    let target: Int64
    switch append.reference {
    case .target(let seq): target = seq
    case .settings, .member: target = 0
    case nil, .reply, .forward, .file:
      batch.append(consume entry, room: room, receivedAt: append.receivedAt)
      return
    }
    rooms[room].changes += 1
    entry.change = StoreChanges.Change(target: target, number: rooms[room].changes)
    batch.append(consume entry, room: room, receivedAt: append.receivedAt)
    batch.recordChange(of: target, room: room)
  }

  /// Appends an entry that the relay has decided on by itself.
  @discardableResult
  mutating func appendUnasked(
    _ append: LogRequest.Append, to room: Int, _ batch: inout Batch, _ store: inout some EntryLookup
  ) throws(StoreFailure) -> (seq: Int64, at: Int64) {
    let number = try makeStorable(room, &batch, &store)
    let (seq, at) = advance(room, by: append, &batch)
    let entry = StoreChanges.NewEntry(
      room: number,
      identity: EntryIdentity(
        room: number, sender: append.user, id: append.id, key: store.identityKey),
      entry: Entry(
        room: append.room, seq: seq, id: append.id, from: append.user, at: at, kind: append.kind,
        body: append.body),
      last: rooms[room].last)
    addEntry(entry, of: append, to: room, &batch)
    return (seq, at)
  }

  /// Adds the users of a direct room. A peer who has reached the limit of rooms receives the entries
  /// but does not become a member; the next entry tries again.
  private mutating func addPeers(
    to room: Int, _ batch: inout Batch, _ store: inout some EntryLookup
  ) throws(StoreFailure) {
    guard let (a, b) = RoomName.peers(of: rooms[room].name) else { return }
    for peer in [a, b] where try mayBelong(peer, to: room, &batch, &store) {
      addMember(peer, to: room, &batch)
    }
  }

  // MARK: - Answers

  private func acknowledge(
    _ append: LogRequest.Append, _ seq: Int64, _ at: Int64, isDuplicate: Bool = false,
    wasStored: Bool = false, _ loop: Int, _ batch: inout Batch
  ) {
    let ack = ServerMessage.Ack(
      room: append.room, id: append.id, seq: seq, at: at, duplicate: isDuplicate, ref: append.ref)
    batch.acks[loop].append(ack, to: append.session, wasStored: wasStored)
  }

  /// Refuses a send for good that needs an entry which is damaged: a client that tries it again and
  /// again must not have the sends of others refused with it.
  func refuseUnreadable(_ append: LogRequest.Append, from loop: Int, _ batch: inout Batch) {
    let error = WireError(
      .noSuchEntry,
      "The entry that this one refers to, or whose id it has, is damaged and cannot be read.",
      re: .send, room: append.room, id: append.id)
    refuseSend(append, error, loop, &batch)
  }

  func refuseSend(
    _ append: LogRequest.Append, _ error: WireError, _ loop: Int, _ batch: inout Batch
  ) {
    var error = error
    error.ref = append.ref
    batch.refuse(append.session, from: loop, error)
  }
}
