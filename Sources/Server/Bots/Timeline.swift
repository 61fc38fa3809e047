/// A clock of any kind, with its instants reduced to the time since the start: the instants of an
/// existential clock cannot be compared.
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

  /// The time since the start.
  var now: Duration { elapsed() }

  /// - Throws: `CancellationError`.
  func sleep(_ duration: Duration) async throws {
    try Task.checkCancellation()
    if duration > .zero { try await rest(duration) }
  }
}
