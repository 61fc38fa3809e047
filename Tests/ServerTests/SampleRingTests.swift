import Platform
import Relay
import Testing
import Wire

@testable import Gateway
@testable import Server

@Suite struct `The samples of the last hour` {
  private func metrics(_ entries: Int, at now: Int64) -> Metrics {
    var log = LogStatistics()
    log.entries = entries
    var process = ProcessStatistics(startedAt: 0)
    process.threadSeconds = [("loop-0", Double(entries) / 100)]
    return Metrics(
      loops: LoopSnapshot(), admission: Admission(limits: ConnectionLimits(), descriptors: 100),
      violations: Violations(), log: log, process: process, configuredBots: 0, now: now)
  }

  private func samples(_ ring: SampleRing, after time: Int64 = 0) -> [JSONNode] {
    JSONNode(ring.json(after: time))?["samples"]?.elements ?? []
  }

  private func number(_ node: JSONNode?) -> Double? { node?.number.flatMap { Double($0) } }

  private func fill(_ ring: SampleRing, _ count: Int) {
    for place in 0...count {
      ring.append(
        metrics(10 * place, at: 1000 + Int64(place)),
        at: Instant(nanoseconds: 0).adding(milliseconds: 5000 * place))
    }
  }

  @Test func `have rates since the one before, and begin with the second look`() {
    let ring = SampleRing()
    fill(ring, 0)
    #expect(samples(ring).isEmpty)
    fill(ring, 2)
    #expect(samples(ring).map { number($0["entries_per_s"]) } == [2, 2])
    #expect(number(samples(ring)[0]["cpu"]?["loop-0"]) == 0.02)
    #expect(samples(ring)[0].member(named: "ack_ms") == nil)
  }

  @Test func `are those of an hour, in order, and no more`() {
    let ring = SampleRing()
    fill(ring, SampleRing.limit + 10)
    let times = samples(ring).compactMap { $0["at"]?.integer }
    #expect(times.count == SampleRing.limit)
    #expect(times == times.sorted())
    #expect(times.first == 1011)
    #expect(samples(ring, after: 1700).compactMap { $0["at"]?.integer } == Array(1701...1730))
    #expect(samples(ring, after: .max).isEmpty)
  }
}
