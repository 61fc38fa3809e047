import Wire

/// From rooms to sockets: the end of a turn.
extension Shard {
  /// Appends a message to a session's queue.
  mutating func reply(_ message: ServerMessage, to index: Slot<Session>) {
    counters.note(reply: message)
    scratch.removeAll(keepingCapacity: true)
    message.append(to: &scratch)
    replyWithScratch(to: index)
  }

  mutating func replyWithScratch(to index: Slot<Session>) {
    guard !sessions[index].isClosing else { return }
    if sessions[index].outbox.isEmpty, let spare = spareOutboxes.popLast() {
      sessions[index].outbox = spare
    }
    append(message: scratch, to: index)
    markDirty(index)
  }

  /// Appends a message's JSON to a session's queue, as one frame.
  mutating func append(message json: [UInt8], to index: Slot<Session>) {
    if sessions[index].compresses, let compression, json.count >= compression.minimumBytes {
      compression.append(json.span, &sessions[index].outbox)
    } else {
      framing.appendHeader(json.count, &sessions[index].outbox)
      sessions[index].outbox.append(contentsOf: json)
    }
  }

  /// Appends bytes that are frames already: what the WebSocket itself has to say.
  public mutating func append(frames: [UInt8], to id: SessionID) {
    guard isCurrent(id), !frames.isEmpty else { return }
    sessions[id.slot].outbox.append(contentsOf: frames)
    markDirty(id.slot)
  }

  /// Whether anything is still to be written. It changes nothing, but for a method that does not say
  /// so an owner that is a class copies the whole shard.
  public mutating func hasOutput(_ id: SessionID) -> Bool {
    isCurrent(id) && sessions[id.slot].queuedBytes > 0
  }

  /// What is kept for a session because its socket does not take it.
  package func queuedBytes(of id: SessionID) -> Int {
    guard isCurrent(id) else { return 0 }
    let session = sessions[id.slot]
    return session.queuedBytes + (session.extras?.ephemera.values.reduce(0) { $0 + $1.count } ?? 0)
  }

  /// The socket takes bytes again.
  public mutating func unblock(_ id: SessionID) {
    guard isCurrent(id) else { return }
    sessions[id.slot].isBlocked = false
    markDirty(id.slot)
  }

  mutating func markDirty(_ index: Slot<Session>) {
    sessions[index].ackedRoom = .none
    guard !sessions[index].isDirty else { return }
    sessions[index].isDirty = true
    dirty.append(index)
  }

  /// Whether another turn has work to do without any event.
  public var hasWork: Bool {
    !dirty.isEmpty || !resumable.isEmpty || !reads.isEmpty || !closings.isEmpty
      || !departures.isEmpty || !logIsBusy && !requests.isEmpty
  }

  /// Ends the turn: lays out what is new, and writes once to each socket that has something.
  /// - Parameter write: hands bytes to a connection's socket and returns how many it took. Fewer
  ///   than all means that it is blocked until `unblock`.
  /// - Returns: to how many connections it looked; see `noteFlush`.
  @discardableResult
  public mutating func flush(
    now: Moment, write: (_ connection: Int32, _ bytes: Span<UInt8>) -> Int
  ) -> Int {
    layOut(now)
    fanOut()
    // What becomes dirty from here on is for the next turn.
    let due = dirty
    dirty.removeAll(keepingCapacity: true)
    for index in due {
      flush(index, now: now, write: write)
    }
    turn.clear()
    return due.count
  }

  /// Tells what a `flush` took, from which follows how long the next fan-out is going to take.
  public mutating func noteFlush(connections: Int, nanoseconds: Int64) {
    // A few tell little, and stalls of the machine nothing at all.
    guard connections >= 32 else { return }
    let each = min(100_000, nanoseconds / Int64(connections))
    writeNanoseconds = (writeNanoseconds * 7 + each) / 8
  }

  /// When entries that wait have waited for long enough, in microseconds of the monotonic clock.
  var nextDelivery: Int64? { turn.rooms.lazy.map { rooms[$0].pace.dueAt }.min() }

  // MARK: - Fan-out

  /// Stages a commit's new entries of one room.
  mutating func stage(_ commit: Commit, span: Int, in room: Slot<Room>) {
    let staged = Link(
      turn.staged.add(Turn.Staged(commit: commit, span: Int32(span), next: .none)))
    if let last = rooms[room].lastStaged.slot {
      turn.staged[last].next = staged
    } else {
      rooms[room].firstStaged = staged
      turn.rooms.append(room)
    }
    rooms[room].lastStaged = staged
    rooms[room].stagedCount += Int32(commit.spans[span].frames.count)
  }

