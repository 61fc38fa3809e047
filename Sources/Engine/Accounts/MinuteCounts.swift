/// Counts events per key and minute, in bounded memory.
struct MinuteCounts {
  /// Beyond it the counts begin anew: as many addresses are no longer one attacker's budget.
  private static let keyLimit = 65_536
  private static let minute: Int64 = 60_000

  /// 0 = no limit.
  let limit: Int
  private var counts: [String: (since: Int64, count: Int)] = [:]

  init(limit: Int) { self.limit = limit }

  /// Returns the milliseconds until the key may go on; `nil` if it may now.
  func wait(_ key: String, now: Int64) -> Int64? {
    // The clock may have been set back.
    guard limit > 0, let entry = counts[key], entry.count >= limit, now >= entry.since else {
      return nil
    }
    let left = entry.since + Self.minute - now
    return left > 0 ? min(left, Self.minute) : nil
  }

  /// Counts an event of the key, if it may go on.
  /// - Returns: as `wait`.
  mutating func take(_ key: String, now: Int64) -> Int64? {
    if let wait = wait(key, now: now) { return wait }
    count(key, now: now)
    return nil
  }

  /// Counts an event of the key.
  mutating func count(_ key: String, now: Int64) {
    if counts.count >= Self.keyLimit {
      counts = counts.filter { $0.value.since + Self.minute > now }
      if counts.count >= Self.keyLimit { counts = [:] }
    }
    var entry = counts[key] ?? (now, 0)
    if now - entry.since >= Self.minute || now < entry.since { entry = (now, 0) }
    entry.count += 1
    counts[key] = entry
  }
}
