import Wire

/// The deliveries of the log.
extension Shard {
  /// The log has become another one: forgets its entries, and has every client join again. Only then
  /// is a client told whether it holds entries that the log has lost.
  mutating func startAgain(_ epoch: String, _ now: Moment) {
    self.epoch = epoch
    // They would overtake sends before them that were not answered.
    refuseSends(now) { _ in true }
    announceClosing(
      "the log has started again",
      spreadMilliseconds: min(Self.startAgainMilliseconds, 500 + Int64(sessions.count)))
    for session in sessions.slots { roomLists.end(session, in: &self) }
    recent.removeAll()
    turn.unstage(except: [], &rooms)
    for room in rooms.slots { rooms.forget(room) }
  }

  /// Clients come back within this time.
  private static let startAgainMilliseconds: Int64 = 1_500

  /// Refuses sends that gathered while the log refused an earlier send of the same session to the same
  /// room, however long the log took: otherwise they would overtake that send when it is repeated.
  private mutating func refuseGathered(after answers: [LogAnswer], _ now: Moment) {
    var held: [SessionID: Set<String>] = [:]
    for case .refused(let id, let error) in answers
    where error.re == .send && error.code == .unavailable {
      if let room = error.room { held[id, default: []].insert(room) }
    }
    if !held.isEmpty { refuseSends(now) { held[$0.session]?.contains($0.room) == true } }
  }

  /// Refuses gathered sends.
  private mutating func refuseSends(
    _ now: Moment, where isRefused: (LogRequest.Append) -> Bool
  ) {
    for send in log.removeSends(where: isRefused) {
      refused(
        send.session,
        WireError.unavailable(re: .send, room: send.room, id: send.id, ref: send.ref), now)
    }
  }

  // MARK: - Recent entries

  mutating func keep(
    _ commit: Commit, _ span: Commit.RoomSpan, _ place: Int, in room: Slot<Room>
  ) {
    rooms[room].head = span.lastSeq
    rooms[room].firstKept = max(rooms[room].firstKept, span.firstKept)
    rooms[room].last = []
    rooms[room].tail.append(commit, span: place)
    if commit.hidden.isEmpty { return }
    for frame in commit.hidden(in: span.frames) {
      rooms[room].recordHidden(
        span.firstSeq + Int64(frame - span.frames.lowerBound), of: commit.senders[frame])
    }
  }

  mutating func evict() {
    while let oldest = recent.popExcess() {
      let all = oldest.commit.spans
      let spans = all.span
      for place in spans.indices where rooms.contains(oldest.rooms[place]) {
        let room = oldest.rooms[place].slot
        if rooms[room].tail.removeFirst(startingAt: spans[place].firstSeq),
          rooms[room].tail.isEmpty, roomLists.isWatched(room)
        {
          rooms[room].last =
            Array(oldest.commit.frames.payload(spans[place].frames.upperBound - 1))
        }
        rooms.releaseIfUnused(room)
      }
    }
  }

  /// Removes deleted entries from memory; storage has what remains of them.
  mutating func forget(_ redaction: Commit.Redaction) {
    guard let room = rooms.find(redaction.room) else { return }
    rooms[room].tail.removeAll(through: redaction.through)
    // The deleting entry follows in the same commit, and is then the last one.
    rooms[room].last = []
  }

  /// Removes entries from memory that are no longer kept.
  mutating func forget(_ trim: Commit.Trim) {
    guard let room = rooms.find(trim.room) else { return }
    rooms[room].firstKept = max(rooms[room].firstKept, trim.first)
    rooms[room].tail.removeAll(through: trim.first - 1)
    if trim.first > rooms[room].head { rooms[room].last = [] }
  }

  // MARK: - Answers

  mutating func applyAnswers(_ all: [LogAnswer], _ now: Moment) {
    var hasRefused = false
    // A span's elements are not copied for each access.
    let answers = all.span
    for place in answers.indices {
      applyAnswer(answers[place], now)
      if case .refused = answers[place] { hasRefused = true }
    }
    if hasRefused { refuseGathered(after: all, now) }
  }

