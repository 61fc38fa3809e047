import Platform
import Testing

@testable import Swarm

@Suite struct `Latency truth` {
  /// A server that takes a millisecond for each request, one after the other, and once stops for a
  /// second: on a clock of its own.
  private func play(rate: Int, seconds: Int, pausingAt pause: Int) -> Latencies {
    var latencies = Latencies()
    var free = 0
    for index in 0..<(rate * seconds) {
      let intended = index * 1_000_000_000 / rate
      var begins = max(free, intended)
      if begins >= pause, begins < pause + 1_000_000_000 { begins = pause + 1_000_000_000 }
      free = begins + 100_000
      latencies.record(.ack, intended: UInt64(intended), happened: UInt64(free))
    }
    return latencies
  }

  /// 100 s at 100/s: the pause delays 100 of 10,000 sends, by 1 s, 0.99 s, … 0.01 s. The worst
  /// 0.1 %, ten of them, waited 0.91 s and more; the worst 0.5 % half a second.
  @Test func `a pause of a second is in p99_9, as arithmetic predicts`() throws {
    let latencies = play(rate: 100, seconds: 100, pausingAt: 50_000_000_000)
    #expect(latencies.count(.ack) == 10_000)
    #expect(try #require(latencies.milliseconds(.ack, .p50)) < 0.11)
    #expect(try #require(latencies.milliseconds(.ack, .p90)) < 0.11)
    #expect((0...20).contains(try #require(latencies.milliseconds(.ack, .p99))))
    #expect((900...920).contains(try #require(latencies.milliseconds(.ack, .p999))))
    #expect((980...1002).contains(try #require(latencies.milliseconds(.ack, .p9999))))
    #expect((999...1002).contains(try #require(latencies.milliseconds(.ack, .max))))
  }

  /// A closed loop reports the same second as one slow answer among thousands.
  @Test func `without a pause there is none`() throws {
    let latencies = play(rate: 100, seconds: 100, pausingAt: .max / 2)
    #expect(try #require(latencies.milliseconds(.ack, .max)) < 0.11)
  }

  @Test func `measures are separate, and one without samples has no figure`() throws {
    var latencies = Latencies()
    latencies.record(.connect, intended: 5_000_000, happened: 2_000_000)
    latencies.record(.resume, intended: 0, happened: 2_000_000)
    #expect(latencies.milliseconds(.connect, .max) == 0)
    #expect(latencies.milliseconds(.resume, .p50) == 2)
    #expect(latencies.milliseconds(.ack, .p50) == nil)
    #expect(latencies.count(.ack) == 0)
  }

  @Test func `three digits are kept from microseconds to hours`() throws {
    for milliseconds in [0.001, 0.5, 17.3, 4_321, 3_600_000] {
      var latencies = Latencies()
      latencies.record(.ack, intended: 0, happened: UInt64(milliseconds * 1e6))
      let told = try #require(latencies.milliseconds(.ack, .p99))
      #expect(abs(told - milliseconds) <= milliseconds / 1000 + 1e-9)
    }
  }
}

@Suite struct `The result of a run` {
  private var good: Outcome {
    var outcome = Outcome(
      plan: Plan(
        scenario: "t", seed: 1, rooms: [], clients: [], events: [], duration: 0,
        clientsLeftOut: 0, messagesLeftOut: 0))
    outcome.connected = 1
    return outcome
  }

  @Test func `a broken promise takes precedence over void, and that over a missed threshold`() {
    var outcome = good
    #expect(outcome.status == .good)
    outcome.judgements = [
      .init(
        threshold: .init(measure: .ack, percentile: .p99, limitMilliseconds: 5), milliseconds: 6)
    ]
    #expect(outcome.status == .thresholdMissed)
    outcome.load.lagP99Milliseconds = 10.1
    #expect(outcome.status == .void)
    outcome.violationCounts = [.gap: 1]
    #expect(outcome.status == .promiseBroken)
  }

  @Test func `a threshold without measurements is missed`() {
    let threshold = Scenario.Threshold(measure: .resume, percentile: .max, limitMilliseconds: 5)
    #expect(Outcome.Judgement(threshold: threshold, milliseconds: nil).isMet == false)
    #expect(Outcome.Judgement(threshold: threshold, milliseconds: 5).isMet)
  }

  @Test func `a full core is void only while the relay has room`() {
    var load = Outcome.Load()
    load.ownCores = 0.96
    load.relayCores = 0.5
    #expect(load.voidReason != nil)
    load.relayCores = 0.99
    #expect(load.voidReason == nil)
    load.relayCores = nil
    #expect(load.voidReason != nil)
  }

  @Test func `without a connection, or with an unreadable room, the result is no connection`() {
    var outcome = good
    outcome.verdict.unreadRooms = ["a"]
    #expect(outcome.status == .noConnection)
    outcome = good
    outcome.connected = 0
    #expect(outcome.status == .noConnection)
  }

  @Test func `a stall of swarm itself counts for all sends that it delayed`() throws {
    var watch = SelfWatch(start: .init(nanoseconds: 0), cpu: 1)
    for pulse in 0..<100 { watch.pulse(at: .init(nanoseconds: UInt64(pulse) * 5_000_000)) }
    #expect(watch.lag.milliseconds(.max) == 0)
    // 100 ms without a pulse: twenty are late, the first by all of it.
    watch.pulse(at: .init(nanoseconds: 600_000_000))
    #expect(try #require(watch.lag.milliseconds(.max)) >= 100)
    #expect(try #require(watch.lag.milliseconds(.p90)) > 40)
    #expect(watch.coreShare(at: .init(nanoseconds: 2_000_000_000), cpu: 2) == 0.5)
  }
}