  /// Lays out what goes out in this turn, and stages again what waits for a later one.
  private mutating func layOut(_ now: Moment) {
    guard !turn.rooms.isEmpty else { return }
    var waiting: [(room: Slot<Room>, Turn.Staged)] = []
    for room in turn.rooms {
      guard let first = rooms[room].firstStaged.slot else { continue }
      let waits = mustWait(room, now)
      rooms[room].firstStaged = .none
      rooms[room].lastStaged = .none
      rooms[room].stagedCount = 0
      if waits {
        var next: Slot<Turn.Staged>? = first
        while let staged = next {
          waiting.append((room, turn.staged[staged]))
          next = turn.staged[staged].next.slot
        }
        continue
      }
      guard !rooms[room].subscribers.isEmpty else {
        releaseIfUnused(room)
        continue
      }
      guard turn.bytes.count + stagedBytes(from: first) <= turn.bytesLimit else {
        for subscription in rooms[room].subscribers
        where subscriptions[subscription].state == .live {
          lag(subscription)
          markDirty(subscriptions[subscription].session)
        }
        continue
      }
      let oldest = turn.staged[first]
      var slice = Turn.Slice(
        room: room, firstSeq: oldest.commit.spans[Int(oldest.span)].firstSeq, lastSeq: 0,
        firstEntry: Int32(turn.ends.count), lower: Int32(turn.bytes.count), upper: 0)
      var next: Slot<Turn.Staged>? = first
      while let place = next {
        let staged = turn.staged[place]
        let span = staged.commit.spans[Int(staged.span)]
        turn.append(staged.commit.frames, span.frames)
        slice.lastSeq = span.lastSeq
        next = staged.next.slot
      }
      slice.upper = Int32(turn.bytes.count)
      turn.slices.append(slice)
    }
    turn.staged.removeAll(keepingCapacity: true)
    turn.rooms.removeAll(keepingCapacity: true)
    for (room, staged) in waiting { stage(staged.commit, span: Int(staged.span), in: room) }
  }

  /// How long a chain of staged parts is, in bytes.
  private func stagedBytes(from first: Slot<Turn.Staged>) -> Int {
    var bytes = 0
    var next: Slot<Turn.Staged>? = first
    while let place = next {
      let staged = turn.staged[place]
      bytes += staged.commit.frames.length(staged.commit.spans[Int(staged.span)].frames)
      next = staged.next.slot
    }
    return bytes
  }

  private mutating func mustWait(_ room: Slot<Room>, _ now: Moment) -> Bool {
    let subscribers = Int64(rooms[room].subscribers.count)
    guard subscribers > 0 else { return false }
    return rooms[room].pace.waits(
      count: rooms[room].stagedCount, now: now.microseconds,
      length: subscribers * writeNanoseconds / 1000, batchInLog: logIsBusy ? batchNumber : 0,
      limits: paceLimits)
  }

  private mutating func fanOut() {
    // Packing adds slices, which are for the sessions that they were made for.
    for place in turn.slices.indices {
      let slice = turn.slices[place]
      let room = slice.room
      // The same for those who take compressed messages, made when the first of them is met.
      var packed: Slot<Turn.Slice>?
      for position in 0..<rooms[room].subscribers.count {
        let index = rooms[room].subscribers[position]
        guard subscriptions[index].state == .live else { continue }
        let cursor = subscriptions[index].cursor
        guard cursor < slice.lastSeq else { continue }
        let session = subscriptions[index].session
        if sessions[session].isBlocked || cursor < slice.firstSeq - 1 {
          lag(index)
          markDirty(session)
          continue
        }
        var run = Slot<Turn.Slice>(place)
        if sessions[session].compresses, let compression {
          run = packed ?? turn.pack(run, compression)
          packed = run
        }
        let delivery = turn.deliveries.add(
          Delivery(
            slice: run, subscription: index,
            lower: turn.lower(of: turn.slices[run], after: cursor),
            next: sessions[session].delivery))
        sessions[session].delivery = Link(delivery)
        markDirty(session)
      }
    }
  }

  mutating func lag(_ subscription: Slot<Subscription>) {
    let session = subscriptions[subscription].session
    subscriptions[subscription].state = .lagging
    sessions[session].lagging.append(subscription)
  }

  // MARK: - One session

  private mutating func flush(
    _ index: Slot<Session>, now: Moment, write: (Int32, Span<UInt8>) -> Int
  ) {
    // It may have been closed in this turn, and its slot be another's.
    guard sessions.contains(index), sessions[index].isDirty else { return }
    sessions[index].isDirty = false
    if acksWait(index) { return }
    let delivery = sessions[index].delivery
    if sessions[index].isBlocked {
      precondition(delivery.isNone, "the cursors of a blocked session lag")
      return
    }
    sessions[index].delivery = .none
    if let only = delivery.slot, turn.deliveries[only].next.isNone,
      sessions[index].outbox.isEmpty
    {
      writeDirectly(index, turn.deliveries[only], write: write)
    } else {
      queueDeliveries(index, delivery)
      writeOutbox(index, write: write)
    }
    if !sessions[index].isBlocked {
      noteDrained(index)
      catchUp(index, now: now, write: write)
    }
    noteProgress(index, now)
  }

  /// Where acks are all that there is to be written, and their entries wait, so do they: a write of its
  /// own for an ack costs as much as the one for the entries. In a crowd it makes no difference, and
  /// the sender is told at once.
  private func acksWait(_ index: Slot<Session>) -> Bool {
    guard let room = sessions[index].ackedRoom.slot, rooms.contains(room),
      rooms[room].pace.isWaiting,
      rooms[room].subscribers.count <= Self.smallRoom,
      let subscription = subscription(of: index, toRoom: room)
    else { return false }
    return subscriptions[subscription].state == .live
  }

