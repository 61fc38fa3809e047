/// So many in a second, and a few more at once: the limit on one kind of message.
package struct TokenBucket: Sendable {
  /// A second's worth; 0 = no limit. Narrow, since every connection has two buckets.
  let perSecond: Int32
  let burst: Int32
  private var tokens: Double
  private var updatedAt: Int64

  package init(perSecond: Int, burst: Int, now: Int64) {
    self.perSecond = Int32(clamping: perSecond)
    self.burst = Int32(clamping: max(burst, perSecond == 0 ? 0 : 1))
    tokens = Double(self.burst)
    updatedAt = now
  }

  private mutating func refill(_ now: Int64) {
    tokens = min(Double(burst), tokens + Double(now - updatedAt) * Double(perSecond) / 1000)
    updatedAt = now
  }

  /// Takes one if there is one.
  package mutating func take(_ now: Int64) -> Bool {
    guard perSecond > 0 else { return true }
    refill(now)
    guard tokens >= 1 else { return false }
    tokens -= 1
    return true
  }

  /// Takes one even if that leaves a debt, of a burst at most: who has been told often enough
  /// is not shut out for minutes.
  package mutating func charge(_ now: Int64) {
    guard perSecond > 0 else { return }
    refill(now)
    tokens = max(-Double(burst), tokens - 1)
  }

  package mutating func refund() { tokens = min(Double(burst), tokens + 1) }

  /// Whether it is as full as it can be: then it remembers nothing.
  package mutating func isFull(_ now: Int64) -> Bool {
    guard perSecond > 0 else { return true }
    refill(now)
    return tokens >= Double(burst)
  }

  /// Milliseconds until there is one to take.
  package mutating func wait(_ now: Int64) -> Int64 {
    guard perSecond > 0 else { return 0 }
    refill(now)
    return tokens >= 1 ? 0 : Int64(((1 - tokens) * 1000 / Double(perSecond)).rounded(.up))
  }
}
