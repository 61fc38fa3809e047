import DequeModule
import Wire

/// What comes from the log.
extension Shard {
  /// Takes one delivery; in the order in which they were posted.
  public mutating func apply(_ delivery: LogDelivery, now: Moment) {
    if delivery.completesSubmit {
      logIsBusy = false
      answeredBegan = batchBegan
    }
    if let commit = delivery.commit { apply(commit, now) }
    for answer in delivery.answers { apply(answer, now) }
    refuseGathered(after: delivery.answers, now)
  }

  /// What was gathered while the log refused an earlier send of the same session to the same room is
  /// refused as well, however long the log has taken: else it would overtake the one that is sent again.
  private mutating func refuseGathered(after answers: [LogAnswer], _ now: Moment) {
    var held: [SessionID: Set<String>] = [:]
    for case .refused(let id, let error) in answers
    where error.re == "send" && error.code == .unavailable {
      if let room = error.room { held[id, default: []].insert(room) }
    }
    guard !held.isEmpty else { return }
    var refused: [LogRequest.Append] = []
    requests.removeAll { request in
      guard case .append(let append) = request, held[append.session]?.contains(append.room) == true
      else { return false }
      refused.append(append)
      return true
    }
    for append in refused {
      self.refused(
        append.session, Sequencer.unavailable(re: "send", room: append.room, id: append.id), now)
    }
  }

  private mutating func apply(_ commit: Commit, _ now: Moment) {
    for change in commit.membershipChanges { apply(change) }
    for redaction in commit.redactions { forget(redaction) }
    for (place, span) in commit.spans.enumerated() {
      let room = room(named: span.room)
      keep(commit, place, in: room)
      noteSenders(commit, span, in: room)
      stage(commit, span: place, in: room)
      tellActivity(in: room, now)
    }
    if !commit.spans.isEmpty {
      tail.append(commit)
      tailBytes += commit.frames.bytes.count
      evictTail()
    }
    for change in commit.marks { apply(change, now) }
    for change in commit.typing { apply(change, now) }
    for change in commit.audiences { apply(change, now) }
    for change in commit.presences { apply(change, now) }
  }

  // MARK: - The tail

  private mutating func keep(_ commit: Commit, _ place: Int, in room: Slot<Room>) {
    let span = commit.spans[place]
    rooms[room].head = span.lastSeq
    rooms[room].firstKept = max(rooms[room].firstKept, span.firstKept)
    rooms[room].last = []
    rooms[room].tail.append(
      Room.TailSpan(
        commit: commit, span: Int32(place), firstSeq: span.firstSeq, lastSeq: span.lastSeq))
  }

  private mutating func evictTail() {
    while tailBytes > configuration.tailBytes, let oldest = tail.popFirst() {
      tailBytes -= oldest.frames.bytes.count
      for span in oldest.spans {
        guard let room = roomIndices[span.room] else { continue }
        if rooms[room].tail.first?.firstSeq == span.firstSeq {
          rooms[room].tail.removeFirst()
          if rooms[room].tail.isEmpty, !rooms[room].watchers.isEmpty {
            rooms[room].last = Array(oldest.frames.payload(span.frames.upperBound - 1))
          }
        }
        releaseIfUnused(room)
      }
    }
  }

  /// What was deleted is not to be read here any more. Storage has what is left of it.
  private mutating func forget(_ redaction: Commit.Redaction) {
    guard let room = roomIndices[redaction.room] else { return }
    while let oldest = rooms[room].tail.first, oldest.firstSeq <= redaction.through {
      rooms[room].tail.removeFirst()
    }
    // The entry that deletes follows in the same commit, and is the last one then.
    rooms[room].last = []
  }

  // MARK: - Answers

