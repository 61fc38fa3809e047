/// A token bucket: a sustained rate, and a burst after a rest.
///
/// Its owner checks `wait` before it reads something, and calls `charge` when the cost is known. So
/// a bucket may go into debt, by the amount that was read at once.
struct TokenBucket: Sendable {
  /// What is the same for many buckets, and passed to each of their methods.
  struct Rate: Sendable {
    /// The sustained rate; 0 = no limit.
    let perSecond: Double
    let burst: Double

    init(perSecond: Int, burst: Int) {
      self.perSecond = Double(Int32(clamping: perSecond))
      self.burst = Double(Int32(clamping: max(burst, perSecond == 0 ? 0 : 1)))
    }
  }

  private var tokens: Double

  init(_ rate: Rate) { tokens = rate.burst }

  /// Credits the tokens of a time.
  mutating func refill(_ milliseconds: Int64, at rate: Rate) {
    var owed = 0.0
    refill(milliseconds, at: rate, paying: &owed, nodes: 1)
  }

  /// As above for a user who has spent tokens on other nodes too. As long as something is owed for
  /// them, one part in `nodes` of what is refilled is credited; the rest pays, as does what would
  /// overflow.
  mutating func refill(
    _ milliseconds: Int64, at rate: Rate, paying owed: inout Double, nodes: Int
  ) {
    guard rate.perSecond > 0 else { return }
    let refilled = Double(milliseconds) * rate.perSecond / 1000
    let paid = min(owed, refilled * Double(nodes - 1) / Double(nodes))
    let total = tokens + refilled - paid
    owed = max(0, owed - paid - max(0, total - rate.burst))
    tokens = min(rate.burst, total)
  }

  /// Takes tokens, even if that leaves a debt.
  mutating func charge(_ count: Int, at rate: Rate) {
    if rate.perSecond > 0 { tokens -= Double(count) }
  }

  /// Puts one token back.
  mutating func refund(at rate: Rate) { tokens = min(rate.burst, tokens + 1) }

  /// Whether the bucket is full, and so has no state worth keeping.
  func isFull(at rate: Rate) -> Bool { rate.perSecond == 0 || tokens >= rate.burst }

  /// Whether there is no whole token, as of the last `refill`.
  func isEmpty(at rate: Rate) -> Bool { rate.perSecond > 0 && tokens < 1 }

  /// Milliseconds from the last `refill` until there is a token; 0 if there is one.
  func wait(at rate: Rate) -> Int64 {
    isEmpty(at: rate) ? Int64(((1 - tokens) * 1000 / rate.perSecond).rounded(.up)) : 0
  }
}
