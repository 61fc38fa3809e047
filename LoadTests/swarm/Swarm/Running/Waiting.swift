internal import Platform

/// How long a run has waited for something that does not happen. The time in which swarm itself did
/// not run does not count: on a busy machine, what it waits for may lie in its sockets.
struct Waiting {
  private(set) var milliseconds: Int64 = 0
  private var lookedAt = Instant(nanoseconds: 0)

  /// The longest time between two looks that counts: several times `Run.lookMilliseconds`.
  private static let longestStep: Int64 = 200

  mutating func begin(at now: Instant) {
    milliseconds = 0
    lookedAt = now
  }

  mutating func look(at now: Instant) {
    milliseconds += min(Int64(now.milliseconds(since: lookedAt)), Self.longestStep)
    lookedAt = now
  }
}