  private mutating func apply(_ answer: LogAnswer, _ now: Moment) {
    switch answer {
    case .ack(let id, let ack):
      guard isCurrent(id) else { return }
      release(id, Self.owedBytes(room: ack.room, id: ack.id))
      let index = id.slot
      // The limit on sends is for entries.
      if ack.duplicate { sessions[index].budget?.noteDuplicate() }
      acknowledge(ack, to: index)
    case .refused(let id, let error): refused(id, error, now)
    case .subscribed(let id, let subscribed): self.subscribed(id, subscribed)
    case .memberships(let ticket, let user, let memberships, let next, let isComplete):
      apply(memberships, of: user, ticket: ticket, next: next, isComplete: isComplete, now)
    case .entries(let id, let page):
      guard isCurrent(id) else { return }
      apply(page, to: id.slot, now: now)
    case .reply(let id, let json):
      guard isCurrent(id), !sessions[id.slot].isClosing else { return }
      let index = id.slot
      counters.note(reply: json)
      append(message: json, to: index)
      sessions[index].awaitsReply = false
      markDirty(index)
    case .lastEntries(let id, let lastEntries):
      guard isCurrent(id), !sessions[id.slot].isClosing else { return }
      answerRooms(lastEntries, id.slot, now)
    case .lastSeen(let id, let seen):
      guard isCurrent(id), !sessions[id.slot].isClosing else { return }
      apply(seen, to: id.slot)
    }
  }

  private mutating func acknowledge(_ ack: ServerMessage.Ack, to index: Slot<Session>) {
    let room = sendRoom(of: index, named: ack.room)
    let isAlone =
      room != nil
      && (sessions[index].queuedBytes == 0 || sessions[index].ackedRoom.slot == room)
    acknowledged += 1
    counters.acks += 1
    scratch.removeAll(keepingCapacity: true)
    ack.append(to: &scratch)
    replyWithScratch(to: index)
    if isAlone { sessions[index].ackedRoom = Link(room) }
  }

  private mutating func refused(_ id: SessionID, _ error: WireError, _ now: Moment) {
    guard isCurrent(id) else { return }
    let index = id.slot
    release(
      id,
      error.re == "join"
        ? Self.joinedBytes : Self.owedBytes(room: error.room ?? "", id: error.id))
    if error.re == "join", let room = error.room.flatMap({ roomIndices[$0] }),
      let subscribing = subscribing(of: index, to: room)
    {
      let wasAbandoned = subscriptions[subscribing].state == .abandoned
      end(subscribing, tellLog: false)
      if wasAbandoned { return }
    }
    if error.code == .unavailable, error.re == "send", let room = error.room {
      let wait = error.retryAfterMilliseconds ?? Refusal.retryAfterMilliseconds
      hold(room, id: error.id, index, for: wait, now)
    }
    reply(.error(error), to: index)
  }

  /// The log knows the room as of this point in the order of commits: the cursor stands.
  private mutating func subscribed(_ id: SessionID, _ subscribed: LogAnswer.Subscribed) {
    let joined = subscribed.joined
    release(id, Self.joinedBytes)
    guard isCurrent(id), let room = roomIndices[joined.room],
      let index = subscribing(of: id.slot, to: room)
    else {
      // Nobody is here any more; the log has counted a subscription all the same.
      ask(.unsubscribe(room: joined.room, user: subscribed.user))
      return
    }
    let session = id.slot
    var told = joined
    if !subscriptions[index].wantsSubscribers { told.subscribers = nil }
    if !subscriptions[index].isWanted {
      if subscriptions[index].state == .replaced { reply(.joined(told), to: session) }
      ask(.unsubscribe(room: joined.room, user: subscribed.user))
      end(index, tellLog: false)
      return
    }
    rooms[room].head = max(rooms[room].head, joined.head)
    rooms[room].firstKept = max(rooms[room].firstKept, joined.first)
    subscriptions[index].cursor = joined.after
    noteJoined(index, true)
    subscriptions[index].place = Int32(rooms[room].subscribers.count)
    rooms[room].subscribers.append(index)
    reply(.joined(told), to: session)
    watchPeer(inRoom: joined.room, session)
    if joined.after < rooms[room].head {
      lag(index)
    } else {
      subscriptions[index].state = .live
    }
  }
}
