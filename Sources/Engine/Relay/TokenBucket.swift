/// A token bucket: a sustained rate, and a burst after a rest.
///
/// Its owner checks `wait` before it reads something, and calls `charge` when the cost is known. So
/// a bucket may go into debt, by the amount that was read at once.
struct TokenBucket: Sendable {
  /// The sustained rate; 0 = no limit. Narrow, because every user has three buckets.
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
    var owed = 0.0
    refill(now, paying: &owed, nodes: 1)
  }

  /// As above for a user who has spent tokens on other nodes too. As long as something is owed for
  /// them, one part in `nodes` of what is refilled is credited; the rest pays, as does what would
  /// overflow.
  mutating func refill(_ now: Int64, paying owed: inout Double, nodes: Int) {
    // The loops that share a bucket read the clock at different times.
    guard perSecond > 0, now > updatedAt else { return }
    let refilled = Double(now - updatedAt) * Double(perSecond) / 1000
    let paid = min(owed, refilled * Double(nodes - 1) / Double(nodes))
    let total = tokens + refilled - paid
    owed = max(0, owed - paid - max(0, total - Double(burst)))
    tokens = min(Double(burst), total)
    updatedAt = now
  }

  /// Takes tokens, even if that leaves a debt.
  mutating func charge(_ count: Int) {
    if perSecond > 0 { tokens -= Double(count) }
  }

  /// Puts one token back.
  mutating func refund() { tokens = min(Double(burst), tokens + 1) }

  /// Whether the bucket is full, and so has no state worth keeping.
  var isFull: Bool { perSecond == 0 || tokens >= Double(burst) }

  /// Whether there is no whole token, as of the last `refill`.
  var isEmpty: Bool { perSecond > 0 && tokens < 1 }

  /// Milliseconds from the last `refill` until there is a token; 0 if there is one.
  var wait: Int64 {
    isEmpty ? Int64(((1 - tokens) * 1000 / Double(perSecond)).rounded(.up)) : 0
  }
}
