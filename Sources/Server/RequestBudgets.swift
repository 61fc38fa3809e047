import EventLoop
import Relay
import Synchronization

/// How much each client may ask for over HTTP, where a connection says nothing: the limits that
/// relay.v1 has for a connection hold for a user, and before it is known who asks, for an address.
/// Shared by the loops; a lock for each request.
final class RequestBudgets: Sendable {
  enum Payer: Hashable {
    case user(String)
    case address(Address.HostKey)
  }

  private struct Buckets {
    var sends: TokenBucket
    var requests: TokenBucket
  }

  private struct State {
    var buckets: [Payer: Buckets] = [:]
    /// Those that have rested are forgotten when there are so many.
    var sweepAt = 1024
    var nextSweep = Int64.min
  }

  /// More payers than this, none of whom has rested: newcomers wait.
  private static let payersLimit = 65_536
  private static let waitMilliseconds: Int64 = 1000

  private let limits: Configuration.Limits
  private let state = Mutex(State())

  init(limits: Configuration.Limits) { self.limits = limits }

  /// How many are remembered.
  var count: Int { state.withLock { $0.buckets.count } }

  /// Pays for a send.
  /// - Parameter now: milliseconds of the monotonic clock.
  /// - Returns: `nil`, or the milliseconds to wait.
  func takeSend(_ payer: Payer, now: Int64) -> Int64? {
    withBuckets(of: payer, now) { buckets in
      if buckets.sends.take(now) { return nil }
      return max(Refusal.retryAfterMilliseconds, buckets.sends.wait(now))
    }
  }

  /// Pays for anything else.
  func takeRequest(_ payer: Payer, now: Int64) -> Int64? {
    withBuckets(of: payer, now) { buckets in
      if buckets.requests.take(now) { return nil }
      return max(1, buckets.requests.wait(now))
    }
  }

  /// What was paid for as a send made no entry: it was a request.
  func refundSend(_ payer: Payer, now: Int64) {
    _ = withBuckets(of: payer, now) { buckets in
      buckets.sends.refund()
      buckets.requests.charge(now)
      return nil
    }
  }

  private func withBuckets(
    of payer: Payer, _ now: Int64, _ body: (inout Buckets) -> Int64?
  ) -> Int64? {
    state.withLock { state in
      if state.buckets[payer] == nil {
        // Looking at a crowd for each newcomer would be what the crowd is after.
        if state.buckets.count >= state.sweepAt, now >= state.nextSweep {
          Self.forgetRested(&state, now)
        }
        guard state.buckets.count < Self.payersLimit else { return Self.waitMilliseconds }
        state.buckets[payer] = Buckets(
          sends: TokenBucket(perSecond: limits.sendsPerSecond, burst: limits.burst, now: now),
          requests: TokenBucket(
            perSecond: limits.requestsPerSecond, burst: limits.requestsPerSecond, now: now))
      }
      guard let index = state.buckets.index(forKey: payer) else { return nil }
      return body(&state.buckets.values[index])
    }
  }

  private static func forgetRested(_ state: inout State, _ now: Int64) {
    state.buckets = state.buckets.filter { _, buckets in
      var buckets = buckets
      return !buckets.sends.isFull(now) || !buckets.requests.isFull(now)
    }
    state.sweepAt = max(1024, state.buckets.count * 2)
    if state.sweepAt > payersLimit {
      state.sweepAt = payersLimit
      state.nextSweep = now + waitMilliseconds
    }
  }
}
