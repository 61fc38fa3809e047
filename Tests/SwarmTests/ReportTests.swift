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

/// Matches start and end tags, without a parser's tolerance.
enum Tags {
  /// - Returns: the first error; `nil` if every tag is closed in the order of opening.
  static func fault(in page: String) -> String? {
    var open: [Substring] = []
    var rest = page[...]
    while let start = rest.firstIndex(of: "<") {
      guard let end = rest[start...].firstIndex(of: ">") else { return "a tag without an end" }
      let tag = rest[rest.index(after: start)..<end]
      rest = rest[rest.index(after: end)...]
      if tag.contains("<") { return "a tag in a tag: \(tag)" }
      let name = tag.drop { $0 == "/" }.prefix { $0.isLetter || $0.isNumber }
      if tag.hasPrefix("!DOCTYPE") || tag.hasSuffix("/") { continue }
      if name.isEmpty { return "a tag without a name: \(tag)" }
      if !tag.hasPrefix("/") {
        open.append(name)
      } else if open.popLast() != name {
        return "</\(name)> closes what is not open"
      }
    }
    return open.isEmpty ? nil : "not closed: \(open)"
  }
}

@Suite struct `The report as a page` {
  @Test func `the verdict is first, in words and in color`() throws {
    let good = HTMLReport.text(of: PlantedOutcome.make())
    #expect(good.contains("class=\"verdict good\""))
    #expect(good.contains("<strong>Good</strong>"))
    let broken = HTMLReport.text(of: PlantedOutcome.make(violated: true))
    #expect(broken.contains("class=\"verdict bad\""))
    let verdict = try #require(broken.firstRange(of: "A promise was broken</strong>"))
    let plots = try #require(broken.firstRange(of: "<svg"))
    #expect(verdict.upperBound < plots.lowerBound)
    #expect(broken.contains("12 times: an acknowledged message is never lost"))
    #expect(broken.contains("and 7 more"))
    #expect(!good.contains("Broken promises"))
  }

  @Test func `thresholds, percentiles, marks, phases and every plot are there`() {
    var outcome = PlantedOutcome.make()
    outcome.judgements.append(
      .init(
        threshold: .init(measure: .deliver, percentile: .p50, limitMilliseconds: 5),
        milliseconds: 1000))
    let page = HTMLReport.text(of: outcome)
    for words in [
      "ack_p99_ms", ">met</b>", "deliver_p50_ms", ">missed</b>", "Too slow", ">p99.99</th>",
      ">relay killed by planted</td>", "at 1.5 s: relay killed by planted</title>",
      ">talk</text>", "Latency over time", "Throughput", "Connections", "The relay&#39;s CPU",
      "The relay&#39;s memory", "Histogram of latency", "Percentiles",
    ] {
      #expect(page.contains(words), "\(words)")
    }
    #expect(Tags.fault(in: page) == nil)
  }

  @Test func `it needs no other file and no script`() {
    let page = HTMLReport.text(of: PlantedOutcome.make(violated: true))
    for word in ["<script", "<link", "src=", "href=", "url(", "@import", "http"] {
      #expect(!page.contains(word), "\(word)")
    }
  }

  @Test func `names from elsewhere are shown as text`() {
    let hostile = PlantedOutcome.hostile
    let page = HTMLReport.text(of: PlantedOutcome.make(named: hostile, violated: true))
    #expect(Tags.fault(in: page) == nil)
    #expect(!page.contains("<script"))
    #expect(!page.contains("\" onload"))
    #expect(!page.unicodeScalars.contains("\u{202E}"))
    #expect(!page.unicodeScalars.contains("\u{1B}"))
    #expect(page.contains("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&quot; onload=&quot;x"))
  }

