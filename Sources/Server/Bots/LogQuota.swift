/// Bounds what a program can write to the log: 20 lines at once, 2 per second for long.
struct LogQuota: Sendable {
  static let linesPerSecond = 2
  static let lineBurst = 20

  private var bucket: TokenBucket
  private var free = Duration.zero

  init(now: Duration) {
    bucket = TokenBucket(perSecond: Self.linesPerSecond, burst: Self.lineBurst, now: now)
  }

  /// Whether another line may be written now.
  mutating func admits(now: Duration) -> Bool {
    guard now >= free else { return false }
    free = now + bucket.take(now: now)
    return true
  }
}
