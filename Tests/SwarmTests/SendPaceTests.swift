import Platform
import Testing

@testable import Swarm

@Suite struct `Pace of sending, as allowed by welcome` {
  private let start = Instant(nanoseconds: 1_000_000_000_000)

  /// The number sent by then, if as many as allowed are sent.
  private func leaving(_ pace: inout SendPace, until end: Int) -> Int {
    var count = 0
    var now = start
    while now <= start.adding(milliseconds: end) {
      if pace.nextAllowed <= now {
        pace.spend(at: now)
        count += 1
      } else {
        now = pace.nextAllowed
      }
    }
    return count
  }

  @Test func `a burst is sent immediately, except for one message`() {
    var pace = SendPace(sendsPerSecond: 20, burst: 40)
    #expect(leaving(&pace, until: 0) == 39)
  }

  @Test func `after the burst the rate holds`() {
    var pace = SendPace(sendsPerSecond: 20, burst: 40)
    #expect(leaving(&pace, until: 10_000) == 39 + 200)
  }

  @Test(arguments: [(1, 1), (20, 40), (7, 3), (1000, 10)])
  func `a token bucket of the same size never refuses`(limits: (rate: Int, burst: Int)) {
    var pace = SendPace(sendsPerSecond: limits.rate, burst: limits.burst)
    var tokens = Double(limits.burst)
    var last = start
    for _ in 0..<500 {
      let now = max(pace.nextAllowed, last)
      tokens = min(
        Double(limits.burst),
        tokens + Double(now.nanoseconds(since: last)) / 1e9 * Double(limits.rate))
      last = now
      pace.spend(at: now)
      tokens -= 1
      #expect(tokens > -1e-6)
    }
  }

  @Test func `no limit is no limit`() {
    var pace = SendPace(sendsPerSecond: 0, burst: 0)
    for _ in 0..<10_000 { pace.spend(at: start) }
    #expect(pace.nextAllowed <= start)
  }
}
