import Wire

/// From rooms to sockets.
extension Shard {
  /// Appends a message to a session's queue.
  /// - Parameter ref: of the request that it answers.
  mutating func reply(_ message: ServerMessage, ref: String? = nil, to session: Slot<Session>) {
    counters.count(reply: message)
    if diagnostics.level >= .debug { report(message, to: session) }
    queue(to: session) { message.append(to: &$0, ref: ref) }
  }

  /// Appends an error to a session's queue.
  /// - Parameter ref: of the request that it answers.
  mutating func reply(_ error: WireError, ref: String?, to session: Slot<Session>) {
    var error = error
    error.ref = ref ?? error.ref
    reply(.error(error), to: session)
  }

  /// Appends a message to a session's queue, as one frame.
  /// - Parameter write: appends the message's JSON.
  @inline(__always)
  mutating func queue(to session: Slot<Session>, _ write: (inout [UInt8]) -> Void) {
    guard !sessions[session].isClosing else { return }
    if sessions[session].outbox.isEmpty { sessions[session].outbox = spareBuffers.take() }
    let compresses = sessions[session].compresses
    encoder.append(compresses: compresses, to: &sessions[session].outbox, write)
    markDirty(session)
  }

  /// Appends bytes that are frames already: those of the WebSocket itself.
  public mutating func append(frames: [UInt8], to id: SessionID) {
    guard isCurrent(id), !frames.isEmpty else { return }
    sessions[id.slot].outbox.append(contentsOf: frames)
    markDirty(id.slot)
  }

  /// Whether anything remains to be written.
  public func hasOutput(_ id: SessionID) -> Bool {
    isCurrent(id) && sessions[id.slot].queuedBytes > 0
  }

  /// The memory that a session takes because its socket does not accept more.
  package func queuedBytes(of id: SessionID) -> Int {
    guard isCurrent(id) else { return 0 }
    return sessions[id.slot].queuedBytes + sessions[id.slot].waitingBytes
  }

  /// The number of ephemeral messages that wait until the client reads.
  package func waitingKeys(of id: SessionID) -> Int {
    isCurrent(id) ? sessions[id.slot].extras?.ephemera.count ?? 0 : 0
  }

  /// The socket accepts bytes. Most calls find a session that does not wait for it: the kernel
  /// reports a socket as writable with each event.
  public mutating func unblock(_ id: SessionID) {
    guard isCurrent(id), sessions[id.slot].isBlocked else { return }
    sessions[id.slot].isBlocked = false
    markDirty(id.slot)
  }

  mutating func markDirty(_ session: Slot<Session>) {
    sessions[session].ackedRoom = .none
    guard !sessions[session].isDirty else { return }
    sessions[session].isDirty = true
    dirty.append(session)
  }

  /// Records the duration of a `flush`, which predicts that of the next fan-out.
  public mutating func recordFlush(connections: Int, nanoseconds: Int64) {
    writeCost.record(connections: connections, nanoseconds: nanoseconds)
  }

  /// When entries that wait must be sent, in microseconds of the monotonic clock.
  var nextDelivery: Int64? { turn.rooms.map { rooms[$0].pace.dueAt }.min() }

  // MARK: - Fan-out

  /// Lays out what this turn sends, and stages again what waits for a later one.
  mutating func layOut(_ now: Moment) {
    guard !turn.rooms.isEmpty else { return }
    var waiting: [(room: Slot<Room>, chain: Turn.Chain)] = []
    for room in turn.rooms {
      let chain = rooms[room].staged
      let waits = mustWait(room, now)
      rooms[room].staged = Turn.Chain()
      if waits {
        waiting.append((room, chain))
      } else if rooms[room].subscribers.isEmpty {
        rooms.releaseIfUnused(room)
      } else if turn.hasSpace(for: chain) {
        turn.layOut(chain, of: room)
      } else {
        for subscription in rooms[room].subscribers
        where subscriptions[subscription].state == .live {
          lag(subscription)
          markDirty(subscriptions[subscription].session)
        }
      }
    }
    turn.unstage(except: waiting, &rooms)
  }

  private mutating func mustWait(_ room: Slot<Room>, _ now: Moment) -> Bool {
    let subscribers = rooms[room].subscribers.count
    guard subscribers > 0 else { return false }
    return rooms[room].pace.waits(
      count: rooms[room].staged.count, now: now.microseconds,
      length: writeCost.microseconds(connections: subscribers), batchInLog: log.batchInLog,
      limits: paceLimits)
  }

