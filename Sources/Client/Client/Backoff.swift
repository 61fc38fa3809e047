/// The wait before the next connection attempt: exponential back-off with full jitter.
///
/// Full jitter (a uniform choice between zero and the bound) spreads clients that were disconnected
/// together best: see Brooker, "Exponential Backoff And Jitter", 2015.
public struct Backoff: Equatable, Sendable {
  /// The bound of the first wait.
  public let firstMilliseconds: Int
  /// The upper limit of every wait.
  public let limitMilliseconds: Int
  private var failures = 0

  /// Waits for at most `firstMilliseconds`, then twice that, and so on up to the limit.
  public init(firstMilliseconds: Int = 200, limitMilliseconds: Int = 10_000) {
    precondition(firstMilliseconds > 0 && limitMilliseconds >= firstMilliseconds)
    self.firstMilliseconds = firstMilliseconds
    self.limitMilliseconds = limitMilliseconds
  }

  /// Returns the wait after one more failure.
  public mutating func nextMilliseconds(using generator: inout some RandomNumberGenerator) -> Int {
    let bound = boundMilliseconds
    if bound < limitMilliseconds { failures += 1 }
    return Int.random(in: 0...bound, using: &generator)
  }

  /// Resets the bound after a good connection.
  public mutating func reset() { failures = 0 }

  private var boundMilliseconds: Int {
    // The shift cannot overflow: failures are counted only until the limit is met.
    min(limitMilliseconds, firstMilliseconds << failures)
  }
}
