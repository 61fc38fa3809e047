/// The rooms to which a session's sends are refused for a while after a send was refused, which
/// keeps the order of the entries when the client retries.
///
/// Lines that a client had sent before it learned of the refusal may still be in its socket while
/// the session is not read; so that time does not count. A hold also ends when a refused line is
/// sent again after the wait that the client was given: the client then knows of the refusal, and
/// sends again all lines that followed it.
///
/// So refused lines are remembered until then, even if their hold is over: the client may retry the
/// first one only after a later line was refused as well, and both have to be stored in order.
struct Holds {
  private struct Hold {
    var until: Int64
    /// When each refused line may be sent again, by its `id`.
    var retries: [String: Int64] = [:]

    mutating func extend(to end: Int64) { until = max(until, end) }
  }

  /// The maximum number of rooms; beyond it the hold that ends first is removed.
  static let limit = 256

  /// The maximum number of lines of all rooms; beyond it further lines are not remembered.
  static let lineLimit = 1024

  private var holds: [String: Hold] = [:]
  private var lineCount = 0
  /// The time since which the session is not read; `nil` if it is read or has no hold.
  private var pausedAt: Int64?

  var count: Int { holds.count }
  /// When the last hold ends, if nothing extends it.
  var end: Int64 { holds.values.reduce(0) { max($0, $1.until) } }

  /// Records that a send was refused until the given time, in milliseconds of the monotonic clock.
  /// - Parameter isPaused: whether the session is currently not read.
  mutating func refuse(_ room: String, id: String?, until: Int64, isPaused: Bool, now: Int64) {
    passPause(now)
    if isPaused { pausedAt = now }
    if holds[room] == nil, holds.count >= Self.limit { forgetOne() }
    holds[room, default: Hold(until: until)].extend(to: until)
    guard let id, lineCount < Self.lineLimit || holds[room]?.retries[id] != nil else { return }
    let earlier = holds[room]?.retries.updateValue(until, forKey: id)
    if earlier == nil { lineCount += 1 }
  }

  /// Records that the session is no longer read.
  mutating func pause(now: Int64) {
    passPause(now)
    if holds.values.contains(where: { $0.until > now }) { pausedAt = now }
  }

  /// Records that the session is read again.
  mutating func resume(now: Int64) {
    passPause(now)
    pausedAt = nil
  }

  /// Returns the milliseconds for which a send is refused; `nil` if it is not.
  mutating func wait(_ room: String, id: String, now: Int64) -> Int64? {
    guard !holds.isEmpty, let hold = holds[room] else { return nil }
    if let retryAt = hold.retries[id], retryAt <= now {
      forget(room)
      return nil
    }
    return hold.until > now ? hold.until - now : nil
  }

  /// Extends the holds by the time of a pause, which does not count.
  private mutating func passPause(_ now: Int64) {
    guard let began = pausedAt, now > began else { return }
    for index in holds.values.indices { holds.values[index].until += now - began }
    pausedAt = now
  }

  private mutating func forgetOne() {
    let first = holds.min { ($0.value.until, $0.key) < ($1.value.until, $1.key) }
    if let first { forget(first.key) }
  }

  private mutating func forget(_ room: String) {
    lineCount -= holds.removeValue(forKey: room)?.retries.count ?? 0
    assert(lineCount >= 0 && (lineCount == 0 || !holds.isEmpty))
  }
}

/// The holds of all sessions on all loops, for the log: it refuses later sends of a session as the
/// session's loop does. It remembers no lines, and does not know of pauses, which are the loop's affair.
struct SessionHolds {
  private struct Key: Hashable {
    var loop: Int
    var session: SessionID
  }

  private var holds: [Key: Holds] = [:]
  private var evictedAt: Int64 = 0

  var count: Int { holds.count }

  /// Records that a send was refused. Times are milliseconds since 1970.
  mutating func refuse(
    _ room: String, _ loop: Int, _ session: SessionID,
    for wait: Int64 = Refusal.retryAfterMilliseconds, now: Int64
  ) {
    holds[Key(loop: loop, session: session), default: Holds()]
      .refuse(room, id: nil, until: now + wait, isPaused: false, now: now)
  }

  /// Returns the milliseconds for which a session's sends to a room are refused; `nil` if they are not.
  @inline(__always)
  mutating func wait(_ room: String, _ loop: Int, _ session: SessionID, now: Int64) -> Int64? {
    if holds.isEmpty { return nil }
    guard let wait = holds[Key(loop: loop, session: session)]?.wait(room, id: "", now: now),
      // A hold that ends even later was set before the clock was put back.
      wait <= Refusal.retryAfterMilliseconds
    else { return nil }
    return wait
  }

  /// Forgets the sessions whose holds are over, once in the time that a hold lasts.
  mutating func evictOver(now: Int64) {
    guard !holds.isEmpty, abs(now - evictedAt) >= Refusal.retryAfterMilliseconds else { return }
    evictedAt = now
    holds = holds.filter { now...now + Refusal.retryAfterMilliseconds ~= $0.value.end }
  }
}