  mutating func fanOut(_ began: Int64) {
    // Packing appends slices; these are for the sessions for which they were made.
    for place in turn.slices.indices {
      let slice = turn.slices[place]
      let room = slice.room
      let before = turn.deliveries.count
      // The compressed copy, made for the first session that takes it.
      var packed: Slot<Turn.Slice>?
      let mayHide = rooms[room].hidden != nil
      var hiding = 0
      for position in 0..<rooms[room].subscribers.count {
        let index = rooms[room].subscribers[position]
        let cursor = subscriptions[index].cursor
        let takes = subscriptions[index].state == .live && cursor < slice.lastSeq
        guard takes || mayHide else { continue }
        let session = subscriptions[index].session
        if mayHide {
          let user = sessions[session].user
          // A cursor that reads from storage may be before these entries, or past them already.
          if rooms[room].hides(after: cursor, from: user)
            || !takes && rooms[room].hides(after: slice.firstSeq - 1, from: user)
          {
            hiding += 1
            if takes {
              lag(index)
              markDirty(session)
            }
            continue
          }
        }
        guard takes else { continue }
        if sessions[session].isBlocked || cursor < slice.firstSeq - 1 {
          lag(index)
          markDirty(session)
          continue
        }
        var run = Slot<Turn.Slice>(place)
        if sessions[session].compresses, let compression = encoder.compression {
          run = packed ?? turn.pack(run, compression)
          packed = run
        }
        let delivery = turn.deliveries.add(
          Delivery(
            slice: run, subscription: index,
            lower: turn.lower(of: turn.slices[run], after: cursor),
            next: sessions[session].delivery))
        sessions[session].delivery = OptionalSlot(delivery)
        markDirty(session)
      }
      let sessions = turn.deliveries.count - before
      let lagging = rooms[room].subscribers.count - sessions - hiding
      // A user who is blocked must not see by a trace that this loop has the other one's sessions.
      if hiding > 0, sessions + lagging == 0 { continue }
      traces.record(
        FanOut(
          room: rooms[room].name, firstSeq: slice.firstSeq, lastSeq: slice.lastSeq, at: began,
          sessions: Int32(sessions), lagging: Int32(lagging)))
    }
  }

  mutating func lag(_ subscription: Slot<Subscription>) {
    let session = subscriptions[subscription].session
    diagnostics.debug(
      sessions[session].connection, "A cursor lags.",
      [
        LogField("room", rooms[subscriptions[subscription].room].name),
        LogField("after", subscriptions[subscription].cursor),
      ])
    subscriptions[subscription].state = .lagging
    sessions[session].lagging.append(subscription)
  }

  // MARK: - One session

  /// Writes what is queued for a session, and this turn's deliveries to it.
  /// - Returns: whether it was written; not if the session has ended, is blocked, or its acks wait.
  mutating func writeQueued(
    _ session: Slot<Session>, write: (Int32, Span<UInt8>) -> Int
  ) -> Bool {
    // It may have ended in this turn, and another session may have its slot.
    guard sessions.contains(session), sessions[session].isDirty else { return false }
    sessions[session].isDirty = false
    if acksWait(session) { return false }
    let delivery = sessions[session].delivery
    if sessions[session].isBlocked {
      precondition(delivery.isNone, "the cursors of a blocked session lag")
      return false
    }
    sessions[session].delivery = .none
    if let only = delivery.slot, turn.deliveries[only].next.isNone,
      sessions[session].outbox.isEmpty
    {
      writeDirectly(session, turn.deliveries[only], write: write)
    } else {
      if !delivery.isNone { enlargeOutbox(of: session) }
      queueDeliveries(session, delivery)
      writeOutbox(session, write: write)
    }
    return true
  }

  /// Whether there are only acks to write, and the entries that they acknowledge wait: then the acks
  /// wait as well, because a write of their own costs as much as the one for the entries. In a large
  /// room this makes no difference, and the sender gets the ack at once.
  private func acksWait(_ session: Slot<Session>) -> Bool {
    guard let room = sessions[session].ackedRoom.slot, rooms.contains(room),
      rooms[room].pace.isWaiting,
      rooms[room].subscribers.count <= Self.smallRoom,
      let subscription = subscription(of: session, toRoom: room)
    else { return false }
    return subscriptions[subscription].state == .live
  }

  private static let smallRoom = 16

