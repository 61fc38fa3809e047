/// A token bucket: `perSecond` sustained, `burst` at once.
struct TokenBucket: Sendable {
  private let perSecond: Int
  private let burst: Int
  private var tokens: Double
  private var filledAt: Duration

  /// - Parameter perSecond: 0 = no limit.
  init(perSecond: Int, burst: Int, now: Duration) {
    self.perSecond = perSecond
    self.burst = max(burst, 1)
    tokens = Double(self.burst)
    filledAt = now
  }

  /// Takes a token, on credit if necessary.
  /// - Returns: how long to wait before using it; callers wait in the order of their calls.
  mutating func take(now: Duration) -> Duration {
    guard perSecond > 0 else { return .zero }
    let gained = (now - filledAt) / Duration.seconds(1) * Double(perSecond)
    tokens = min(Double(burst), tokens + gained) - 1
    filledAt = now
    return tokens >= 0 ? .zero : .seconds(-tokens / Double(perSecond))
  }
}
