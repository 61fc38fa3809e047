import Testing

@testable import Relay

@Suite struct `A count of what has happened lately` {
  @Test func `is a rate over the last ten seconds, and forgets what is longer ago`() {
    var count = RecentCount()
    for second in Int64(0)..<10 { count.add(2, at: 100_000 + second * 1000) }
    #expect(count.perSecond(at: 109_999) == 2)
    // Half of the last ten seconds has had none.
    #expect(count.perSecond(at: 115_000) == 1)
    #expect(count.perSecond(at: 120_000) == 0)
    count.add(1, at: 500_000)
    #expect(count.perSecond(at: 500_000) == 0.1)
  }
}
