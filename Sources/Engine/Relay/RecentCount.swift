/// How often something has happened lately: counts in windows of ten seconds, of which it keeps the last two.
struct RecentCount {
  private static let windowMilliseconds: Int64 = 10_000

  private var current: UInt32 = 0
  private var before: UInt32 = 0
  /// The number of the window that `current` counts.
  private var window: UInt32 = 0

  /// - Parameter now: milliseconds of the monotonic clock.
  mutating func add(_ count: Int, at now: Int64) {
    let window = UInt32(truncatingIfNeeded: now / Self.windowMilliseconds)
    if window != self.window {
      before = window == self.window &+ 1 ? current : 0
      current = 0
      self.window = window
    }
    current &+= UInt32(truncatingIfNeeded: count)
  }

  /// Returns how often per second, over the last ten seconds: of the window before counts the part that is
  /// not longer ago.
  func perSecond(at now: Int64) -> Double {
    var copy = self
    copy.add(0, at: now)
    let passed = Double(now % Self.windowMilliseconds) / Double(Self.windowMilliseconds)
    let count = Double(copy.current) + Double(copy.before) * (1 - passed)
    return count * 1000 / Double(Self.windowMilliseconds)
  }
}
