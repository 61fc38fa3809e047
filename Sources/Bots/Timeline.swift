/// A clock of any kind with its instants reduced to the time since the start: an existential
/// clock's own cannot be compared.
struct Timeline: Sendable {
  private let elapsed: @Sendable () -> Duration
  private let rest: @Sendable (Duration) async throws -> Void

  init(_ clock: any Clock<Duration>) { self = Self.open(clock) }

  private init(
    elapsed: @escaping @Sendable () -> Duration,
    rest: @escaping @Sendable (Duration) async throws -> Void
  ) {
    self.elapsed = elapsed
    self.rest = rest
  }

  private static func open<C: Clock<Duration>>(_ clock: C) -> Timeline {
    let start = clock.now
    return Timeline(
      elapsed: { start.duration(to: clock.now) }, rest: { try await clock.sleep(for: $0) })
  }

  /// Since the start.
  var now: Duration { elapsed() }

  /// - Throws: `CancellationError`.
  func sleep(_ duration: Duration) async throws {
    try Task.checkCancellation()
    if duration > .zero { try await rest(duration) }
  }
}

/// How much may be done: `perSecond` in the long run, `burst` at once.
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

  /// Takes one, on credit if need be.
  /// - Returns: how long to wait before it may be used; who asks first waits least.
  mutating func take(now: Duration) -> Duration {
    guard perSecond > 0 else { return .zero }
    let gained = (now - filledAt) / Duration.seconds(1) * Double(perSecond)
    tokens = min(Double(burst), tokens + gained) - 1
    filledAt = now
    return tokens >= 0 ? .zero : .seconds(-tokens / Double(perSecond))
  }
}
