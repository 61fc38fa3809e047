import HeapModule

/// Backpressure on input: which session's input is taken, and which has to wait.
extension Shard {
  /// Whether the session's next message may be passed to `receive`. If not, the owner does not read
  /// from the connection until it appears in `takeResumable`. To be called only if there is input: a
  /// session that waits for its user's budget takes its place in the order in which that is spent.
  public mutating func mayReceive(_ id: SessionID, now: Moment) -> Bool {
    guard isActive(id) else { return false }
    let session = id.slot
    guard hasRoomForRequests(session) else {
      pause(session, now)
      stopWaiting(session)
      if log.isFull { congested.append(id) }
      return false
    }
    return sessions[session].budget == nil || budgetAllows(session, now)
  }

  private mutating func pause(_ session: Slot<Session>, _ now: Moment) {
    sessions[session].pause = hasRoomForReplies(session) ? .other : .fullQueue
    sessions[session].extras?.holds.pause(now: now.monotonic)
  }

  /// The size of the queue up to which the largest reply and a page still fit into `queueBytes`.
  var replyThreshold: Int {
    let limit = configuration.limits.queueBytes
    return limit == 0 ? .max : max(limit - Self.replyBytes - Self.pageBytes, 0)
  }

  /// With a small `queueBytes`, sends need not wait for each other.
  private static let owedBytesAtLeast = 16_384
  /// The longest `ack` or refusal without its room and id, and the longest `joined`.
  static let answerBytes = 320
  static let joinedBytes = 10_240
  /// The longest answer to an `Origin`.
  static let originBytes = 768

  /// Whether only its user's budget may delay a session's next message.
  private func hasRoomForRequests(_ session: Slot<Session>) -> Bool {
    hasAnswers(session) && hasRoomForReplies(session)
  }

  /// Whether no answer is awaited before its next message.
  private func hasAnswers(_ session: Slot<Session>) -> Bool {
    !log.isFull && !sessions[session].awaitsReply && !isJoining(session)
  }

  func hasRoomForReplies(_ session: Slot<Session>) -> Bool {
    let queued = sessions[session].queuedBytes
    let owed = sessions[session].owedBytes
    return queued <= replyThreshold
      && (owed == 0 || queued + owed <= max(replyThreshold, Self.owedBytesAtLeast))
  }

  static func owedBytes(room: String, id: String?) -> Int {
    // The relay answers with the name that it has chosen.
    let nameBytes = room.isEmpty ? LogRequest.Append.chosenNameBytes : room.utf8.count
    return answerBytes + 2 * nameBytes + (id?.utf8.count ?? 0)
  }

  /// The log has answered: returns the reserved bytes, which the answer takes or does not need.
  mutating func release(_ id: SessionID, _ bytes: Int) {
    guard isCurrent(id) else { return }
    sessions[id.slot].owedBytes -= bytes
    if sessions[id.slot].isPaused { markDirty(id.slot) }
  }

  /// Resumes a paused session as soon as nothing delays it.
  mutating func resumeIfPossible(_ session: Slot<Session>, _ now: Moment) {
    guard sessions[session].isPaused, !sessions[session].isSlowed else { return }
    resume(session, now)
  }

  /// If its answer has come and fills its queue, the owner is told so by the next `mayReceive`.
  private mutating func resume(_ session: Slot<Session>, _ now: Moment) {
    guard hasAnswers(session),
      hasRoomForReplies(session) || sessions[session].pause != .fullQueue
    else { return }
    sessions[session].pause = .none
    sessions[session].extras?.holds.resume(now: now.monotonic)
    resumable.append(sessions[session].connection)
  }
}