  @Test func `every report has the memory per connection`() {
    var outcome = PlantedOutcome.make()
    let line = "memory per connection, at 1000 of them: swarm 1600 bytes, relay 1058 bytes"
    #expect(TextReport.text(of: outcome).contains("\n\(line) (resident, in addition"))
    #expect(HTMLReport.text(of: outcome).contains(line))
    #expect(
      JSONReport.text(of: outcome).contains(
        #""memory":{"connections":1000,"swarm_bytes_per_connection":1600,"#
          + #""relay_bytes_per_connection":1058}"#))
    outcome.memory?.relayBytes = nil
    #expect(TextReport.text(of: outcome).contains("swarm 1600 bytes (resident"))
    #expect(!JSONReport.text(of: outcome).contains("relay_bytes_per"))
    outcome.memory = nil
    #expect(!JSONReport.text(of: outcome).contains("memory"))
  }

  @Test func `a run without any data is a page as well`() {
    var outcome = PlantedOutcome.make()
    outcome.series = Series()
    outcome.latencies = Latencies()
    outcome.connected = 0
    let page = HTMLReport.text(of: outcome)
    #expect(Tags.fault(in: page) == nil)
    #expect(page.contains("No connection"))
    #expect(!page.contains("<svg"))
    #expect(!page.contains("nan"))
    #expect(!page.contains("inf"))
  }

  @Test func `a line is interrupted where there is no data, and stays within the plot`() {
    let page = HTMLReport.text(of: PlantedOutcome.make())
    // Of four seconds the second has no ack: a dot for the first, a line for the others.
    #expect(page.contains("<circle class=\"dot c1\""))
    // Between 44 and 412; the seconds' middles are an eighth, five eighths and seven eighths.
    #expect(page.contains("d=\"M274 "))
    #expect(page.contains("L366 "))
  }

  @Test func `the check of tags finds wrong tags`() {
    #expect(Tags.fault(in: "<a><b></a></b>") != nil)
    #expect(Tags.fault(in: "<a>") != nil)
    #expect(Tags.fault(in: "<a <b>>") != nil)
    #expect(Tags.fault(in: "<!DOCTYPE html><a x=\"1\"><b/></a>") == nil)
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

  @Test func `thinning keeps sums and peaks`() {
    var series = Series()
    for index in 0..<1000 {
      var second = Series.Second(start: Double(index), length: 1)
      second.sends = 2
      second.ackP99 = index == 777 ? 500 : 1
      second.relayCores = index.isMultiple(of: 2) ? 1 : 0
      series.seconds.append(second)
    }
    let thinned = series.thinned(to: 300)
    #expect(thinned.seconds.count == 250)
    #expect(thinned.seconds.reduce(0) { $0 + $1.sends } == 2000)
    #expect(thinned.seconds.compactMap(\.ackP99).max() == 500)
    #expect(thinned.seconds[0].relayCores == 0.5)
    #expect(thinned.seconds[249].start == 996)
    #expect(series.thinned(to: 1000) == series)
  }

  @Test func `phases lie end to end`() throws {
    let scenario = try `A plan`.scenario(`A plan`.everything)
    let series = Series(scenario.phases)
    #expect(series.phases.map(\.start) == [0, 2, 12])
    #expect(series.phases.map(\.end) == [2, 12, 17])
  }
}

@Suite struct `An axis` {
  @Test func `round numbers, the greatest value within`() {
    let axis = Axis.linear(0, 87)
    #expect(axis.ticks.map(\.label) == ["0", "20", "40", "60", "80", "100"])
    #expect(axis.place(50) == 0.5)
    #expect(axis.place(200) == 1)
  }

  @Test func `time ends when it ends`() {
    let axis = Axis.linear(0, 17.5, isExact: true)
    #expect(axis.high == 17.5)
    #expect(axis.ticks.map(\.label) == ["0", "5", "10", "15"])
  }

  @Test func `decades, each as far from the next`() {
    let axis = Axis.logarithmic([0.3, 40])
    #expect(axis.ticks.map(\.label) == ["0.1", "1", "10", "100"])
    #expect(abs(axis.place(1) - 1 / 3.0) < 1e-9)
    #expect(Axis.logarithmic([]).ticks.count == 2)
  }

  @Test func `percentiles have their usual names`() {
    #expect(Axis.nines(to: 3.2).ticks.map(\.label) == ["p0", "p90", "p99", "p99.9", "p99.99"])
  }
}

@Suite struct `Latencies in plots` {
  @Test func `the histogram has everything once`() {
    let latencies = PlantedOutcome.make().latencies
    let steps = latencies.distribution(.ack, perDecade: 8)
    #expect(steps.reduce(0) { $0 + $1.count } == 1000)
    // 1 ms to 1 s: three decades, and the step that ends with the first.
    #expect((24...26).contains(steps.count))
    // The last of eight steps to the third decade begins at 750 ms.
    let last = steps.filter { $0.upTo > 760 }.reduce(0) { $0 + $1.count }
    #expect((249...252).contains(last))
    #expect(zip(steps, steps.dropFirst()).allSatisfy { abs($1.upTo / $0.upTo - 1.3335) < 0.001 })
  }

  @Test func `the curve passes through the percentiles`() throws {
    let curve = PlantedOutcome.make().latencies.curve(.ack, perNine: 10)
    #expect(curve.count == 31)
    #expect(abs(curve[10].milliseconds - 900) <= 2)
    #expect(abs(curve[20].milliseconds - 990) <= 2)
    #expect(abs(try #require(curve.last).milliseconds - 1000) <= 2)
  }
}
