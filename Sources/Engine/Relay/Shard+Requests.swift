import HeapModule
import Wire

/// What clients ask for.
extension Shard {
  /// Takes one text message. The owner has asked `mayReceive` before.
  public mutating func receive(_ id: SessionID, _ json: Span<UInt8>, now: Moment) {
    guard isCurrent(id), !sessions[id.slot].isClosing else { return }
    let index = id.slot
    let message: ClientMessage
    do throws(WireError) {
      message = try ClientMessage(
        decoding: json, textLimitBytes: configuration.limits.textBytes)
    } catch {
      charge(.request, bytes: json.count, index)
      refuse(error, to: index)
      return
    }
    counters.note(received: message)
    if case .send = message {
      charge(.send, bytes: json.count, index)
    } else {
      charge(.request, bytes: json.count, index)
    }
    guard !sessions[index].user.isEmpty else {
      receiveFirst(message, index, now)
      return
    }
    switch message {
    case .send(let send): self.send(send, index, now)
    case .received(let room, let seq): mark(room, read: 0, received: seq, "received", index)
    case .read(let room, let seq): mark(room, read: seq, received: seq, "read", index)
    case .typing(let room, let on): typing(room, on, index)
    case .presence(let isAway): setAway(isAway, index)
    case .join(let join): self.join(join, index)
    case .leave(let room, let forget): leave(room, forget: forget, index)
    case .history(let request): history(request, index)
    case .rooms(let request): askForRooms(request, index)
    case .people(let request): people(request, index)
    case .ping(let t): reply(.pong(t: t, time: now.wall), to: index)
    case .auth(let token): renew(token, index, now)
    }
  }

  /// Answers what could not be understood.
  private mutating func refuse(_ error: WireError, to index: Slot<Session>) {
    if sessions[index].user.isEmpty {
      end(index, error, .notAuthenticated, "not authenticated")
    } else {
      reply(.error(error), to: index)
    }
  }

  /// `true` where the room's name and the client's rights allow it; answers `forbidden` otherwise.
  private mutating func isOpen(
    _ room: String, re: String, _ index: Slot<Session>, id: String? = nil
  ) -> Bool {
    let sends = re == "send"
    let text: String
    if sessions[index].isInternal, RoomName.isReserved(room) {
      return true
    } else if !RoomName.isOpen(room, to: sessions[index].user) {
      text =
        RoomName.isReserved(room)
        ? "The room \(room) is the relay's own."
        : "The room \(room) is open to its two users only."
    } else if sends ? !rightsAllowSending(room, index) : !rightsAllowReading(room, index) {
      text = "Your token does not allow to \(sends ? "send to" : "read") \(room)."
    } else {
      return true
    }
    reply(.error(WireError(.forbidden, text, re: re, room: room, id: id)), to: index)
    return false
  }

  private func mayCreate(_ room: String) -> Bool {
    configuration.anyoneMayCreate || RoomName.isDirect(room) || RoomName.isReserved(room)
      || listedTitles[room] != nil
  }

  // MARK: - Subscribing

  private mutating func join(_ join: ClientMessage.Join, _ index: Slot<Session>) {
    guard isOpen(join.room, re: "join", index) else { return }
    let limit = configuration.limits.roomsPerConnection
    let existing = subscription(of: index, to: join.room)
    if existing == nil, limit > 0, sessions[index].subscriptionCount >= limit,
      joinedCount(index) >= limit
    {
      reply(
        .error(
          WireError(
            .tooManyRooms, "A connection may join \(limit) rooms; leave one first.", re: "join",
            room: join.room)),
        to: index)
      return
    }
    if let existing { drop(existing, as: .replaced) }
    sessions[index].owedBytes += Self.joinedBytes
    addSubscription(
      of: index, to: room(named: join.room), wantsSubscribers: join.subscribers)
    ask(
      .subscribe(
        LogRequest.Subscribe(
          session: id(of: index), room: join.room, user: sessions[index].user, after: join.after,
          epoch: join.epoch, mayCreate: mayCreate(join.room))))
  }

  /// Rooms that the session has not left; what is left the log may still have to answer.
  private func joinedCount(_ index: Slot<Session>) -> Int {
    var count = 0
    var next = sessions[index].firstSubscription.slot
    while let subscription = next {
      if subscriptions[subscription].isWanted { count += 1 }
      next = subscriptions[subscription].next.slot
    }
    return count
  }

  private mutating func leave(_ room: String, forget: Bool, _ index: Slot<Session>) {
    guard subscription(of: index, to: room) != nil else {
      notJoined(room, re: "leave", index)
      return
    }
    leave(room, index)
    if forget { ask(.forget(room: room, user: sessions[index].user)) }
  }

  /// Ends the subscription to a room that the session has joined.
  mutating func leave(_ room: String, _ index: Slot<Session>) {
    guard let subscription = subscription(of: index, to: room) else { return }
    drop(subscription, as: .abandoned)
    abandonReplaced(index, room)
    reply(.left(room: room), to: index)
  }

  /// Ends a subscription while the session goes on; one that is not answered yet becomes what is given.
  private mutating func drop(_ index: Slot<Subscription>, as state: Subscription.State) {
    if subscriptions[index].state == .subscribing {
      noteJoined(index, false)
      subscriptions[index].state = state
    } else {
      end(index, tellLog: true)
    }
  }