/// Users who send too much are slowed: see `UserBudget`.
extension Shard {
  /// Whether a session's user may have the next message read; if not, the session waits.
  private mutating func budgetAllows(_ session: Slot<Session>, _ now: Moment) -> Bool {
    guard let budget = sessions[session].budget,
      let delay = budget.delay(sessions[session].rank, now: now.monotonic)
    else {
      sessions[session].isSlowed = false
      return true
    }
    if !sessions[session].isSlowed, let bucket = delay.bucket {
      slowdowns.count(bucket, of: sessions[session].user, sessions[session].connection)
      diagnostics.debug(
        sessions[session].connection, "A connection is slowed by its user's budget.",
        [LogField("user", sessions[session].user), LogField("budget", "\(bucket)")])
    }
    pause(session, now)
    sessions[session].isSlowed = true
    wake(sessions[session].user, afterMilliseconds: delay.milliseconds, now)
    return false
  }

  /// The session no longer waits for its user's budget.
  mutating func stopWaiting(_ session: Slot<Session>) {
    guard sessions[session].isSlowed else { return }
    sessions[session].isSlowed = false
    sessions[session].budget?.withdraw(sessions[session].rank)
  }

  /// Schedules a check of a user's slowed sessions, unless an earlier one is scheduled.
  private mutating func wake(_ user: String, afterMilliseconds milliseconds: Int64, _ now: Moment) {
    let at = now.monotonic + max(1, milliseconds)
    if let planned = slowedUsers[user], planned <= at { return }
    slowedUsers[user] = at
    timers.insert(ShardTimer(at: at, kind: .budget(user)))
  }

  /// The budget may allow the next message: resumes the session that was served least recently, which
  /// keeps its place until it is read. The cost of its message is known only then; so the other
  /// sessions are checked a little later.
  mutating func wakeSlowed(_ user: String, _ now: Moment) {
    slowedUsers[user] = nil
    var first: Slot<Session>?
    var count = 0
    forEachSession(of: user) { shard, session in
      guard shard.sessions[session].isSlowed, shard.sessions[session].isPaused else { return }
      count += 1
      if let other = first, shard.sessions[other].rank < shard.sessions[session].rank { return }
      first = session
    }
    guard let first, let budget = sessions[first].budget else { return }
    if let delay = budget.delay(sessions[first].rank, keepsPlace: true, now: now.monotonic) {
      wake(user, afterMilliseconds: delay.milliseconds, now)
      return
    }
    resume(first, now)
    // Something else delays it: the next session must not wait for that.
    if sessions[first].isPaused { stopWaiting(first) }
    if count > 1 { wake(user, afterMilliseconds: 1, now) }
  }

  /// Charges a message that was read to its user.
  mutating func charge(_ charge: UserBudget.Charge, bytes: Int, _ session: Slot<Session>) {
    guard let budget = sessions[session].budget else { return }
    sessions[session].rank = budget.charge(charge, bytes: bytes)
  }

  /// Charges a request that costs more than others.
  mutating func chargeRequests(_ count: Int, _ session: Slot<Session>) {
    sessions[session].budget?.chargeRequests(count)
  }

  /// Whether a session is not read from because its user sends too much.
  public func isSlowed(_ id: SessionID) -> Bool {
    isCurrent(id) && sessions[id.slot].isSlowed
  }

  /// How often connections were slowed or refused, by the limit of their user.
  public struct Slowdowns: Sendable {
    public struct Count: Sendable {
      public internal(set) var count = 0
      /// The user who was slowed last.
      public internal(set) var user = ""
      /// The owner's name for that user's connection.
      public internal(set) var connection: Int32 = -1

      mutating func add(_ user: String, _ connection: Int32) {
        self = Count(count: count + 1, user: user, connection: connection)
      }
    }

    public internal(set) var sends = Count()
    public internal(set) var requests = Count()
    public internal(set) var bytes = Count()
    /// Refused: their user had too many.
    public internal(set) var connections = Count()

    mutating func count(_ bucket: UserBudget.Bucket, of user: String, _ connection: Int32) {
      switch bucket {
      case .sends: sends.add(user, connection)
      case .requests: requests.add(user, connection)
      case .bytes: bytes.add(user, connection)
      }
    }
  }

  /// Returns the slowdowns since the last call.
  public mutating func takeSlowdowns() -> Slowdowns {
    defer { slowdowns = Slowdowns() }
    return slowdowns
  }
}
