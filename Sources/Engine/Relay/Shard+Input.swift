import HeapModule

/// Whose input is taken, and whose has to wait.
extension Shard {
  /// Whether the next message of this session may be handed over. Where not, the connection is not
  /// read from until it appears in `takeResumable`. To be asked where there is input: a session that
  /// waits for its user's budget takes its place in the order in which that is spent.
  public mutating func mayReceive(_ id: SessionID, now: Moment) -> Bool {
    guard isCurrent(id) else { return false }
    let index = id.slot
    if sessions[index].isClosing { return false }
    guard hasRoomForRequests(index) else {
      pause(index, now)
      stopWaiting(index)
      if gatheredBytes > Self.gatherBytesLimit { congested.append(id) }
      return false
    }
    return sessions[index].budget == nil || budgetAllows(index, now)
  }

  private mutating func pause(_ index: Slot<Session>, _ now: Moment) {
    sessions[index].isPaused = true
    sessions[index].extras?.holds.pause(now: now.monotonic)
  }

  /// So much may be queued that the largest reply and a page still fit into `queueBytes`.
  var replyThreshold: Int {
    let limit = configuration.limits.queueBytes
    return limit == 0 ? .max : max(limit - Self.replyBytes - Self.pageBytes, 0)
  }

  /// A small `queueBytes` must not mean that every send waits for the one before.
  private static let owedBytesAtLeast = 16_384
  /// The longest `ack` or refusal but for its room and id, and the longest `joined`.
  static let answerBytes = 320
  static let joinedBytes = 8192

  /// Whether nothing but its user's budget may be in the way of a session's next message.
  private func hasRoomForRequests(_ index: Slot<Session>) -> Bool {
    gatheredBytes <= Self.gatherBytesLimit && !sessions[index].awaitsReply
      && hasRoomForReplies(index)
  }

  private func hasRoomForReplies(_ index: Slot<Session>) -> Bool {
    let queued = sessions[index].queuedBytes
    let owed = sessions[index].owedBytes
    return queued <= replyThreshold
      && (owed == 0 || queued + owed <= max(replyThreshold, Self.owedBytesAtLeast))
  }

  static func owedBytes(room: String, id: String?) -> Int {
    answerBytes + 2 * room.utf8.count + (id?.utf8.count ?? 0)
  }

  /// The log has answered: what that takes is in the queue, or not needed.
  mutating func release(_ id: SessionID, _ bytes: Int) {
    guard isCurrent(id) else { return }
    sessions[id.slot].owedBytes -= bytes
    if sessions[id.slot].isPaused { markDirty(id.slot) }
  }

  /// Lets a paused session go on as soon as nothing is in its way.
  mutating func noteProgress(_ index: Slot<Session>, _ now: Moment) {
    guard sessions[index].isPaused, !sessions[index].isSlowed else { return }
    goOn(index, now)
  }

  private mutating func goOn(_ index: Slot<Session>, _ now: Moment) {
    guard hasRoomForRequests(index) else { return }
    sessions[index].isPaused = false
    sessions[index].extras?.holds.resume(now: now.monotonic)
    resumable.append(sessions[index].connection)
  }

  /// Connections whose input may go on.
  public mutating func takeResumable() -> [Int32] {
    defer { resumable.removeAll(keepingCapacity: true) }
    return resumable
  }
}

/// Who sends too much is slowed: see `UserBudget`.
extension Shard {
  /// Whether a session's user may have the next message read; where not, the session waits.
  private mutating func budgetAllows(_ index: Slot<Session>, _ now: Moment) -> Bool {
    guard let budget = sessions[index].budget,
      let delay = budget.delay(sessions[index].rank, now: now.monotonic)
    else {
      sessions[index].isSlowed = false
      return true
    }
    if !sessions[index].isSlowed, let bucket = delay.bucket { slowdowns.note(bucket) }
    pause(index, now)
    sessions[index].isSlowed = true
    wake(sessions[index].user, afterMilliseconds: delay.milliseconds, now)
    return false
  }

  /// The session does not wait for its user's budget any more.
  mutating func stopWaiting(_ index: Slot<Session>) {
    guard sessions[index].isSlowed else { return }
    sessions[index].isSlowed = false
    sessions[index].budget?.withdraw(sessions[index].rank)
  }

  /// Has the slowed sessions of a user looked at, then or before.
  private mutating func wake(_ user: String, afterMilliseconds milliseconds: Int64, _ now: Moment) {
    let at = now.monotonic + max(1, milliseconds)
    if let planned = slowedUsers[user], planned <= at { return }
    slowedUsers[user] = at
    timers.insert(ShardTimer(at: at, kind: .budget(user)))
  }

  /// The budget may allow the next message: lets the session go on that was served least recently, which
  /// keeps its place until it is read. What its message costs is known then; so the others are looked at a
  /// little later.
  mutating func wakeSlowed(_ user: String, _ now: Moment) {
    slowedUsers[user] = nil
    var first: Slot<Session>?
    var count = 0
    forEachSession(of: user) { shard, index in
      guard shard.sessions[index].isSlowed, shard.sessions[index].isPaused else { return }
      count += 1
      if let other = first, shard.sessions[other].rank < shard.sessions[index].rank { return }
      first = index
    }
    guard let first, let budget = sessions[first].budget else { return }
    if let delay = budget.delay(sessions[first].rank, keepsPlace: true, now: now.monotonic) {
      wake(user, afterMilliseconds: delay.milliseconds, now)
      return
    }
    goOn(first, now)
    // Something else is in its way: whoever comes next is not to wait for it.
    if sessions[first].isPaused { stopWaiting(first) }
    if count > 1 { wake(user, afterMilliseconds: 1, now) }
  }

  /// Charges a message that was read to its user.
  mutating func charge(_ charge: UserBudget.Charge, bytes: Int, _ index: Slot<Session>) {
    guard let budget = sessions[index].budget else { return }
    sessions[index].rank = budget.charge(charge, bytes: bytes)
  }

  /// Charges a request that costs more than others.
  mutating func chargeRequests(_ count: Int, _ index: Slot<Session>) {
    sessions[index].budget?.chargeRequests(count)
  }

  /// Whether a session is not read from because its user sends too much. `mutating` as `hasOutput` is.
  public mutating func isSlowed(_ id: SessionID) -> Bool {
    isCurrent(id) && sessions[id.slot].isSlowed
  }

  /// How often connections were slowed, by the limit that held them back.
  public struct Slowdowns: Sendable {
    public internal(set) var sends = 0
    public internal(set) var requests = 0
    public internal(set) var bytes = 0

    mutating func note(_ bucket: UserBudget.Bucket) {
      switch bucket {
      case .sends: sends += 1
      case .requests: requests += 1
      case .bytes: bytes += 1
      }
    }
  }

  /// Those since the last call.
  public mutating func takeSlowdowns() -> Slowdowns {
    defer { slowdowns = Slowdowns() }
    return slowdowns
  }
}
