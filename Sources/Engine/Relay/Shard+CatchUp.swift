import DequeModule
import HeapModule
import Wire

/// Cursors that are behind: resume, slow readers and whatever else has something to catch up on.
extension Shard {
  /// Fills the queue for the rooms that are behind, in turn, from memory or from storage.
  mutating func catchUp(
    _ index: Slot<Session>, now: Moment, write: (Int32, Span<UInt8>) -> Int
  ) {
    guard !sessions[index].lagging.isEmpty, !sessions[index].isReading else { return }
    while let subscription = sessions[index].lagging.first,
      sessions[index].queuedBytes < Self.pageBytes
    {
      let room = subscriptions[subscription].room
      let cursor = subscriptions[subscription].cursor
      sessions[index].lagging.removeFirst()
      if cursor >= rooms[room].head {
        subscriptions[subscription].state = .live
        continue
      }
      if cursor < rooms[room].firstKept - 1 {
        resubscribe(subscription)
        continue
      }
      sessions[index].lagging.append(subscription)
      let coverage = appendFromTail(subscription, room, index)
      if coverage == .none {
        sessions[index].isReading = true
        reads.append(
          .entries(
            id(of: index), room: rooms[room].name, after: cursor, through: rooms[room].head,
            limitBytes: Self.pageBytes))
      }
      if coverage != .toTheHead { break }
    }
    if sessions[index].queuedBytes > 0 {
      writeOutbox(index, write: write)
    }
    // One page a turn: others have their turn in between.
    if !sessions[index].isBlocked, !sessions[index].lagging.isEmpty, !sessions[index].isReading {
      markDirty(index)
    }
  }

  private enum Coverage {
    /// The tail does not reach back that far.
    case none
    /// It does, but no more fits into the queue.
    case full
    case toTheHead
  }

  /// Appends what the tail has after the cursor, as far as it fits.
  private mutating func appendFromTail(
    _ subscription: Slot<Subscription>, _ room: Slot<Room>, _ index: Slot<Session>
  ) -> Coverage {
    let wanted = subscriptions[subscription].cursor + 1
    guard let first = rooms[room].tail.first, first.firstSeq <= wanted else { return .none }
    var low = 0
    var high = rooms[room].tail.count
    while low < high {
      let middle = (low + high) / 2
      if rooms[room].tail[middle].lastSeq < wanted { low = middle + 1 } else { high = middle }
    }
    while low < rooms[room].tail.count {
      let part = rooms[room].tail[low]
      let span = part.commit.spans[Int(part.span)]
      for seq in max(subscriptions[subscription].cursor + 1, part.firstSeq)...part.lastSeq {
        let bounds = part.commit.frames.bounds[span.frames.lowerBound + Int(seq - part.firstSeq)]
        let length = Int(bounds.upper - bounds.lower)
        let queued = sessions[index].queuedBytes
        if queued + length > Self.pageBytes, queued > 0 { return .full }
        sessions[index].outbox.append(
          contentsOf: part.commit.frames.bytes[Int(bounds.lower)..<Int(bounds.upper)])
        subscriptions[subscription].cursor = seq
        counters.deliveries += 1
      }
      low += 1
    }
    return .toTheHead
  }

  /// Retention has overtaken the cursor: the room is subscribed anew, and the client told.
  private mutating func resubscribe(_ index: Slot<Subscription>) {
    let subscription = subscriptions[index]
    let session = subscription.session
    let room = rooms[subscription.room].name
    let user = sessions[session].user
    leaveRoom(index)
    // To the client the room is joined all the while.
    subscriptions[index].state = .subscribing
    sessions[session].owedBytes += Self.joinedBytes
    ask(.unsubscribe(room: room, user: user))
    ask(
      .subscribe(
        LogRequest.Subscribe(
          session: id(of: session), room: room, user: user, after: subscription.cursor,
          epoch: epoch, mayCreate: true)))
  }

  /// A page from storage.
  mutating func apply(_ page: EntriesPage, to index: Slot<Session>, now: Moment) {
    sessions[index].isReading = false
    guard !page.failed else {
      timers.insert(ShardTimer(at: now.monotonic + 250, kind: .readAgain(id(of: index))))
      return
    }
    markDirty(index)
    guard let subscription = subscription(of: index, to: page.room),
      subscriptions[subscription].state == .lagging
    else { return }
    let room = subscriptions[subscription].room
    rooms[room].firstKept = max(rooms[room].firstKept, page.firstKept)
    // What was asked for may have been sent from the tail meanwhile, or the cursor moved by a join.
    var seq = page.firstSeq
    guard seq <= subscriptions[subscription].cursor + 1 else { return }
    for bounds in page.frames.bounds {
      if seq > subscriptions[subscription].cursor {
        sessions[index].outbox.append(
          contentsOf: page.frames.bytes[Int(bounds.lower)..<Int(bounds.upper)])
        subscriptions[subscription].cursor = seq
        counters.deliveries += 1
      }
      seq += 1
    }
    if let place = sessions[index].lagging.firstIndex(of: subscription) {
      sessions[index].lagging.remove(at: place)
      sessions[index].lagging.append(subscription)
    }
  }
}