  /// Writes one room's entries directly from the turn's buffer, which is the usual case. If the socket
  /// blocks, the session keeps only its cursor and the rest of one frame.
  private mutating func writeDirectly(
    _ session: Slot<Session>, _ delivery: Delivery, write: (Int32, Span<UInt8>) -> Int
  ) {
    let slice = turn.slices[delivery.slice]
    let subscription = delivery.subscription
    let range = Int(delivery.lower)..<Int(slice.upper)
    let taken = write(sessions[session].connection, turn.bytes.span.extracting(range))
    if taken == range.count {
      counters.deliveries += Int(slice.lastSeq - subscriptions[subscription].cursor)
      subscriptions[subscription].cursor = slice.lastSeq
      return
    }
    sessions[session].isBlocked = true
    let reached = Int32(range.lowerBound + taken)
    var seq = max(
      turn.lastSeq(of: slice, endingBy: reached), subscriptions[subscription].cursor)
    let end = seq < slice.firstSeq ? slice.lower : turn.end(of: slice, seq)
    if end < reached {
      seq += 1
      sessions[session].outbox.append(
        contentsOf: turn.bytes[Int(reached)..<Int(turn.end(of: slice, seq))])
    }
    counters.deliveries += Int(seq - subscriptions[subscription].cursor)
    subscriptions[subscription].cursor = seq
    if seq < slice.lastSeq { lag(delivery.subscription) }
  }

  /// Moves what is queued into the large buffer, which `writeOutbox` takes back: an outbox of its own
  /// would have to grow, in memory that is in no cache.
  mutating func enlargeOutbox(of session: Slot<Session>) {
    var outbox = spareBuffers.takeLarge()
    swap(&outbox, &sessions[session].outbox)
    sessions[session].outbox.append(contentsOf: outbox[sessions[session].outboxTaken...])
    sessions[session].outboxTaken = 0
    spareBuffers.put(outbox)
  }

  /// Copies several runs, or those that follow replies, into the queue for one write, until it is
  /// full; a room that does not fit lags. Copying some hundred bytes costs nothing compared with the
  /// write, so there are no shared pieces to be kept, counted and gathered by `writev`: what a socket
  /// does not accept stays in the log.
  private mutating func queueDeliveries(_ session: Slot<Session>, _ first: OptionalSlot<Delivery>) {
    var next = first.slot
    while let place = next {
      let delivery = turn.deliveries[place]
      queue(delivery, session)
      next = delivery.next.slot
    }
  }

  private mutating func queue(_ delivery: Delivery, _ session: Slot<Session>) {
    let subscription = delivery.subscription
    guard subscriptions[subscription].state == .live else { return }
    let slice = turn.slices[delivery.slice]
    let space = Int32(max(0, Self.pageBytes - sessions[session].queuedBytes))
    var seq = slice.lastSeq
    if slice.upper - delivery.lower > space {
      seq = max(
        turn.lastSeq(of: slice, endingBy: delivery.lower + space),
        subscriptions[subscription].cursor)
    }
    let upper = seq < slice.firstSeq ? delivery.lower : turn.end(of: slice, seq)
    if upper > delivery.lower {
      sessions[session].outbox.append(
        contentsOf: turn.bytes[Int(delivery.lower)..<Int(upper)])
      counters.deliveries += Int(seq - subscriptions[subscription].cursor)
      subscriptions[subscription].cursor = seq
    }
    if seq < slice.lastSeq { lag(delivery.subscription) }
  }

  /// Writes what is queued, as far as the socket accepts it.
  mutating func writeOutbox(_ session: Slot<Session>, write: (Int32, Span<UInt8>) -> Int) {
    let queued = sessions[session].outboxTaken..<sessions[session].outbox.count
    // Swapped out and back, so that the buffer is not copied.
    var outbox: [UInt8] = []
    swap(&outbox, &sessions[session].outbox)
    let taken =
      queued.isEmpty
      ? 0 : write(sessions[session].connection, outbox.span.extracting(queued))
    if taken == queued.count {
      sessions[session].outboxTaken = 0
      spareBuffers.put(outbox)
      return
    }
    sessions[session].isBlocked = true
    sessions[session].outboxTaken += taken
    // Written bytes and unused capacity are released.
    if sessions[session].outboxTaken > Self.pageBytes || SpareBuffers.isLarge(outbox) {
      sessions[session].outbox = Array(outbox[sessions[session].outboxTaken...])
      sessions[session].outboxTaken = 0
      spareBuffers.put(outbox)
    } else {
      swap(&outbox, &sessions[session].outbox)
    }
  }
}
