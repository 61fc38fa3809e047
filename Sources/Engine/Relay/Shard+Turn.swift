import HeapModule

/// A turn of the loop, in the order in which it happens: the log's deliveries, the input (`receive` in
/// Shard+Requests.swift), what is due, the log's next batch, the output. A feature has its lines here.
extension Shard {
  // MARK: - 1. The log's deliveries

  /// Applies one delivery. To be called in the order in which the deliveries were posted.
  public mutating func apply(_ delivery: LogDelivery, now: Moment) {
    if delivery.completesSubmit { log.completeBatch() }
    if let commit = delivery.commit { applyCommit(commit, now) }
    if let epoch = delivery.newEpoch { startAgain(epoch, now) }
    applyAnswers(delivery.answers, now)
  }

  private mutating func applyCommit(_ commit: Commit, _ now: Moment) {
    log.record(commit.trace)
    if commit.hasRareChanges {
      if let renewal = commit.renewal {
        blocks.replace(with: renewal.blocks)
        if let all = renewal.bans { bans = BanNews(isWhole: true, changes: all) }
      }
      for change in commit.blocks { blocks.apply(change, in: &self, presenceNews, typing) }
      bans.changes += commit.bans
    }
    for change in commit.membershipChanges { roomLists.updateMembership(change, in: &self) }
    if commit.hasRareChanges {
      for change in commit.requests { roomLists.updateRequest(change, in: &self, now) }
    }
    for redaction in commit.redactions { forget(redaction) }
    for trim in commit.trims { forget(trim) }
    applyEntries(commit, now)
    for departure in commit.departures { end(departure) }
    for change in commit.marks {
      roomLists.updateMarks(change, in: self)
      receipts.apply(change, in: &self, now)
    }
    for change in commit.typing { typing.apply(change, in: &self, now) }
    for change in commit.audiences { subscriberCounts.apply(change, in: &self, now) }
    for change in commit.presences {
      sessions.setOverallPresence(of: change.user, change.presence)
      presenceNews.apply(change, in: &self, now)
      people.apply(change)
    }
  }

  private mutating func applyEntries(_ commit: Commit, _ now: Moment) {
    guard !commit.spans.isEmpty else { return }
    var handles: [Handle<Room>] = []
    handles.reserveCapacity(commit.spans.count)
    let all = commit.spans
    // A span's elements are not copied for each access.
    let spans = all.span
    for place in spans.indices {
      let room = rooms.findOrInsert(spans[place].room)
      let handle = rooms.handle(room)
      handles.append(handle)
      keep(commit, spans[place], place, in: room)
      rooms[room].recent.add(spans[place].frames.count, at: now.monotonic)
      typing.end(with: spans[place], of: commit, in: handle)
      turn.stage(commit, span: place, of: room, in: &rooms[room].staged)
      roomLists.countEntries(spans[place], of: commit, in: room, &self, now)
    }
    polls.wake(with: commit)
    recent.append(RecentCommits.Element(commit: commit, rooms: handles))
    evict()
  }

  // MARK: - 2. What is due

  /// When the next turn is due without an event, in microseconds of the monotonic clock; `nil` =
  /// never.
  public func nextWake() -> Int64? {
    let deadline = earlier(timers.min?.at, features.nextDeadline)
    return earlier(deadline.map { $0 * 1000 }, nextDelivery)
  }

  /// As `nextWake`, in milliseconds.
  public var nextDeadline: Int64? { nextWake().map { ($0 + 999) / 1000 } }

  /// How many timers expire in one turn: all clients may have left at the same moment, and others wait
  /// for the end of the turn.
  static let timersPerTurn = 1024

  /// Does what is due, or the part of it that one turn has time for.
  public mutating func tick(now: Moment) {
    waitForDepartures(now)
    for _ in 0..<Self.timersPerTurn {
      guard let next = timers.min, next.at <= now.monotonic else { break }
      timers.removeMin()
      switch next.kind {
      case .budget(let user):
        if slowedUsers[user] == next.at { wakeSlowed(user, now) }
      case .readAgain(let id):
        if isCurrent(id) { markDirty(id.slot) }
      case .expiry(let id): checkExpiry(id, now)
      case .departure(let user): depart(user, now)
      }
    }
    features.tick(in: &self, now)
  }

  /// The number of pending timers.
  var timerCount: Int { timers.count + features.timerCount }

  // MARK: - 3. To the log, and to the sockets

  /// Returns the connections to close when their queues have been written.
  public mutating func takeClosings() -> [Closing] {
    defer { closings.removeAll() }
    return closings
  }

  /// Returns the requests that have gathered, if the log is ready for the next batch.
  public mutating func takeRequests(now: Moment) -> [LogRequest]? {
    guard let requests = log.takeBatch() else { return nil }
    for id in congested where isCurrent(id) {
      resumeIfPossible(id.slot, now)
      markDirty(id.slot)
    }
    congested.removeAll()
    return requests
  }

  /// Lays out the new entries, and writes once to each socket that has output.
  /// - Parameters:
  ///   - began: the current time in microseconds of the monotonic clock; by default that of `now`.
  ///   - write: passes bytes to a connection's socket and returns how many it accepted. If not all,
  ///     the socket is blocked until `unblock`.
  /// - Returns: the number of connections that were processed; see `recordFlush`.
  @discardableResult
  public mutating func flush(
    now: Moment, began: Int64? = nil, write: (_ connection: Int32, _ bytes: Span<UInt8>) -> Int
  ) -> Int {
    layOut(now)
    fanOut(began ?? now.microseconds)
    // Sessions that become dirty from here on are for the next turn.
    let due = dirty
    dirty.removeAll(keepingCapacity: true)
    for session in due where writeQueued(session, write: write) {
      if !sessions[session].isBlocked {
        queueWaiting(session)
        catchUp(session, now: now, write: write)
        continueJoining(session)
      }
      resumeIfPossible(session, now)
    }
    turn.clear()
    assert(areConsistent(due))
    return due.count
  }

  // MARK: - 4. The rest

  /// Returns the requests to read from storage.
  public mutating func takeReads() -> [ReadRequest] {
    defer { reads.removeAll(keepingCapacity: true) }
    return reads
  }

  /// Returns the connections whose input may be read again.
  public mutating func takeResumable() -> [Int32] {
    defer { resumable.removeAll(keepingCapacity: true) }
    return resumable
  }

  /// Whether another turn has work to do without an event.
  public var hasWork: Bool {
    !dirty.isEmpty || !resumable.isEmpty || !reads.isEmpty || !closings.isEmpty
      || !unverified.isEmpty
      || !departures.isEmpty || log.isReady
  }
}
