import Testing

@testable import Swarm

@Suite struct `swarm compare` {
  private static func report(_ change: (inout Outcome) -> Void = { _ in }) -> [UInt8] {
    var outcome = PlantedOutcome.make()
    change(&outcome)
    return Array(JSONReport.text(of: outcome).utf8)
  }

  private static func row(_ name: String, of comparison: Comparison) throws -> Comparison.Row {
    try #require(comparison.rows.first { $0.name == name }, "\(name)")
  }

  @Test func `a run compared with itself has only ratios of one`() throws {
    let comparison = try Comparison(Self.report(), Self.report(), files: ("a", "b"))
    #expect(comparison.isSamePlan)
    #expect(comparison.rows.count > 12)
    #expect(comparison.rows.compactMap(\.ratio).allSatisfy { $0 == 1 })
    #expect(!comparison.text.contains("with care"))
  }

  @Test func `ratios are the second in parts of the first`() throws {
    let slower = Self.report { outcome in
      outcome.latencies = Latencies()
      for _ in 0..<10 { outcome.latencies.record(.ack, intended: 0, happened: 750_000_000) }
      outcome.load.relayCores = 0.5
      outcome.verdict.acknowledged = 500
      for index in outcome.series.seconds.indices {
        outcome.series.seconds[index].relayBytes = (index + 3) * 1_048_576
      }
    }
    let comparison = try Comparison(Self.report(), slower, files: ("a", "b"))
    #expect(abs(try #require(try Self.row("ack p50, ms", of: comparison).ratio) - 1.5) < 0.01)
    #expect(try Self.row("sends acknowledged", of: comparison).ratio == 0.5)
    let memory = try Self.row("relay, peak memory, MiB", of: comparison)
    #expect(memory == .init(name: memory.name, before: 3, after: 6))
    #expect(memory.ratio == 2)
    // A figure that only one of them has is shown without a ratio.
    #expect(try Self.row("deliver p99, ms", of: comparison).after == nil)
    #expect(try Self.row("relay, cores", of: comparison).ratio == nil)
    #expect(comparison.text.contains("2.00"))
    #expect(comparison.text.contains("0.50"))
  }

  @Test func `a figure of zero before makes no ratio`() {
    #expect(Comparison.Row(name: "x", before: 0, after: 5).ratio == nil)
  }

  @Test func `different scenarios are reported`() throws {
    let other = Array(JSONReport.text(of: PlantedOutcome.make(named: PlantedOutcome.hostile)).utf8)
    let comparison = try Comparison(Self.report(), other, files: ("a", "b"))
    #expect(!comparison.isSamePlan)
    #expect(comparison.text.contains("with care"))
    #expect(!comparison.text.unicodeScalars.contains("\u{1B}"))
  }

  @Test(arguments: ["", "{}", "[1]", "{\"status\":\"good\"}", "{\"latency_ms\":", "\u{0}"])
  func `a file that is not a report is named`(text: String) {
    #expect { try Comparison(Self.report(), Array(text.utf8), files: ("a", "b.json")) } throws: {
      "\($0)".hasPrefix("b.json:")
    }
  }

  @Test(arguments: ["nan", "inf", "-1", "1e300", "[]", "\"\""])
  func `a value that no run can have is left out`(value: String) throws {
    let text =
      "{\"status\":\"good\",\"latency_ms\":{\"ack\":{\"p50\":\(value)}},\"seconds\":\(value)}"
    let comparison = try Comparison(Self.report(), Array(text.utf8), files: ("a", "b"))
    #expect(comparison.rows.allSatisfy { $0.after == nil })
    #expect(!comparison.text.isEmpty)
  }

  @Test func `a tiny figure with an exponent is a figure`() throws {
    let report = Self.report { $0.load.ownCores = 0.000_02 }
    let comparison = try Comparison(report, report, files: ("a", "b"))
    #expect(try Self.row("swarm, cores", of: comparison).before == 0.000_02)
  }
}
