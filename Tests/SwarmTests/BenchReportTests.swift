import Testing

@testable import Swarm

/// A report with every kind of element.
enum PlantedBench {
  static func report(ratio: Double = 1.25) -> BenchReport {
    var report = BenchReport(
      date: "2026-01-02T03:04:05Z", extent: .usual, facts: [.init("processor", "A \"fast\" one")])
    report.seconds = 12.5
    var pair = BenchRow("room-1", "room of 1,000", .deliveries, goal: .ofLibrary(0.96))
    pair.pairs = [
      .init(floor: 200_000, relay: 200_000 * ratio), .init(floor: 100_000, relay: 100_000 * ratio),
      .init(floor: 50_000, relay: 1_000),
    ]
    pair.peers = [
      .init(name: BenchRow.libraryName, figure: 80_000, runs: [100_000, 80_000, 40_000]),
      .init(name: "node", figure: 96_400), .init(name: "nats", figure: nil, note: "not installed"),
    ]
    pair.details = [.init("deliver p99, ms", 0.000_012)]
    pair.notes = ["a: note, with a comma", "null"]
    var alone = BenchRow("ack-p99", "ack", .milliseconds, goal: .atMost(5))
    alone.alone = 5.01
    var sweep = BenchRow("rooms", "rooms", .times, goal: .atMost(2))
    sweep.alone = 1.5
    sweep.points = [.init(line: "relay", x: 500, y: 2.5), .init(line: "relay", x: 50_000, y: 3.75)]
    var faulty = BenchRow("return", "return", .entries, goal: .atLeast(1e6))
    faulty.alone = 2e6
    faulty.fault = "3 of 1000 missing"
    var shared = BenchRow("two-room-1", "room of 1,000", .deliveries)
    shared.isShared = true
    shared.pairs = [.init(floor: 300_000, relay: 310_000)]
    report.rows = [pair, alone, sweep, faulty, shared]
    return report
  }
}

@Suite struct `The report of a benchmark` {
  @Test func `a ratio is the median of the pairs' ratios, not the ratio of the medians`() throws {
    let row = PlantedBench.report().rows[0]
    #expect(row.ratio == 1.25)
    #expect(row.floor == 100_000)
    #expect(row.relay == 125_000)
    #expect(BenchRow.median([4, 1]) == 2.5)
    #expect(BenchRow.median([]) == nil)
  }

  @Test func `the library is compared pair by pair`() {
    var row = PlantedBench.report().rows[0]
    #expect(row.libraryRatios == [2.5, 1.5625, 0.025])
    #expect(row.libraryRatio == 1.5625)
    row.peers[0].runs = []
    #expect(row.libraryRatio == 125_000.0 / 80_000)
    row.peers[0].figure = nil
    #expect(row.libraryRatio == nil)
    #expect(row.otherPeers.map(\.name) == ["node", "nats"])
  }

  @Test func `a goal is met, missed, or not set`() {
    let rows = PlantedBench.report().rows
    #expect(rows.map(\.isMet) == [true, false, true, nil, nil])
    var row = BenchRow("a", "a", .deliveries, goal: .ofLibrary(1))
    row.pairs = [.init(floor: 100, relay: 100)]
    #expect(row.isMet == nil)
    row.peers = [.init(name: BenchRow.libraryName, figure: 100)]
    #expect(row.isMet == true)
    row.peers = [.init(name: BenchRow.libraryName, figure: 0)]
    #expect(row.isMet == nil)
    row = BenchRow("a", "a", .connections, goal: .atLeast(11_000))
    row.alone = 10_999
    #expect(row.isMet == false)
  }

