import TestSupport
import Testing

@testable import Swarm

/// `report.py`, alone and as a part of swarm.
@Suite struct `The program that makes pages and tables of reports` {
  private static let program = Project["LoadTests/swarm/Swarm/Report/report.py"]
  private static let baseline = "LoadTests/results/baseline.json"

  private static func report(_ arguments: String...) throws -> (exitCode: Int32, output: String) {
    try Shell.run(([program] + arguments).map { "'\($0)'" }.joined(separator: " "))
  }

  @Test func `the README and bench.md have the figures of the baseline`() throws {
    let folder = try TemporaryFolder()
    for (name, copy) in [("README.md", "a.md"), ("LoadTests/results/bench.md", "b.md")] {
      let text = try readFile(Project[name])
      try folder.write(text, to: copy)
      let run = try Self.report("figures", Project[Self.baseline], folder[copy])
      #expect(run.exitCode == 0, "\(run.output)")
      #expect(
        try folder.read(copy) == text, "\(name) was edited by hand: run `make bench-figures`")
    }
  }

  @Test func `if one document has no section for figures, none is written`() throws {
    let folder = try TemporaryFolder()
    let good = "<!-- generated: bench-figures -->\nold\n<!-- end of bench-figures -->\n"
    let bad = [
      ("nothing\n", "has no line <!-- generated: NAME -->"),
      ("<!-- generated: bench-rows -->\n", "the line <!-- end of bench-rows --> is missing"),
    ]
    try folder.write(good, to: "good.md")
    for (text, reason) in bad {
      try folder.write(text, to: "bad.md")
      let refused = try Self.report(
        "figures", Project[Self.baseline], folder["good.md"], folder["bad.md"])
      #expect(refused.exitCode != 0)
      #expect(refused.output.hasPrefix(folder["bad.md"]), "\(refused.output)")
      #expect(refused.output.contains(reason), "\(refused.output)")
      #expect(try folder.read("good.md") == good)
    }
  }

  @Test func `a quick, partial or faulty benchmark has no figures for documents`() throws {
    let folder = try TemporaryFolder()
    var report = PlantedBench.report()
    func reason() throws -> String {
      try folder.write(BenchJSON.text(of: report), to: "bench.json")
      let refused = try Self.report("figures", folder["bench.json"], "none.md")
      #expect(refused.exitCode != 0)
      return refused.output
    }
    #expect(try reason().contains("there is no row echo-1: run `make bench` without --rows"))
    report.rows[3].id = "echo-1"
    #expect(try reason().contains("the row echo-1 has a fault, not a figure: 3 of 1000 missing"))
    report.extent = .quick
    #expect(try reason().contains("a quick run has no figures for documents"))
  }

  @Test func `swarm compare prints the ratios of the second run to the first`() throws {
    let folder = try TemporaryFolder()
    var outcome = PlantedOutcome.make()
    try folder.write(JSONReport.text(of: outcome), to: "a.json")
    outcome.verdict.acknowledged = 500
    outcome.plan.scenario = PlantedOutcome.hostile
    for index in outcome.series.seconds.indices {
      outcome.series.seconds[index].relayBytes = 6_291_456
    }
    try folder.write(JSONReport.text(of: outcome), to: "b.json")
    func compare(_ second: String) throws -> (exitCode: Int32, lines: [[Substring]]) {
      let run = try Shell.run(
        "'\(Programs.swarm)' compare '\(folder["a.json"])' '\(folder[second])'")
      #expect(!run.output.unicodeScalars.contains("\u{1B}"))
      return (run.exitCode, run.output.split(separator: "\n").map { $0.split(separator: " ") })
    }
    let same = try compare("a.json")
    #expect(same.exitCode == 0)
    #expect(same.lines.contains(["sends", "acknowledged", "1000", "1000", "1.00"]))
    let other = try compare("b.json")
    #expect(other.exitCode == 0)
    #expect(other.lines.contains { $0.suffix(3) == ["compare", "with", "care"] })
    #expect(other.lines.contains(["sends", "acknowledged", "1000", "500", "0.50"]))
    #expect(other.lines.contains(["relay,", "peak", "bytes", "3145728", "6291456", "2.00"]))
    for text in ["", "{}", "[1]", "{\"latency_ms\":", "\u{0}"] {
      try folder.write(text, to: "c.json")
      #expect(try compare("c.json").exitCode == 2, "\(text)")
    }
    #expect(try compare("none.json").exitCode == 2)
  }

  // MARK: Pages

  private static let hasPlots =
    (try? Shell.run("/usr/bin/python3 -c 'import matplotlib'").exitCode) == 0

  @Test(.enabled(if: hasPlots, "python3-matplotlib is missing: see `config/setup plots`"))
  func `the page and the JSON of one run say the same, second by second`() throws {
    let folder = try TemporaryFolder()
    let (page, json) = (folder["run.html"], folder["run.json"])
    let run = try SwarmProcess(
      playing: `swarm run, end to end`.scenario(
        spawn: "binary: '\(Programs.wrongRelay)', config: { fault: double }"),
      ["--html", page, "--json", json])
    #expect(run.exitCode == 3, "\(run.output)")
    let html = try readFile(page)
    #expect(html.contains("\nBROKEN doubled, "))
    for plot in ["Latency, ms", "Per second", "Connections", "The relay's memory", "percentile"] {
      #expect(html.contains(plot), "\(plot)")
    }
    let sends = try readFile(json).split(separator: "\"sends\":").dropFirst().compactMap {
      Int($0.prefix { $0.isNumber })
    }
    #expect(sends.count >= 3)
    #expect(sends.reduce(0, +) == 450, "every send is in one second: \(sends)")
  }

  @Test(.enabled(if: hasPlots, "python3-matplotlib is missing: see `config/setup plots`"))
  func `names from elsewhere are shown as text, and the page needs no other file`() throws {
    let folder = try TemporaryFolder()
    let outcome = PlantedOutcome.make(named: PlantedOutcome.hostile + "$x$", violated: true)
    try folder.write(JSONReport.text(of: outcome), to: "run.json")
    var empty = PlantedOutcome.make()
    empty.series = Series()
    empty.latencies = Latencies()
    try folder.write(JSONReport.text(of: empty), to: "empty.json")
    try folder.write(BenchJSON.text(of: PlantedBench.report()), to: "bench.json")
    for name in ["run", "empty", "bench"] {
      let run = try Self.report("page", folder["\(name).json"], folder["\(name).html"])
      #expect(run.exitCode == 0, "\(run.output)")
      let page = try folder.read("\(name).html")
      for word in ["<script", "<link", "src=", " onload=\"", "@import", "\u{202E}", "\u{1B}"] {
        #expect(!page.contains(word), "\(name): \(word)")
      }
      #expect(page.contains("<svg") == (name != "empty"))
    }
    #expect(try folder.read("run.html").contains("&lt;script&gt;alert("))
    #expect(try folder.read("bench.html").contains("return: 3 of 1000 missing"))
  }
}