  private mutating func applyAnswer(_ answer: LogAnswer, _ now: Moment) {
    switch answer {
    case .ack(let id, let ack):
      guard isCurrent(id) else { return }
      release(id, Self.owedBytes(room: ack.room, id: ack.id))
      // The limit on sends counts entries.
      if ack.duplicate { sessions[id.slot].budget?.refundDuplicate() }
      acknowledge(ack, to: id.slot)
    case .refused(let id, let error): refused(id, error, now)
    case .answer(let origin, let message):
      release(origin.session, Self.originBytes)
      // Without a `ref` the client does not wait for `ok`.
      guard isActive(origin.session), message != .ok || origin.ref != nil else { return }
      reply(message, ref: origin.ref, to: origin.session.slot)
    case .subscribed(let id, let subscribed): self.subscribed(id, subscribed)
    case .memberships(let ticket, let user, let memberships, let next, let isComplete):
      roomLists.continueLoading(
        memberships, of: user, ticket: ticket, next: next, isComplete: isComplete, in: &self)
    case .entries(let id, let page):
      guard isCurrent(id) else { return }
      queuePage(page, for: id.slot, now)
    case .reply(let id, let json):
      guard isActive(id) else { return }
      counters.count(reply: json)
      let session = id.slot
      encoder.append(
        json: json, compresses: sessions[session].compresses, to: &sessions[session].outbox)
      sessions[session].awaitsReply = false
      markDirty(session)
    case .read(let id, let message):
      guard isActive(id) else { return }
      let ref = endReply(to: id.slot)
      reply(message, ref: ref, to: id.slot)
    case .glimpses(let id, let glimpses):
      guard isActive(id) else { return }
      roomLists.completePage(glimpses, to: id.slot, in: &self)
    case .traced(let ticket, let result): traces.record(result, for: ticket)
    case .file(let asker, let answer): files.record(answer, for: asker)
    case .users(let page): people.load(page, now)
    case .lastSeen(let id, let seen):
      guard isActive(id) else { return }
      switch seen.purpose {
      case .people: people.answer(seen.at, to: id.slot, in: &self)
      case .rooms: roomLists.continuePage(seen.at, to: id.slot, in: &self, now)
      case .peer: presenceNews.answerPeers(seen, to: id.slot, in: &self)
      }
    }
  }

  private mutating func acknowledge(_ ack: ServerMessage.Ack, to session: Slot<Session>) {
    let room = sendRoom(of: session, named: ack.room)
    let isAlone =
      room != nil
      && (sessions[session].queuedBytes == 0 || sessions[session].ackedRoom.slot == room)
    log.countAck()
    counters.acks += 1
    diagnostics.trace(
      sessions[session].connection, "An ack is sent.",
      [LogField("room", ack.room), LogField("seq", ack.seq)])
    queue(to: session) { ack.append(to: &$0) }
    if isAlone { sessions[session].ackedRoom = OptionalSlot(room) }
  }

  private mutating func refused(_ id: SessionID, _ error: WireError, _ now: Moment) {
    guard isCurrent(id) else { return }
    let session = id.slot
    release(
      id,
      error.re == .join
        ? Self.joinedBytes : Self.owedBytes(room: error.room ?? "", id: error.id))
    if error.re == .join, let room = error.room.flatMap({ rooms.find($0) }),
      let subscribing = subscribing(of: session, to: room)
    {
      let wasAbandoned = subscriptions[subscribing].state == .abandoned
      let ref = takeJoinRef(subscribing)
      end(subscribing, tellLog: false)
      if !wasAbandoned { reply(error, ref: ref, to: session) }
      return
    }
    if error.code == .unavailable, error.re == .send, let room = error.room {
      let wait = error.retryAfterMilliseconds ?? Refusal.retryAfterMilliseconds
      hold(room, id: error.id, session, for: wait, now)
    }
    reply(.error(error), to: session)
  }

  /// The log has subscribed at this point in the order of commits: the cursor is set.
  private mutating func subscribed(_ id: SessionID, _ subscribed: LogAnswer.Subscribed) {
    let joined = subscribed.joined
    release(id, Self.joinedBytes)
    guard isCurrent(id), let room = rooms.find(joined.room),
      let index = subscribing(of: id.slot, to: room)
    else {
      // The session has ended; the log has counted a subscription all the same.
      log.append(.unsubscribe(room: joined.room, user: subscribed.user))
      return
    }
    let session = id.slot
    var answer = joined
    let ref = takeJoinRef(index)
    if !subscriptions[index].wantsSubscribers { answer.subscribers = nil }
    if !subscriptions[index].isWanted {
      if subscriptions[index].state == .replaced {
        reply(.joined(answer), ref: ref, to: session)
      }
      log.append(.unsubscribe(room: joined.room, user: subscribed.user))
      end(index, tellLog: false)
      return
    }
    rooms[room].head = max(rooms[room].head, joined.head)
    rooms[room].firstKept = max(rooms[room].firstKept, subscribed.firstKept)
    subscriptions[index].cursor =
      sessions[session].skipsEntries ? rooms[room].head : joined.after
    diagnostics.debug(
      sessions[session].connection, "A session has joined a room.",
      [
        LogField("room", joined.room), LogField("after", subscriptions[index].cursor),
        LogField("head", rooms[room].head),
      ])
    setJoined(index, true)
    subscriptions.add(index, to: &rooms[room].subscribers)
    reply(.joined(answer), ref: ref, to: session)
    presenceNews.watchPeer(inRoom: joined.room, session, in: &self)
    if subscriptions[index].cursor < rooms[room].head {
      lag(index)
    } else {
      subscriptions[index].state = .live
    }
  }
}