  @Test func `the table has a line for each row, with readable figures`() throws {
    let text = BenchTable.text(of: PlantedBench.report())
    let lines = text.split(separator: "\n").map(String.init)
    let room = try #require(lines.first { $0.hasPrefix("room-1") })
    for cell in [
      "100 k", "80.0 k", "125 k", "1.25 (0.02–1.25)", "1.56 (0.03–2.50)",
      "≥ 0.96 × uWebSockets", "yes", "node 96.4 k · nats -",
    ] {
      #expect(room.contains("  \(cell)"), "\(cell)")
    }
    let ack = try #require(lines.first { $0.hasPrefix("ack-p99") })
    #expect(ack.contains("5.01"))
    #expect(ack.contains("≤ 5.00"))
    #expect(ack.contains("  no"))
    #expect(lines.first { $0.hasPrefix("return ") }?.contains("  fault") == true)
    #expect(lines.contains("return: 3 of 1000 missing"))
    #expect(lines.contains("room-1: nats: not installed"))
    let shared = try #require(lines.firstIndex { $0.hasPrefix("Two loops") })
    #expect(lines[shared...].contains { $0.hasPrefix("two-room-1") })
    #expect(!lines.contains { $0.hasPrefix("note:") })
  }

  @Test func `a run whose result is uncertain says so`() {
    var report = PlantedBench.report()
    report.extent = .quick
    report.coresTakenByOthers = 0.5
    let text = BenchTable.text(of: report)
    #expect(text.contains("note: a quick run"))
    #expect(text.contains("other processes used 50 % of a core"))
  }

  @Test(arguments: [
    (0.4, "0"), (950, "950"), (11_340, "11.3 k"), (244_000, "244 k"), (4_213_000, "4.21 M"),
  ])
  func `figures have about three digits`(value: Double, text: String) {
    #expect(BenchTable.figure(value, .deliveries) == text)
  }

  @Test func `every row has a name of its own, and can be chosen`() throws {
    #expect(Set(Bench.rowNames).count == Bench.rowNames.count)
    for name in Bench.rowNames {
      #expect(BenchItem.all.filter { $0.ids.contains(name) && $0.matches(name) }.count == 1)
    }
    #expect(BenchItem.all.filter { $0.matches("room") }.flatMap(\.ids).count == 3)
    #expect(BenchItem.all.filter { $0.matches("two") }.count == 11)
  }
}

@Suite struct `Bench, against a baseline` {
  /// Reads back what was written.
  private static func baseline() throws -> BenchJudgement.Baseline {
    try .init(Array(BenchJSON.text(of: PlantedBench.report(ratio: 1)).utf8), file: "a")
  }

  private static func judgement(
    of report: BenchReport, selected: Set<String>? = nil
  ) throws -> BenchJudgement {
    BenchJudgement(report, against: try baseline(), selected: selected)
  }

  @Test func `a ratio may fall a little`() throws {
    let judgement = try Self.judgement(of: PlantedBench.report(ratio: 0.86))
    #expect(judgement.isGood)
    #expect(judgement.text == "baseline: none of 2 ratios fell by more than 15 %\n")
  }

  @Test func `a ratio that fell by more than that is named`() throws {
    #expect(
      try Self.judgement(of: PlantedBench.report(ratio: 0.8)).text
        == "regression: room-1: 0.80 × floor, 20.0 % below the baseline's 1.00\n")
  }

  @Test func `a missing row is reported only if it was to be measured`() throws {
    var report = PlantedBench.report(ratio: 1)
    report.rows.removeFirst()
    #expect(
      try Self.judgement(of: report).text
        == "regression: room-1 has a baseline, but no figure in this run\n")
    #expect(try Self.judgement(of: report, selected: ["two-room-1"]).isGood)
  }

  @Test func `figures without a floor are not compared`() throws {
    var report = PlantedBench.report(ratio: 1)
    report.rows[1].alone = 500
    #expect(try Self.judgement(of: report).isGood)
  }

  @Test(arguments: ["", "{}", "[1]", #"{"bench":1}"#, #"{"bench":1,"rows":3}"#, "{\"bench\":"])
  func `a file that is not a report is refused by its name`(text: String) {
    #expect(
      throws: BenchJudgement.Baseline.Failure(description: "a.json: not a report of swarm bench")
    ) { try BenchJudgement.Baseline(Array(text.utf8), file: "a.json") }
  }
}