  /// Behind `left` there is no answer to joins of before.
  private mutating func abandonReplaced(_ index: Slot<Session>, _ room: String) {
    guard let room = roomIndices[room] else { return }
    var next = sessions[index].firstSubscription.slot
    while let subscription = next {
      if subscriptions[subscription].room == room, subscriptions[subscription].state == .replaced {
        subscriptions[subscription].state = .abandoned
      }
      next = subscriptions[subscription].next.slot
    }
  }

  private mutating func notJoined(_ room: String, re: String, _ index: Slot<Session>) {
    reply(
      .error(
        WireError(.notJoined, "This connection has not joined \(room).", re: re, room: room)),
      to: index)
  }

  // MARK: - Sending

  private mutating func send(_ send: ClientMessage.Send, _ index: Slot<Session>, _ now: Moment) {
    guard isOpen(send.room, re: "send", index, id: send.id) else { return }
    if case .forward(let source)? = send.reference, !mayForward(source, send, index) { return }
    if isShuttingDown {
      refuseSend(
        .unavailable,
        "The relay is shutting down. Nothing was stored; send again with the same id.", send,
        Refusal.retryAfterMilliseconds, index, now)
      return
    }
    if let wait = sessions[index].extras?.holds.wait(send.room, id: send.id, now: now.monotonic) {
      refuseSend(
        .unavailable,
        "An earlier message to \(send.room) could not be stored; wait, to keep the order.", send,
        wait, index, now)
      return
    }
    noteSend(to: send.room, index)
    if gatherBegan < 0 { gatherBegan = now.microseconds }
    gatheredBytes += send.body.count + 128
    sessions[index].owedBytes += Self.owedBytes(room: send.room, id: send.id)
    requests.append(
      .append(
        LogRequest.Append(
          session: id(of: index), room: send.room, user: sessions[index].user, id: send.id,
          kind: send.kind, body: send.body, reference: send.reference,
          mayCreate: mayCreate(send.room))))
  }

  /// What is passed on the sender must be allowed to read.
  private mutating func mayForward(
    _ source: Forward, _ send: ClientMessage.Send, _ index: Slot<Session>
  ) -> Bool {
    if mayRead(source.room, index) { return true }
    reply(
      .error(
        WireError(
          .forbidden, "You may not read \(source.room), so that you cannot forward from it.",
          re: "send", room: send.room, id: send.id, field: "forward")),
      to: index)
    return false
  }

  /// Remembers that entries for the room are on their way, where that matters to somebody here.
  private mutating func noteSend(to name: String, _ index: Slot<Session>) {
    var room = sendRoom(of: index, named: name)
    if room == nil {
      room = roomIndices[name]
      if room != nil { sessions[index].sendRoom = Link(room) }
    }
    if let room { rooms[room].pace.note(batch: nextBatchNumber) }
  }

  /// The room of the session's last send, if it has this name; saves a look into the table of names.
  func sendRoom(of index: Slot<Session>, named name: String) -> Slot<Room>? {
    guard let room = sessions[index].sendRoom.slot, rooms.contains(room), rooms[room].name == name
    else { return nil }
    return room
  }

  private var nextBatchNumber: UInt32 { batchNumber == .max ? 1 : batchNumber + 1 }

  /// Refuses a send, and with it what follows to the same room, so that order is kept.
  private mutating func refuseSend(
    _ code: ErrorCode, _ text: String, _ send: ClientMessage.Send, _ wait: Int64,
    _ index: Slot<Session>,
    _ now: Moment
  ) {
    hold(send.room, id: send.id, index, for: wait, now)
    reply(
      .error(
        WireError(
          code, text, re: "send", room: send.room, id: send.id, retryAfterMilliseconds: wait)),
      to: index)
  }

  mutating func hold(
    _ room: String, id: String?, _ index: Slot<Session>, for wait: Int64, _ now: Moment
  ) {
    extras(of: index).holds.refuse(
      room, id: id, until: now.monotonic + wait, isPaused: sessions[index].isPaused,
      now: now.monotonic)
  }

  // MARK: - Marks and typing

  private mutating func mark(
    _ room: String, read: Int64, received: Int64, _ re: String, _ index: Slot<Session>
  ) {
    guard subscription(of: index, to: room) != nil else {
      notJoined(room, re: re, index)
      return
    }
    ask(.mark(room: room, Marks(user: sessions[index].user, read: read, received: received)))
  }

  private mutating func typing(_ room: String, _ on: Bool, _ index: Slot<Session>) {
    guard subscription(of: index, to: room) != nil else {
      notJoined(room, re: "typing", index)
      return
    }
    ask(.typing(room: room, user: sessions[index].user, on: on))
  }

  // MARK: - Reading

  private mutating func history(_ request: ClientMessage.HistoryRequest, _ index: Slot<Session>) {
    guard isOpen(request.room, re: "history", index) else { return }
    sessions[index].awaitsReply = true
    reads.append(
      .history(
        id(of: index), request, mayCreate: mayCreate(request.room), limitBytes: Self.replyBytes))
  }

  // MARK: - To the log

  /// This turn's requests, if the log is ready for the next batch.
  public mutating func takeRequests(now: Moment) -> [LogRequest]? {
    guard !logIsBusy, !requests.isEmpty else { return nil }
    logIsBusy = true
    batchNumber = nextBatchNumber
    batchBegan = gatherBegan
    gatherBegan = -1
    defer {
      requests = []
      gatheredBytes = 0
      for id in congested where isCurrent(id) { noteProgress(id.slot, now) }
      congested.removeAll()
    }
    return requests
  }

  /// What is to be read from storage.
  public mutating func takeReads() -> [ReadRequest] {
    defer { reads.removeAll(keepingCapacity: true) }
    return reads
  }
}
