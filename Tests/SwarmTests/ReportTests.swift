import Testing

@testable import Swarm

/// A run with every kind of element, as if it had been played.
enum PlantedOutcome {
  static let hostile = "<script>alert('x')</script>\" onload=\"x\u{202E}\u{1B}[31m&"

  static func make(named name: String = "planted", violated: Bool = false) -> Outcome {
    var outcome = Outcome(
      plan: Plan(
        scenario: name, seed: 7, rooms: [], clients: [], events: [], duration: 0,
        clientsLeftOut: 0, messagesLeftOut: 0))
    outcome.connected = 3
    outcome.seconds = 4
    for milliseconds: UInt64 in 1...1000 {
      outcome.latencies.record(.ack, intended: 0, happened: milliseconds * 1_000_000)
      outcome.latencies.record(.deliver, intended: 0, happened: milliseconds * 2_000_000)
    }
    outcome.verdict.sends = 1000
    outcome.verdict.acknowledged = 1000
    outcome.memory = .init(connections: 1000, swarmBytes: 1_600_000, relayBytes: 1_058_400)
    outcome.marks = [.init(seconds: 1.5, text: "relay killed by \(name)")]
    outcome.judgements = [
      .init(
        threshold: .init(measure: .ack, percentile: .p99, limitMilliseconds: 2000),
        milliseconds: 990)
    ]
    outcome.series.phases = [
      .init(name: "arrive \(name)", start: 0, end: 2), .init(name: "talk", start: 2, end: 4),
    ]
    for index in 0..<4 {
      var second = Series.Second(start: Double(index), length: 1)
      second.sends = 100
      second.acks = index == 1 ? 0 : 100
      if index != 1 { (second.ackP50, second.ackP99, second.ackMax) = (1, 10, 20) }
      second.relayCores = 0.25
      second.relayBytes = 3 * 1_048_576
      outcome.series.seconds.append(second)
    }
    if violated {
      outcome.violationCounts = [.lost: 12]
      outcome.violations = [
        Violation(
          promise: .lost, room: name, seqs: [41], detail: "gone by \(name)", frames: [name])
      ]
    }
    return outcome
  }
}

@Suite struct `The report of a run` {
  @Test func `every report has the memory per connection`() {
    var outcome = PlantedOutcome.make()
    #expect(
      TextReport.text(of: outcome).contains(
        "\nmemory per connection, at 1000 of them: swarm 1600 bytes, relay 1058 bytes (resident"))
    #expect(
      JSONReport.text(of: outcome).contains(
        #""memory":{"connections":1000,"swarm_bytes_per_connection":1600,"#
          + #""relay_bytes_per_connection":1058}"#))
    outcome.memory?.relayBytes = nil
    #expect(TextReport.text(of: outcome).contains("swarm 1600 bytes (resident"))
    #expect(!JSONReport.text(of: outcome).contains("relay_bytes_per"))
    outcome.memory = nil
    #expect(!JSONReport.text(of: outcome).contains(#""memory""#))
  }

  @Test func `JSON is valid whatever a relay writes`() {
    let nested: [JSONObject] = [["v": true], ["v": nil]]
    let json: JSONObject = [
      "a\"\\\n": "\u{1}é", "n": 5, "w": 2.0, "x": 0.25, "l": nested, "none": nil as Int?,
    ]
    #expect(
      json.document
        == #"{"a\"\\\u000a":"\u0001é","n":5,"w":2,"x":0.25,"l":[{"v":true},{}]}"# + "\n")
  }
}

@Suite struct `A run second by second` {
  @Test func `each second has its own counts and percentiles`() throws {
    var recorder = SeriesRecorder([], relayCPUSeconds: 10)
    for index: UInt64 in 1...100 {
      recorder.sent()
      recorder.acknowledged(intended: 0, happened: index * 1_000_000)
    }
    recorder.delivered(intended: 5_000_000, happened: 7_000_000)
    recorder.close(
      at: 1_000_000_000,
      .init(deliveries: 40, clients: 3, relayCPUSeconds: 10.5, relayBytes: 4096))
    #expect(recorder.end == 2_000_000_000)
    recorder.close(
      at: 3_500_000_000,
      .init(deliveries: 50, clients: 2, relayCPUSeconds: 13, relayBytes: nil))
    #expect(recorder.end == 4_000_000_000)
    let (first, second) = (recorder.series.seconds[0], recorder.series.seconds[1])
    #expect((first.sends, first.acks, first.deliveries, first.clients) == (100, 100, 40, 3))
    #expect(abs(try #require(first.ackP50) - 50) <= 0.5)
    #expect(abs(try #require(first.ackP99) - 99) <= 1)
    #expect(abs(try #require(first.ackMax) - 100) <= 1)
    #expect(abs(try #require(first.deliverP99) - 2) <= 0.02)
    #expect(first.relayCores == 0.5)
    #expect(first.relayBytes == 4096)
    #expect((second.sends, second.acks, second.deliveries, second.clients) == (0, 0, 10, 2))
    #expect(second.ackP50 == nil)
    #expect(second.deliverP99 == nil)
    #expect(second.relayBytes == nil)
    #expect(second.length == 2.5)
    #expect(second.relayCores == 1)
    #expect(second.rate(second.deliveries) == 4)
  }

  @Test func `a very short time has no CPU figure, and a relay that is not ours never has one`() {
    var recorder = SeriesRecorder([], relayCPUSeconds: 0)
    recorder.close(
      at: 200_000_000, .init(deliveries: 0, clients: 0, relayCPUSeconds: 1, relayBytes: nil))
    #expect(recorder.series.seconds[0].relayCores == nil)
    var foreign = SeriesRecorder([])
    foreign.close(
      at: 1_000_000_000, .init(deliveries: 0, clients: 0, relayCPUSeconds: nil, relayBytes: nil))
    #expect(foreign.series.seconds[0].relayCores == nil)
  }

  @Test func `phases lie end to end`() throws {
    let scenario = try `A plan`.scenario(`A plan`.everything)
    let series = Series(scenario.phases)
    #expect(series.phases.map(\.start) == [0, 2, 12])
    #expect(series.phases.map(\.end) == [2, 12, 17])
  }
}
