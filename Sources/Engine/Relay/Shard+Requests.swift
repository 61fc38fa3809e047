import Wire

/// The requests of clients.
extension Shard {
  /// Processes one text message. The owner has called `mayReceive` before.
  public mutating func receive(_ id: SessionID, _ json: Span<UInt8>, now: Moment) {
    guard isActive(id) else { return }
    let session = id.slot
    let request: ClientRequest
    do throws(WireError) {
      request = try ClientRequest(
        decoding: json, textLimitBytes: configuration.limits.textBytes,
        roomsLimit: configuration.limits.roomsPerConnection,
        likelyRoom: sendRoomName(of: session))
    } catch {
      charge(.request, bytes: json.count, session)
      refuse(error, to: session)
      return
    }
    counters.count(received: request.message)
    diagnostics.trace(
      sessions[session].connection, "A message is received.",
      [LogField("type", "\(request.message.type)"), LogField("bytes", json.count)])
    if case .send = request.message {
      charge(.send, bytes: json.count, session)
    } else {
      charge(.request, bytes: json.count, session)
    }
    guard !sessions[session].user.isEmpty else {
      receiveFirst(request, session, now)
      return
    }
    let ref = request.ref
    switch request.message {
    case .send(let send): self.send(send, ref: ref, session, now)
    case .received(let room, let seq):
      receipts.receive(received: seq, in: room, ref: ref, from: session, in: &self)
    case .read(let room, let seq):
      receipts.receive(read: seq, in: room, ref: ref, from: session, in: &self)
    case .typing(let room, let on): typing.receive(room, on, ref: ref, from: session, in: &self)
    case .presence(let isAway):
      setAway(isAway, session)
      if ref != nil { reply(.ok, ref: ref, to: session) }
    case .join(let join): self.join(join, ref: ref, session)
    case .joinRooms(let joins): self.join(joins, ref: ref, session)
    case .leave(let room, let forget): leave(room, forget: forget, ref: ref, session)
    case .history(let request): history(request, ref: ref, session, now)
    case .rooms(let request): roomLists.receive(request, ref: ref, from: session, in: &self)
    case .people(let request): people.receive(request, ref: ref, from: session, in: &self)
    case .ping(let t): reply(.pong(t: t, time: now.wall), ref: ref, to: session)
    case .auth(let token): renew(token, ref: ref, session, now)
    case .block(let user, let on): blocks.receive(user, on, ref: ref, from: session, in: &self)
    case .blocks: blocks.list(ref: ref, for: session, in: &self)
    case .accept(let room): accept(room, ref: ref, session)
    case .report(let room, let seq, let reason):
      reports.receive(room, seq, reason, ref: ref, from: session, in: &self, now)
    case .reports(let room): reports.list(room, ref: ref, for: session, in: &self, now)
    case .ban(let user, let on, let until):
      actAsOperator(.ban, ref: ref, session, now) { order throws(WireError) in
        try Self.check(until, user, order.user, now)
        return .ban(BanChange(user: user, isBanned: on, until: until), order)
      }
    case .deleteRoom(let room):
      actAsOperator(.deleteRoom, ref: ref, session, now) { .deleteRoom(room, $0) }
    case .erase(let user, let room, let seq):
      actAsOperator(.erase, ref: ref, session, now) { order throws(WireError) in
        // Its entries are the records of what others have done.
        guard user != UserName.relay else {
          throw WireError(.badField, "\(user) is no person.", re: .erase, room: room, field: "user")
        }
        return .erase(LogRequest.Erasure(user: user, room: room, seq: seq), order)
      }
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

  /// Throws if the room's name or the client's rights do not allow a request.
  ///
  /// Throws rather than returns the error: a `WireError?` is copied several times, also if it is nil.
  func checkAccess(
    to room: String, re: RequestName, _ session: Slot<Session>
  ) throws(WireError) {
    let sends = re == .send
    let text: String
    if sessions[session].isInternal, RoomName.isReserved(room) {
      return
    } else if sessions[session].isOperator, RoomName.isForOperators(room), re.reads {
      return
    } else if !RoomName.isOpen(room, to: sessions[session].user) {
      text =
        RoomName.isReserved(room)
        ? "Room \(room) is reserved for the relay."
        : "Room \(room) is open to its two users only."
    } else if sends ? !rightsAllowSending(room, session) : !rightsAllowReading(room, session) {
      text = "Your token does not allow you to \(sends ? "send to" : "read") \(room)."
    } else {
      return
    }
    throw WireError(.forbidden, text, re: re, room: room)
  }

  func mayCreate(_ room: String) -> Bool {
    configuration.anyoneMayCreate || RoomName.isDirect(room) || RoomName.isReserved(room)
      || listedTitles[room] != nil
  }

  // MARK: - Sending

  private mutating func send(
    _ send: ClientMessage.Send, ref: String?, _ session: Slot<Session>, _ now: Moment
  ) {
    do throws(WireError) {
      try checkAccess(to: send.room, re: .send, session)
      try checkForward(send, session)
    } catch {
      var error = error
      error.id = send.id
      reply(error, ref: ref, to: session)
      return
    }
    if isShuttingDown {
      refuseSend(
        "The relay is shutting down. Nothing was stored; retry with the same id.", send, ref,
        Refusal.retryAfterMilliseconds, session, now)
      return
    }
    if let wait = sessions[session].extras?.holds.wait(send.room, id: send.id, now: now.monotonic) {
      refuseSend(
        "An earlier message to \(send.room) could not be stored; wait, to keep the order.", send,
        ref, wait, session, now)
      return
    }
    pace(sendTo: send.room, session)
    sessions[session].owedBytes += Self.owedBytes(room: send.room, id: send.id)
    log.append(
      LogRequest.Append(
        session: sessions.id(of: session), room: send.room, user: sessions[session].user,
        id: send.id, kind: send.kind, body: send.body, reference: send.reference,
        mayCreate: mayCreate(send.room), isOperator: sessions[session].isOperator,
        isListed: isListed(send), stranger: stranger(send, session), ref: ref,
        receivedAt: now.microseconds, traceparent: send.traceparent,
        rights: sessions[session].grant?.identity.rights ?? .all))
  }

  /// Whether the first entry of a direct room is a request: the log knows whether the users have met.
  private func stranger(
    _ send: ClientMessage.Send, _ session: Slot<Session>
  ) -> LogRequest.Stranger? {
    guard configuration.asksStrangers, RoomName.isDirect(send.room),
      !sessions[session].isOperator, !people.isKnown(sessions[session].user)
    else { return nil }
    return LogRequest.Stranger(issuer: commonIssuer(of: session))
  }

  /// The service by which the user has signed in, if its users know each other; otherwise empty.
  func commonIssuer(of session: Slot<Session>) -> String {
    let issuer = sessions[session].grant?.identity.issuer ?? ""
    return configuration.commonIssuers.contains(issuer) ? issuer : ""
  }

  private mutating func accept(_ room: String, ref: String?, _ session: Slot<Session>) {
    do throws(WireError) {
      try checkAccess(to: room, re: .accept, session)
      log.append(
        .accept(
          room: room, user: sessions[session].user, from: origin(.accept, ref: ref, session)))
    } catch {
      reply(error, ref: ref, to: session)
    }
  }

  // MARK: - Operators

  mutating func actAsOperator(
    _ re: RequestName, ref: String?, _ session: Slot<Session>, _ now: Moment,
    _ request: (LogRequest.Order) throws(WireError) -> LogRequest
  ) {
    do throws(WireError) {
      guard sessions[session].isOperator else {
        throw WireError(.forbidden, "Only operators of the relay may do that.", re: re)
      }
      let origin = LogRequest.Origin(session: sessions.id(of: session), re: re, ref: ref)
      let order = LogRequest.Order(
        by: sessions[session].user, origin: origin, receivedAt: now.microseconds)
      let request = try request(order)
      report(request, session, now)
      sessions[session].owedBytes += Self.originBytes
      log.append(request)
    } catch {
      reply(error, ref: ref, to: session)
    }
  }

  private static func check(
    _ until: Int64?, _ user: String, _ by: String, _ now: Moment
  ) throws(WireError) {
    if let until, until <= now.wall {
      throw WireError(.badField, "\"until\" must be in the future.", re: .ban, field: "until")
    }
    guard user != by else {
      throw WireError(.badField, "You cannot ban yourself.", re: .ban, field: "user")
    }
  }

  private func isListed(_ send: ClientMessage.Send) -> Bool {
    guard case .settings? = send.reference else { return false }
    return listedTitles[send.room] != nil
  }

  /// The sender must be allowed to read what it forwards.
  private func checkForward(
    _ send: ClientMessage.Send, _ session: Slot<Session>
  ) throws(WireError) {
    guard case .forward(let source)? = send.reference, !mayRead(source.room, session) else {
      return
    }
    throw WireError(
      .forbidden, "You are not allowed to read \(source.room), and cannot forward from it.",
      re: .send, room: send.room, field: "forward")
  }

  /// Records that entries for the room are on their way, if this loop knows the room.
  private mutating func pace(sendTo name: String, _ session: Slot<Session>) {
    var room = sendRoom(of: session, named: name)
    if room == nil {
      room = rooms.find(name)
      if room != nil { sessions[session].sendRoom = OptionalSlot(room) }
    }
    if let room { rooms[room].pace.record(batch: log.nextNumber) }
  }

  /// The name of the room of the session's last send, or of one that has its slot since; empty if there
  /// is none.
  private func sendRoomName(of session: Slot<Session>) -> String {
    guard let room = sessions[session].sendRoom.slot, rooms.contains(room) else { return "" }
    return rooms[room].name
  }

  /// Returns the room of the session's last send if it has this name: this saves a lookup by name.
  /// It tells nothing about rights: the slot may be that of another room since.
  func sendRoom(of session: Slot<Session>, named name: String) -> Slot<Room>? {
    guard let room = sessions[session].sendRoom.slot, rooms.contains(room), rooms[room].name == name
    else { return nil }
    return room
  }

  /// Refuses a send, and with it those that follow to the same room, so that order is kept.
  private mutating func refuseSend(
    _ text: String, _ send: ClientMessage.Send, _ ref: String?, _ wait: Int64,
    _ session: Slot<Session>, _ now: Moment
  ) {
    hold(send.room, id: send.id, session, for: wait, now)
    reply(
      WireError(
        .unavailable, text, re: .send, room: send.room, id: send.id,
        retryAfterMilliseconds: wait),
      ref: ref, to: session)
  }

  mutating func hold(
    _ room: String, id: String?, _ session: Slot<Session>, for wait: Int64, _ now: Moment
  ) {
    sessions.extras(of: session).holds.refuse(
      room, id: id, until: now.monotonic + wait, isPaused: sessions[session].isPaused,
      now: now.monotonic)
  }

  /// Returns the origin of a request whose answer comes from the log, and reserves its place in the
  /// queue.
  mutating func origin(
    _ re: RequestName, ref: String?, _ session: Slot<Session>
  ) -> LogRequest.Origin {
    sessions[session].owedBytes += Self.originBytes
    return LogRequest.Origin(session: sessions.id(of: session), re: re, ref: ref)
  }

  // MARK: - Reading

  private mutating func history(
    _ request: ClientMessage.HistoryRequest, ref: String?, _ session: Slot<Session>, _ now: Moment
  ) {
    do throws(WireError) {
      try checkAccess(to: request.room, re: .history, session)
    } catch {
      reply(error, ref: ref, to: session)
      return
    }
    sessions[session].awaitsReply = true
    reads.append(
      .history(
        sessions.id(of: session), request, by: asker(session, now), ref: ref,
        mayCreate: mayCreate(request.room),
        limitBytes: Self.replyBytes))
  }
}

extension RequestName {
  /// Whether it only reads the entries of a room.
  fileprivate var reads: Bool { self == .join || self == .history || self == .read }
}
