/// Rooms to which a session's sends are refused for a while, since one before them was: so the order of
/// what is sent again is kept.
///
/// What a client had sent before it heard of the refusal may lie in its socket while the session is not
/// read; so that time does not count. A hold also ends when a refused line is sent again after the wait
/// that the client was told of: then it knows, and sends again all that was behind that.
///
/// So a refused line is remembered until then, also when its hold is over: the client may send it again
/// only when a later line has been refused as well, and both are to be stored, in their order.
struct Holds {
  private struct Hold {
    var until: Int64
    /// When each refused line may be sent again, by its `id`.
    var retries: [String: Int64] = [:]

    mutating func extend(to end: Int64) { until = max(until, end) }
  }

  /// Of rooms; beyond it the one whose hold ends first is forgotten.
  static let limit = 256

  /// Of the lines of all rooms; beyond it a line is not remembered.
  static let lineLimit = 1024

  private var holds: [String: Hold] = [:]
  private var lineCount = 0
  /// The session is not read since; `nil` while it is, or while nothing is held.
  private var pausedAt: Int64?

  var count: Int { holds.count }

  /// Notes that a send was refused until then, by the monotonic clock in milliseconds.
  /// - Parameter isPaused: the session is not read just now.
  mutating func refuse(_ room: String, id: String?, until: Int64, isPaused: Bool, now: Int64) {
    passPause(now)
    if isPaused { pausedAt = now }
    if holds[room] == nil, holds.count >= Self.limit { forgetOne() }
    holds[room, default: Hold(until: until)].extend(to: until)
    guard let id, lineCount < Self.lineLimit || holds[room]?.retries[id] != nil else { return }
    let earlier = holds[room]?.retries.updateValue(until, forKey: id)
    if earlier == nil { lineCount += 1 }
  }

  /// The session is not read from now on.
  mutating func pause(now: Int64) {
    passPause(now)
    if holds.values.contains(where: { $0.until > now }) { pausedAt = now }
  }

  /// The session is read again.
  mutating func resume(now: Int64) {
    passPause(now)
    pausedAt = nil
  }

  /// The milliseconds for which a send is refused; `nil` where it is not.
  mutating func wait(_ room: String, id: String, now: Int64) -> Int64? {
    guard !holds.isEmpty, let hold = holds[room] else { return nil }
    if let retryAt = hold.retries[id], retryAt <= now {
      forget(room)
      return nil
    }
    return hold.until > now ? hold.until - now : nil
  }

  /// The time of a pause does not count.
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
  }
}
