internal import Platform

/// A model of the relay's send limit: sends that conform to it are not delayed.
///
/// The generic cell rate algorithm (ITU-T I.371): a token bucket whose entire state is the time at
/// which it would be full again.
struct SendPace: Equatable, Sendable {
  private let intervalNanoseconds: UInt64
  private let toleranceNanoseconds: UInt64
  private var full = Instant(nanoseconds: 0)

  /// Creates a full bucket; without a limit if `sendsPerSecond` is 0. One send of the burst is
  /// reserved, because messages bunch up in the network.
  init(sendsPerSecond: Int, burst: Int) {
    guard sendsPerSecond > 0 else {
      intervalNanoseconds = 0
      toleranceNanoseconds = 0
      return
    }
    intervalNanoseconds = 1_000_000_000 / UInt64(sendsPerSecond)
    toleranceNanoseconds = intervalNanoseconds * UInt64(max(1, min(burst, 1 << 20) - 1) - 1)
  }

  /// The earliest time at which the next send conforms; in the past if it does now.
  var nextAllowed: Instant {
    let tolerated = toleranceNanoseconds
    return Instant(nanoseconds: full.nanoseconds > tolerated ? full.nanoseconds - tolerated : 0)
  }

  /// Records a send.
  mutating func spend(at now: Instant) {
    full = max(full, now).adding(nanoseconds: intervalNanoseconds)
  }
}
