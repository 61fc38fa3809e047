import Wire

/// The requests of clients.
extension Shard {
  /// Processes one text message. The owner has called `mayReceive` before.
  public mutating func receive(_ id: SessionID, _ json: Span<UInt8>, now: Moment) {
    guard isCurrent(id), !sessions[id.slot].isClosing else { return }
    let session = id.slot
    let message: ClientMessage
    do throws(WireError) {
      message = try ClientMessage(
        decoding: json, textLimitBytes: configuration.limits.textBytes)
    } catch {
      charge(.request, bytes: json.count, session)
      refuse(error, to: session)
      return
    }
    counters.note(received: message)
    if case .send = message {
      charge(.send, bytes: json.count, session)
    } else {
      charge(.request, bytes: json.count, session)
    }
    guard !sessions[session].user.isEmpty else {
      receiveFirst(message, session, now)
      return
    }
    switch message {
    case .send(let send): self.send(send, session, now)
    case .received(let room, let seq): mark(room, read: 0, received: seq, "received", session)
    case .read(let room, let seq): mark(room, read: seq, received: seq, "read", session)
    case .typing(let room, let on): typing(room, on, session)
    case .presence(let isAway): setAway(isAway, session)
    case .join(let join): self.join(join, session)
    case .leave(let room, let forget): leave(room, forget: forget, session)
    case .history(let request): history(request, session)
    case .rooms(let request): askForRooms(request, session)
    case .people(let request): people(request, session)
    case .ping(let t): reply(.pong(t: t, time: now.wall), to: session)
    case .auth(let token): renew(token, session, now)
    }
  }

  /// Answers a message that could not be decoded.
  private mutating func refuse(_ error: WireError, to session: Slot<Session>) {
    if sessions[session].user.isEmpty {
      end(session, error, .notAuthenticated, "not authenticated")
    } else {
      reply(.error(error), to: session)
    }
  }

  /// Whether the room's name and the client's rights allow a request; answers `forbidden` if not.
  private mutating func isOpen(
    _ room: String, re: String, _ session: Slot<Session>, id: String? = nil
  ) -> Bool {
    let sends = re == "send"
    let text: String
    if sessions[session].isInternal, RoomName.isReserved(room) {
      return true
    } else if !RoomName.isOpen(room, to: sessions[session].user) {
      text =
        RoomName.isReserved(room)
        ? "Room \(room) is reserved for the relay."
        : "Room \(room) is open to its two users only."
    } else if sends ? !rightsAllowSending(room, session) : !rightsAllowReading(room, session) {
      text = "Your token does not allow you to \(sends ? "send to" : "read") \(room)."
    } else {
      return true
    }
    reply(.error(WireError(.forbidden, text, re: re, room: room, id: id)), to: session)
    return false
  }

  private func mayCreate(_ room: String) -> Bool {
    configuration.anyoneMayCreate || RoomName.isDirect(room) || RoomName.isReserved(room)
      || listedTitles[room] != nil
  }

  // MARK: - Subscribing

  private mutating func join(_ join: ClientMessage.Join, _ session: Slot<Session>) {
    guard isOpen(join.room, re: "join", session) else { return }
    let limit = configuration.limits.roomsPerConnection
    let existing = subscription(of: session, to: join.room)
    if existing == nil, limit > 0, sessions[session].subscriptionCount >= limit,
      joinedCount(session) >= limit
    {
      reply(
        .error(
          WireError(
            .tooManyRooms,
            "This connection has reached the limit of \(limit) rooms; leave one first.",
            re: "join", room: join.room)),
        to: session)
      return
    }
    if let existing { drop(existing, as: .replaced) }
    sessions[session].owedBytes += Self.joinedBytes
    addSubscription(
      of: session, to: rooms.findOrInsert(join.room), wantsSubscribers: join.subscribers)
    log.append(
      .subscribe(
        LogRequest.Subscribe(
          session: sessions.id(of: session), room: join.room, user: sessions[session].user,
          after: join.after, epoch: join.epoch, mayCreate: mayCreate(join.room))))
  }

  /// The number of rooms that the session has not left, without those that wait for the log.
  private func joinedCount(_ session: Slot<Session>) -> Int {
    subscriptions.slots(in: sessions[session].firstSubscription) { $0.isWanted }.count
  }

  private mutating func leave(_ room: String, forget: Bool, _ session: Slot<Session>) {
    guard subscription(of: session, to: room) != nil else {
      notJoined(room, re: "leave", session)
      return
    }
    leave(room, session)
    if forget { log.append(.forget(room: room, user: sessions[session].user)) }
  }

  /// Ends the subscription to a room that the session has joined.
  mutating func leave(_ room: String, _ session: Slot<Session>) {
    guard let subscription = subscription(of: session, to: room) else { return }
    drop(subscription, as: .abandoned)
    abandonReplaced(session, room)
    reply(.left(room: room), to: session)
  }

  /// Ends a subscription of a session that continues; an unanswered one gets the given state.
  private mutating func drop(_ index: Slot<Subscription>, as state: Subscription.State) {
    if subscriptions[index].state == .subscribing {
      noteJoined(index, false)
      subscriptions[index].state = state
    } else {
      end(index, tellLog: true)
    }
  }

