import Wire

/// `join` and `leave`.
extension Shard {
  mutating func join(_ join: ClientMessage.Join, ref: String?, _ session: Slot<Session>) {
    do throws(WireError) {
      try check(join, session)
      subscribe(join, ref: ref, session)
    } catch {
      reply(error, ref: ref, to: session)
    }
  }

  private func check(
    _ join: ClientMessage.Join, _ session: Slot<Session>
  ) throws(WireError) {
    try checkAccess(to: join.room, re: .join, session)
    let limit = configuration.limits.roomsPerConnection
    guard limit > 0, sessions[session].subscriptionCount >= limit,
      subscription(of: session, to: join.room) == nil, joinedCount(session) >= limit
    else { return }
    throw WireError(
      .tooManyRooms,
      "This connection has reached the limit of \(limit) rooms; leave one first.",
      re: .join, room: join.room)
  }

  /// The number of rooms that the session has not left, without those that wait for the log.
  private func joinedCount(_ session: Slot<Session>) -> Int {
    subscriptions.slots(in: sessions[session].firstSubscription) { $0.isWanted }.count
  }

  private mutating func subscribe(
    _ join: ClientMessage.Join, ref: String?, _ session: Slot<Session>
  ) {
    if let existing = subscription(of: session, to: join.room) { drop(existing, as: .replaced) }
    sessions[session].owedBytes += Self.joinedBytes
    addSubscription(
      of: session, to: rooms.findOrInsert(join.room), wantsSubscribers: join.subscribers, ref: ref)
    log.append(
      .subscribe(
        LogRequest.Subscribe(
          session: sessions.id(of: session), room: join.room, user: sessions[session].user,
          after: join.after, epoch: join.epoch, lineage: join.lineage,
          mayCreate: mayCreate(join.room), isOperator: sessions[session].isOperator)))
  }

  // MARK: - Several rooms

  mutating func join(
    _ joins: [Result<ClientMessage.Join, WireError>], ref: String?, _ session: Slot<Session>
  ) {
    chargeRequests((joins.count - 1) / PendingJoins.roomsPerRequest, session)
    sessions.extras(of: session).joins = PendingJoins(joins, ref: ref)
    continueJoining(session)
  }

  /// Whether rooms of a `join` are still to be subscribed.
  func isJoining(_ session: Slot<Session>) -> Bool { sessions[session].extras?.joins != nil }

  /// Joins as many of the remaining rooms as there is room for answers. The answers are in order: an
  /// error waits until the log has answered the joins before it.
  mutating func continueJoining(_ session: Slot<Session>) {
    guard let extras = sessions[session].extras, var joins = extras.joins else { return }
    while let next = joins.next, hasRoomForReplies(session) {
      if log.isFull {
        congested.append(sessions.id(of: session))
        break
      }
      do throws(WireError) {
        let join = try next.get()
        try check(join, session)
        subscribe(join, ref: joins.ref, session)
      } catch {
        guard !awaitsJoined(session) else {
          extras.joins = joins
          return
        }
        reply(error, ref: joins.ref, to: session)
      }
      joins.removeNext()
    }
    extras.joins = joins.isDone ? nil : joins
  }

  private func awaitsJoined(_ session: Slot<Session>) -> Bool {
    subscriptions.first(in: sessions[session].firstSubscription) { $0.isUnanswered } != nil
  }

  // MARK: - Leaving

  mutating func leave(
    _ room: String, forget: Bool, ref: String?, _ session: Slot<Session>
  ) {
    let user = sessions[session].user
    if subscription(of: session, to: room) != nil {
      leave(room, ref: ref, session)
      if forget { log.append(.forget(room: room, user: user)) }
    } else if forget {
      // Only membership is required; the log checks it.
      log.append(.forget(room: room, user: user, from: origin(.leave, ref: ref, session)))
    } else {
      reply(.notJoined(room, re: .leave), ref: ref, to: session)
    }
  }

  /// Ends the subscription to a room that the session has joined.
  mutating func leave(_ room: String, ref: String? = nil, _ session: Slot<Session>) {
    guard let subscription = subscription(of: session, to: room) else { return }
    drop(subscription, as: .abandoned)
    abandonReplaced(session, room)
    reply(.left(room: room), ref: ref, to: session)
  }

  /// Ends a subscription of a session that continues; an unanswered one gets the given state. A join
  /// with a `ref` is answered now.
  private mutating func drop(_ index: Slot<Subscription>, as state: Subscription.State) {
    guard subscriptions[index].state == .subscribing else {
      end(index, tellLog: true)
      return
    }
    setJoined(index, false)
    subscriptions[index].state = state
    guard let ref = takeJoinRef(index) else { return }
    subscriptions[index].state = .abandoned
    let room = rooms[subscriptions[index].room].name
    reply(
      WireError(
        .superseded, "A later join or leave of \(room) has overtaken this join.", re: .join,
        room: room),
      ref: ref, to: subscriptions[index].session)
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
}
