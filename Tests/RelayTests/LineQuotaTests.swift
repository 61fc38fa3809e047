import Relay
import Testing

@Suite struct `The quota of lines in the operator's log` {
  private let quota = LineQuota()

  private func admitted(_ kind: LineQuota.Kind, _ count: Int, now: Int64) -> Int {
    (0..<count).count { _ in quota.admits(kind, now: now) }
  }

  @Test func `admits a limited number of lines of a kind in a minute`() {
    #expect(admitted(.signIn, 10_000, now: 5) == LineQuota.linesPerMinute)
    #expect(admitted(.end, 10, now: 5) == 10)
    #expect(admitted(.signIn, 10, now: 60_004) == 0)
  }

  @Test func `tells how many were left out, once the minute is over`() {
    _ = admitted(.signIn, 10_000, now: 5)
    #expect(quota.takeOmitted(now: 60_004).isEmpty)
    #expect(quota.takeOmitted(now: 60_005).map(\.count) == [10_000 - LineQuota.linesPerMinute])
    #expect(quota.takeOmitted(now: 60_005).isEmpty)
    #expect(admitted(.signIn, 10_000, now: 60_006) == LineQuota.linesPerMinute)
  }

  @Test func `loses no count if it is asked late`() {
    _ = admitted(.refusal, 100, now: 0)
    #expect(admitted(.refusal, 7, now: 200_000) == 0)
    #expect(quota.takeOmitted(now: 200_000).map(\.count) == [107 - LineQuota.linesPerMinute])
  }

  @Test func `tells everything at the end`() {
    _ = admitted(.end, 61, now: 0)
    _ = admitted(.refusal, 62, now: 0)
    let omitted = quota.takeOmitted(now: nil)
    #expect(omitted.map(\.kind) == [.refusal, .end])
    #expect(omitted.map(\.count) == [2, 1])
  }

  @Test func `goes on with the minute after that, since loops end one after the other`() {
    _ = admitted(.end, 61, now: 0)
    _ = quota.takeOmitted(now: nil)
    #expect(admitted(.end, 3, now: 1) == 0)
    #expect(quota.takeOmitted(now: nil).map(\.count) == [3])
  }
}