  /// After `left`, earlier joins get no answer.
  private mutating func abandonReplaced(_ session: Slot<Session>, _ room: String) {
    guard let room = rooms.find(room) else { return }
    let chain = sessions[session].firstSubscription
    for index in subscriptions.slots(in: chain, where: { $0.room == room && $0.state == .replaced })
    {
      subscriptions[index].state = .abandoned
    }
  }

  private mutating func notJoined(_ room: String, re: String, _ session: Slot<Session>) {
    reply(
      .error(
        WireError(.notJoined, "This connection has not joined \(room).", re: re, room: room)),
      to: session)
  }

  // MARK: - Sending

  private mutating func send(_ send: ClientMessage.Send, _ session: Slot<Session>, _ now: Moment) {
    guard isOpen(send.room, re: "send", session, id: send.id) else { return }
    if case .forward(let source)? = send.reference, !mayForward(source, send, session) { return }
    if isShuttingDown {
      refuseSend(
        "The relay is shutting down. Nothing was stored; retry with the same id.", send,
        Refusal.retryAfterMilliseconds, session, now)
      return
    }
    if let wait = sessions[session].extras?.holds.wait(send.room, id: send.id, now: now.monotonic) {
      refuseSend(
        "An earlier message to \(send.room) could not be stored; wait, to keep the order.", send,
        wait, session, now)
      return
    }
    noteSend(to: send.room, session)
    sessions[session].owedBytes += Self.owedBytes(room: send.room, id: send.id)
    log.append(
      LogRequest.Append(
        session: sessions.id(of: session), room: send.room, user: sessions[session].user,
        id: send.id, kind: send.kind, body: send.body, reference: send.reference,
        mayCreate: mayCreate(send.room)),
      receivedAt: now.microseconds)
  }

  /// The sender must be allowed to read what it forwards.
  private mutating func mayForward(
    _ source: Forward, _ send: ClientMessage.Send, _ session: Slot<Session>
  ) -> Bool {
    if mayRead(source.room, session) { return true }
    reply(
      .error(
        WireError(
          .forbidden, "You are not allowed to read \(source.room), and cannot forward from it.",
          re: "send", room: send.room, id: send.id, field: "forward")),
      to: session)
    return false
  }

  /// Notes that entries for the room are on their way, if this loop knows the room.
  private mutating func noteSend(to name: String, _ session: Slot<Session>) {
    var room = sendRoom(of: session, named: name)
    if room == nil {
      room = rooms.find(name)
      if room != nil { sessions[session].sendRoom = Link(room) }
    }
    if let room { rooms[room].pace.note(batch: log.nextNumber) }
  }

  /// Returns the room of the session's last send if it has this name: this saves a lookup by name.
  func sendRoom(of session: Slot<Session>, named name: String) -> Slot<Room>? {
    guard let room = sessions[session].sendRoom.slot, rooms.contains(room), rooms[room].name == name
    else { return nil }
    return room
  }

  /// Refuses a send, and with it those that follow to the same room, so that order is kept.
  private mutating func refuseSend(
    _ text: String, _ send: ClientMessage.Send, _ wait: Int64, _ session: Slot<Session>,
    _ now: Moment
  ) {
    hold(send.room, id: send.id, session, for: wait, now)
    reply(
      .error(
        WireError(
          .unavailable, text, re: "send", room: send.room, id: send.id,
          retryAfterMilliseconds: wait)),
      to: session)
  }

  mutating func hold(
    _ room: String, id: String?, _ session: Slot<Session>, for wait: Int64, _ now: Moment
  ) {
    sessions.extras(of: session).holds.refuse(
      room, id: id, until: now.monotonic + wait, isPaused: sessions[session].isPaused,
      now: now.monotonic)
  }

  // MARK: - Marks and typing

  private mutating func mark(
    _ room: String, read: Int64, received: Int64, _ re: String, _ session: Slot<Session>
  ) {
    guard subscription(of: session, to: room) != nil else {
      notJoined(room, re: re, session)
      return
    }
    log.append(
      .mark(room: room, Marks(user: sessions[session].user, read: read, received: received)))
  }

  private mutating func typing(_ room: String, _ on: Bool, _ session: Slot<Session>) {
    guard subscription(of: session, to: room) != nil else {
      notJoined(room, re: "typing", session)
      return
    }
    log.append(.typing(room: room, user: sessions[session].user, on: on))
  }

  // MARK: - Reading

  private mutating func history(_ request: ClientMessage.HistoryRequest, _ session: Slot<Session>) {
    guard isOpen(request.room, re: "history", session) else { return }
    sessions[session].awaitsReply = true
    reads.append(
      .history(
        sessions.id(of: session), request, mayCreate: mayCreate(request.room),
        limitBytes: Self.replyBytes))
  }

  // MARK: - To the log

  /// Returns the requests that have gathered, if the log is ready for the next batch.
  public mutating func takeRequests(now: Moment) -> [LogRequest]? {
    guard let requests = log.takeBatch() else { return nil }
    for id in congested where isCurrent(id) { noteProgress(id.slot, now) }
    congested.removeAll()
    return requests
  }

  /// Returns the requests to read from storage.
  public mutating func takeReads() -> [ReadRequest] {
    defer { reads.removeAll(keepingCapacity: true) }
    return reads
  }
}
