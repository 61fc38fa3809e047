internal import Platform
internal import Wire

/// The send limits of each client, as the relay's `welcome` reports them.
public struct SendAllowance: Equatable, Sendable {
  /// 0 is no limit.
  public var sendsPerSecond: Int
  /// The number of sends allowed in a burst.
  public var burst: Int

  init(_ limits: ServerMessage.Welcome.Limits) {
    self.init(sendsPerSecond: limits.sendsPerSecond, burst: limits.burst)
  }

  /// - Parameters:
  ///   - sendsPerSecond: `limits.sends_per_s`.
  ///   - burst: `limits.burst`.
  public init(sendsPerSecond: Int, burst: Int) {
    self.sendsPerSecond = sendsPerSecond
    self.burst = burst
  }

  /// Returns why a plan cannot be played as intended: the relay delays a send beyond the limit, and
  /// its latency would be that of the limit.
  ///
  /// - Returns: The rest of a sentence, such as "its busiest client …"; `nil` if no send would
  ///   wait.
  public func obstacle(to plan: Plan) -> String? {
    guard sendsPerSecond > 0 else { return nil }
    var paces: [Int: SendPace] = [:]
    var counts: [Int: Int] = [:]
    var isHeldUp = false
    var span: (first: UInt64, last: UInt64)?
    for event in plan.events {
      guard case .send(let client, _, _, _) = event.kind else { continue }
      let due = Instant(nanoseconds: event.at)
      var pace = paces[client] ?? SendPace(sendsPerSecond: sendsPerSecond, burst: burst)
      if pace.nextAllowed > due { isHeldUp = true }
      pace.spend(at: max(due, pace.nextAllowed))
      paces[client] = pace
      counts[client, default: 0] += 1
      span = (span?.first ?? event.at, event.at)
    }
    guard isHeldUp, let span, let most = counts.values.max() else { return nil }
    let seconds = max(Double(span.last - span.first) / 1e9, 1)
    return "its busiest client would send \(Decimal.text(Double(most) / seconds)) messages/s, but"
      + " the relay allows each client limits.sends_per_s: \(sendsPerSecond), limits.burst: \(burst)."
      + " Raise limits.sends_per_s in the relay's configuration (spawn.config), 0 for no limit, or"
      + " add senders"
  }
}
