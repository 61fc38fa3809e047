/// A token bucket: a sustained rate, and a burst after a rest.
///
/// Its owner asks `wait` before something is read, and pays with `charge` when it is known what that
/// cost. So a bucket may go into debt, by what was read at once.
struct TokenBucket: Sendable {
  /// The sustained rate; 0 = no limit. Narrow, since every user has three buckets.
  let perSecond: Int32
  let burst: Int32
  private var tokens: Double
  /// Milliseconds of the monotonic clock.
  private var updatedAt: Int64

  init(perSecond: Int, burst: Int, now: Int64) {
    self.perSecond = Int32(clamping: perSecond)
    self.burst = Int32(clamping: max(burst, perSecond == 0 ? 0 : 1))
    tokens = Double(self.burst)
    updatedAt = now
  }

  mutating func refill(_ now: Int64) {
    // The loops that share a bucket read the clock at different times.
    guard perSecond > 0, now > updatedAt else { return }
    tokens = min(Double(burst), tokens + Double(now - updatedAt) * Double(perSecond) / 1000)
    updatedAt = now
  }

  /// Pays, also where that leaves a debt.
  mutating func charge(_ count: Int) {
    if perSecond > 0 { tokens -= Double(count) }
  }

  /// Gives one back.
  mutating func refund() { tokens = min(Double(burst), tokens + 1) }

  /// Whether it is as full as it can be: then it remembers nothing.
  var isFull: Bool { perSecond == 0 || tokens >= Double(burst) }

  /// Whether there is not a single token, as of the last `refill`.
  var isEmpty: Bool { perSecond > 0 && tokens < 1 }

  /// Milliseconds from the last `refill` until there is a token; 0 if there is one.
  var wait: Int64 {
    isEmpty ? Int64(((1 - tokens) * 1000 / Double(perSecond)).rounded(.up)) : 0
  }
}
