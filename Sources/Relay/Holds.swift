/// Rooms to which a session's sends are refused for a while, since one before them was: so the order of
/// what is sent again is kept.
///
/// What a client had sent before it heard of the refusal may lie in its socket while the session is not
/// read; so that time does not count. A hold also ends when what was refused first is sent again after
/// the wait that the client was told of: then it knows, and sends again all that was behind that.
struct Holds {
  private struct Hold {
    var until: Int64
    /// What was refused first, and when it may be sent again.
    let first: String?
    let retryAt: Int64
  }

  /// Of those that are not over; beyond it the one that ends first is forgotten.
  static let limit = 256

  private var holds: [String: Hold] = [:]
  /// The session is not read since; `nil` while it is, or while nothing is held.
  private var pausedAt: Int64?

  var count: Int { holds.count }

  /// Notes that a send was refused until then, by the monotonic clock in milliseconds.
  /// - Parameter isPaused: the session is not read just now.
  mutating func refuse(_ room: String, id: String?, until: Int64, isPaused: Bool, now: Int64) {
    passPause(now)
    if isPaused { pausedAt = now }
    if holds[room] == nil, holds.count >= Self.limit { makeRoom(now) }
    if let hold = holds[room], hold.until > now {
      holds[room]?.until = max(hold.until, until)
    } else {
      holds[room] = Hold(until: until, first: id, retryAt: until)
    }
  }

  /// The session is not read from now on.
  mutating func pause(now: Int64) {
    guard !holds.isEmpty else { return }
    passPause(now)
    holds = holds.filter { $0.value.until > now }
    if !holds.isEmpty { pausedAt = now }
  }

  /// The session is read again.
  mutating func resume(now: Int64) {
    passPause(now)
    pausedAt = nil
  }

  /// The milliseconds for which a send is refused; `nil` where it is not.
  mutating func wait(_ room: String, id: String, now: Int64) -> Int64? {
    guard !holds.isEmpty, let hold = holds[room] else { return nil }
    let isSentAgain = hold.first == id && hold.retryAt <= now
    if hold.until > now, !isSentAgain { return hold.until - now }
    holds[room] = nil
    return nil
  }

  /// The time of a pause does not count.
  private mutating func passPause(_ now: Int64) {
    guard let began = pausedAt, now > began else { return }
    for index in holds.values.indices { holds.values[index].until += now - began }
    pausedAt = now
  }

  private mutating func makeRoom(_ now: Int64) {
    holds = holds.filter { $0.value.until > now }
    guard holds.count >= Self.limit,
      let first = holds.min(by: { ($0.value.until, $0.key) < ($1.value.until, $1.key) })
    else { return }
    holds[first.key] = nil
  }
}
