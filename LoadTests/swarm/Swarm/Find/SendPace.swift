internal import Platform

/// What `welcome` allows: sends that keep to it are not slowed by the relay.
///
/// The generic cell rate algorithm (ITU-T I.371): a token bucket whose whole state is the instant
/// at which it would be full again.
struct SendPace: Equatable, Sendable {
  private let intervalNanoseconds: UInt64
  private let toleranceNanoseconds: UInt64
  private var full = Instant(nanoseconds: 0)

  /// A full bucket; without a limit if `sendsPerSecond` is 0. One of the burst is held back, since
  /// messages bunch up on their way.
  init(sendsPerSecond: Int, burst: Int) {
    guard sendsPerSecond > 0 else {
      intervalNanoseconds = 0
      toleranceNanoseconds = 0
      return
    }
    intervalNanoseconds = 1_000_000_000 / UInt64(sendsPerSecond)
    toleranceNanoseconds = intervalNanoseconds * UInt64(max(1, min(burst, 1 << 20) - 1) - 1)
  }

  /// The earliest instant at which one more may leave; in the past if it may now.
  var nextAllowed: Instant {
    let tolerated = toleranceNanoseconds
    return Instant(nanoseconds: full.nanoseconds > tolerated ? full.nanoseconds - tolerated : 0)
  }

  /// One has left.
  mutating func spend(at now: Instant) {
    full = max(full, now).adding(nanoseconds: intervalNanoseconds)
  }
}