  private static let smallRoom = 16

  /// The usual case: one room's entries, from the turn's buffer as they lie there. Where the socket
  /// blocks, the session keeps the rest of one frame and its cursor, no more.
  private mutating func writeDirectly(
    _ index: Slot<Session>, _ delivery: Delivery, write: (Int32, Span<UInt8>) -> Int
  ) {
    let slice = turn.slices[delivery.slice]
    let subscription = delivery.subscription
    let range = Int(delivery.lower)..<Int(slice.upper)
    let taken = write(sessions[index].connection, turn.bytes.span.extracting(range))
    if taken == range.count {
      counters.deliveries += Int(slice.lastSeq - subscriptions[subscription].cursor)
      subscriptions[subscription].cursor = slice.lastSeq
      return
    }
    sessions[index].isBlocked = true
    let reached = Int32(range.lowerBound + taken)
    var seq = max(
      turn.lastSeq(of: slice, endingBy: reached), subscriptions[subscription].cursor)
    let end = seq < slice.firstSeq ? slice.lower : turn.end(of: slice, seq)
    if end < reached {
      seq += 1
      sessions[index].outbox.append(
        contentsOf: turn.bytes[Int(reached)..<Int(turn.end(of: slice, seq))])
    }
    counters.deliveries += Int(seq - subscriptions[subscription].cursor)
    subscriptions[subscription].cursor = seq
    if seq < slice.lastSeq { lag(delivery.subscription) }
  }

  /// Several runs, or replies before them: copied behind each other for one write, as far as they
  /// fit; a room that does not fit is behind. A copy of some hundred bytes is nothing beside the
  /// send, so there is no queue of shared pieces to be kept, counted and gathered by `writev`: what
  /// a socket does not take stays in the log.
  private mutating func queueDeliveries(_ index: Slot<Session>, _ first: Link<Delivery>) {
    var next = first.slot
    while let place = next {
      let delivery = turn.deliveries[place]
      queue(delivery, index)
      next = delivery.next.slot
    }
  }

  private mutating func queue(_ delivery: Delivery, _ index: Slot<Session>) {
    let subscription = delivery.subscription
    guard subscriptions[subscription].state == .live else { return }
    let slice = turn.slices[delivery.slice]
    let space = Int32(max(0, Self.pageBytes - sessions[index].queuedBytes))
    var seq = slice.lastSeq
    if slice.upper - delivery.lower > space {
      seq = max(
        turn.lastSeq(of: slice, endingBy: delivery.lower + space),
        subscriptions[subscription].cursor)
    }
    let upper = seq < slice.firstSeq ? delivery.lower : turn.end(of: slice, seq)
    if upper > delivery.lower {
      sessions[index].outbox.append(
        contentsOf: turn.bytes[Int(delivery.lower)..<Int(upper)])
      counters.deliveries += Int(seq - subscriptions[subscription].cursor)
      subscriptions[subscription].cursor = seq
    }
    if seq < slice.lastSeq { lag(delivery.subscription) }
  }

  /// Half a MiB at most is kept for the next sessions.
  private static let spareBytes = 2048
  private static let spareLimit = 256

  /// Writes what is queued, as far as the socket takes it.
  mutating func writeOutbox(_ index: Slot<Session>, write: (Int32, Span<UInt8>) -> Int) {
    let queued = sessions[index].outboxTaken..<sessions[index].outbox.count
    guard !queued.isEmpty else { return }
    // Taken out and put back: what is written from must not be copied.
    var outbox: [UInt8] = []
    swap(&outbox, &sessions[index].outbox)
    let taken = write(sessions[index].connection, outbox.span.extracting(queued))
    if taken == queued.count {
      sessions[index].outboxTaken = 0
      if outbox.capacity <= Self.spareBytes, spareOutboxes.count < Self.spareLimit {
        outbox.removeAll(keepingCapacity: true)
        spareOutboxes.append(outbox)
      }
      return
    }
    swap(&outbox, &sessions[index].outbox)
    sessions[index].isBlocked = true
    sessions[index].outboxTaken += taken
    // What is out must not be held on to.
    if sessions[index].outboxTaken > Self.pageBytes {
      sessions[index].outbox.removeFirst(sessions[index].outboxTaken)
      sessions[index].outboxTaken = 0
    }
  }
}

extension Turn {
  /// Lays consecutive frames of a commit into the buffer.
  fileprivate mutating func append(_ frames: Frames, _ range: Range<Int>) {
    let lower = frames.bounds[range.lowerBound].lower
    let upper = frames.bounds[range.upperBound - 1].upper
    let shift = Int32(bytes.count) - lower
    bytes.append(contentsOf: frames.bytes[Int(lower)..<Int(upper)])
    for index in range {
      payloads.append(frames.bounds[index].payload + shift)
      ends.append(frames.bounds[index].upper + shift)
    }
  }
}
