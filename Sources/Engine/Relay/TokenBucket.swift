/// A token bucket: a sustained rate, and a burst after a rest.
///
/// Its owner checks `wait` before it reads something, and calls `charge` when the cost is known. So
/// a bucket may go into debt, by the amount that was read at once.
package struct TokenBucket: Sendable {
  /// What is the same for many buckets, and passed to each of their methods.
  package struct Rate: Sendable {
    /// The sustained rate; 0 = no limit.
    let perSecond: Double
    let burst: Double

    init(perSecond: Int, burst: Int) {
      self.perSecond = Double(Int32(clamping: perSecond))
      self.burst = Double(Int32(clamping: max(burst, perSecond == 0 ? 0 : 1)))
    }

    func tokens(in milliseconds: Int64) -> Double { Double(milliseconds) * perSecond / 1000 }
  }

  private var tokens: Double

  init(_ rate: Rate) { tokens = rate.burst }

  /// Credits the tokens of a time.
  mutating func refill(_ milliseconds: Int64, at rate: Rate) {
    if rate.perSecond > 0 { tokens = min(rate.burst, tokens + rate.tokens(in: milliseconds)) }
  }

  /// Takes tokens for something that is owed, before those of a time are credited: the given part of
  /// them, and all that would overflow.
  /// - Returns: how many, at most `owed`.
  package mutating func pay(
    _ owed: Double, from milliseconds: Int64, part: Double, at rate: Rate
  ) -> Double {
    let refilled = rate.tokens(in: milliseconds)
    let paid = min(owed, max(refilled * part, tokens + refilled - rate.burst))
    tokens -= paid
    return paid
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
