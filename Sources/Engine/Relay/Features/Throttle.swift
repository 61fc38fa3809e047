import DequeModule

/// Limits messages to one per key and interval: a later value replaces the one that waits.
struct Throttle<Key: Hashable, Value> {
  /// The interval.
  let milliseconds: Int64

  /// The keys whose interval lasts, each with the value that waits, if any.
  private var values: [Key: Value?] = [:]
  /// The ends of these intervals, in milliseconds of the monotonic clock.
  private var ends = Deque<(at: Int64, key: Key)>()

  init(milliseconds: Int64 = 100) { self.milliseconds = milliseconds }

  /// When `takeDue` has something to do.
  var nextDeadline: Int64? { ends.first?.at }
  var timerCount: Int { ends.count }

  /// Whether the interval of a key lasts, so that a value would wait.
  func holds(_ key: Key) -> Bool { values[key] != nil }

  /// - Returns: whether the value may be sent now, with which an interval begins; otherwise it waits.
  mutating func admit(_ value: Value, for key: Key, now: Int64) -> Bool {
    guard values[key] == nil else {
      values.updateValue(value, forKey: key)
      return false
    }
    begin(key, now)
    return true
  }

  private mutating func begin(_ key: Key, _ now: Int64) {
    values.updateValue(nil, forKey: key)
    ends.append((now + milliseconds, key))
  }

  /// Ends intervals that are over, up to the first whose key has a value.
  /// - Returns: the value to send now, with which another interval begins; nil if none is due.
  mutating func takeDue(now: Int64) -> (key: Key, value: Value)? {
    while let next = ends.first, next.at <= now {
      ends.removeFirst()
      if let value = values.removeValue(forKey: next.key) ?? nil {
        begin(next.key, now)
        return (next.key, value)
      }
    }
    return nil
  }

  /// Drops the value that waits.
  mutating func cancel(_ key: Key) {
    if values[key] != nil { values.updateValue(nil, forKey: key) }
  }

  var isLoose: Bool { values.isLoose }
  mutating func shrink() { values.shrinkIfLoose() }
}
