import HeapModule
import Wire

/// Lagging cursors: those of resumed clients, of slow readers, and of everything else that has to
/// catch up.
extension Shard {
  private static let readAgainMilliseconds: Int64 = 250

  /// Fills the queue for the lagging rooms, in turn, from memory or from storage.
  mutating func catchUp(
    _ session: Slot<Session>, now: Moment, write: (Int32, Span<UInt8>) -> Int
  ) {
    guard !sessions[session].lagging.isEmpty, !sessions[session].isReading else { return }
    while let subscription = sessions[session].lagging.first,
      sessions[session].queuedBytes < Self.pageBytes
    {
      let room = subscriptions[subscription].room
      let cursor = subscriptions[subscription].cursor
      sessions[session].lagging.removeFirst()
      if subscriptions[subscription].isEnding,
        cursor >= end(of: subscription) || cursor < rooms[room].firstKept - 1
      {
        depart(subscription)
        continue
      }
      if cursor >= rooms[room].head {
        subscriptions[subscription].state = .live
        diagnostics.debug(
          sessions[session].connection, "A cursor has caught up.",
          [LogField("room", rooms[room].name), LogField("seq", cursor)])
        continue
      }
      if cursor < rooms[room].firstKept - 1 {
        resubscribe(subscription)
        continue
      }
      sessions[session].lagging.append(subscription)
      let user = sessions[session].user
      guard rooms[room].tail.reaches(backTo: cursor),
        !rooms[room].hides(after: cursor, from: user)
      else {
        sessions[session].isReading = true
        reads.append(
          .entries(
            sessions.id(of: session), room: rooms[room].name, user: user, after: cursor,
            through: end(of: subscription), limitBytes: Self.pageBytes))
        break
      }
      if !SpareBuffers.isLarge(sessions[session].outbox) { enlargeOutbox(of: session) }
      let queued = sessions[session].queuedBytes
      let isComplete = rooms[room].tail.append(
        after: &subscriptions[subscription].cursor, through: end(of: subscription),
        to: &sessions[session].outbox, queued: queued, limit: Self.pageBytes)
      counters.deliveries += Int(subscriptions[subscription].cursor - cursor)
      if !isComplete { break }
    }
    if sessions[session].queuedBytes > 0 {
      writeOutbox(session, write: write)
    }
    // One page per turn: other sessions have their turn in between.
    if !sessions[session].isBlocked, !sessions[session].lagging.isEmpty,
      !sessions[session].isReading
    {
      markDirty(session)
    }
  }

  /// Subscribes to the room again, and tells the client: retention has overtaken the cursor, or the user has
  /// lost a right.
  mutating func resubscribe(_ index: Slot<Subscription>) {
    let subscription = subscriptions[index]
    let session = subscription.session
    let room = rooms[subscription.room].name
    let user = sessions[session].user
    subscriptions.remove(index, from: &rooms[subscription.room].subscribers)
    // `isJoined` stays: to the client, the room remains joined.
    subscriptions[index].state = .subscribing
    sessions[session].owedBytes += Self.joinedBytes
    log.append(.unsubscribe(room: room, user: user))
    log.append(
      .subscribe(
        LogRequest.Subscribe(
          session: sessions.id(of: session), room: room, user: user, after: subscription.cursor,
          epoch: epoch, mayCreate: true, isOperator: sessions[session].isOperator)))
  }

  /// Queues a page from storage.
  mutating func queuePage(_ page: EntriesPage, for session: Slot<Session>, _ now: Moment) {
    sessions[session].isReading = false
    guard !page.failed else {
      timers.insert(
        ShardTimer(
          at: now.monotonic + Self.readAgainMilliseconds,
          kind: .readAgain(sessions.id(of: session))))
      return
    }
    markDirty(session)
    guard let subscription = subscription(of: session, to: page.room),
      subscriptions[subscription].state == .lagging
    else { return }
    let room = subscriptions[subscription].room
    rooms[room].firstKept = max(rooms[room].firstKept, page.firstKept)
    // The entries may have been sent from the tail since, or a join may have moved the cursor.
    var seq = page.firstSeq
    guard seq <= subscriptions[subscription].cursor + 1 else { return }
    for bounds in page.frames.bounds {
      if seq > subscriptions[subscription].cursor {
        sessions[session].outbox.append(
          contentsOf: page.frames.bytes[Int(bounds.lower)..<Int(bounds.upper)])
        subscriptions[subscription].cursor = seq
        counters.deliveries += 1
      }
      seq += 1
    }
    if let place = sessions[session].lagging.firstIndex(of: subscription) {
      sessions[session].lagging.remove(at: place)
      sessions[session].lagging.append(subscription)
    }
  }
}
