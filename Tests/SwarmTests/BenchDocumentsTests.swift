import TestSupport
import Testing

@testable import Swarm

/// A report that has every row of the short table.
private func wholeReport(withLibrary: Bool = true) -> BenchReport {
  var report = PlantedBench.report()
  report.facts += [.init("cores", "2"), .init("kernel", "Linux 6.18"), .init("commit", "abc1234")]
  report.rows.removeAll { $0.id == "room-1" || $0.isShared }
  for id in BenchMarkdown.mainRows {
    var row = BenchRow(id, "work of \(id)", id == "idle" ? .bytes : .deliveries)
    row.pairs = [
      .init(floor: 200_000, relay: 100_000), .init(floor: 100_000, relay: 80_000),
      .init(floor: 100_000, relay: 90_000),
    ]
    if withLibrary {
      row.peers = [
        .init(
          name: BenchRow.libraryName, figure: 50_000, runs: [100_000, 50_000, 45_000])
      ]
    }
    row.peers.append(.init(name: "nats", figure: 40_400))
    row.peers.append(.init(name: "nchan", figure: nil, note: "not installed"))
    report.rows.append(row)
  }
  return report
}

@Suite struct `A benchmark's tables in documents` {
  @Test func `the README and bench.md have the figures of the baseline`() throws {
    let baseline = "LoadTests/results/baseline.json"
    let sections = try BenchMarkdown.sections(
      of: try BenchJSON.read(try readBytes(Project[baseline]), file: baseline))
    for name in ["README.md", "LoadTests/results/bench.md"] {
      let text = try readFile(Project[name])
      let expected = try GeneratedSections.replaced(in: text, name: name, by: sections)
      #expect(text == expected, "\(name) was edited by hand: run `make bench-figures`")
    }
  }

  @Test func `the library is compared pair by pair`() throws {
    let row = try #require(wholeReport().rows.first { $0.id == "dms-1" })
    #expect(row.libraryRatios == [1, 1.6, 2])
    #expect(row.libraryRatio == 1.6)
    var single = row
    single.peers[0].runs = []
    #expect(single.libraryRatio == 90_000.0 / 50_000)
    single.peers[0].figure = nil
    #expect(single.libraryRatio == nil)
    #expect(single.otherPeers.map(\.name) == ["nats", "nchan"])
  }

  @Test func `the short table has floor, library, relay, their ratios and the peers that ran`()
    throws
  {
    let lines = try #require(try BenchMarkdown.sections(of: wholeReport())["bench-figures"])
      .split(separator: "\n").map(String.init)
    #expect(
      lines[0]
        == "| work | floor | uWebSockets | relay | ÷ floor | ÷ uWebSockets | nats |")
    #expect(lines[1] == "| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    #expect(lines.contains("| work of dms-1 | 100 k | 50.0 k | 90.0 k | 0.80 | 1.60 | 40.4 k |"))
    #expect(
      lines.contains("| work of idle, bytes | 100000 | 50000 | 90000 | 0.80 | 1.60 | 40400 |"))
    #expect(lines.count == 2 + BenchMarkdown.mainRows.count + 1)
    #expect(
      lines.last
        == "2026-01-02, commit `abc1234`, 2 cores (A \"fast\" one), Linux 6.18.")
  }

  @Test func `without the library there is no column for it, and no bar`() throws {
    let sections = try BenchMarkdown.sections(of: wholeReport(withLibrary: false))
    let figures = try #require(sections["bench-figures"])
    #expect(figures.hasPrefix("| work | floor | relay | ÷ floor | nats |\n"))
    let rows = try #require(sections["bench-rows"])
    #expect(!rows.contains("relay ÷ uWebSockets; "))
    #expect(rows.contains("relay ÷ floor; "))
  }

  @Test func `the whole report has each row, its extremes, and bars with a line`() throws {
    let report = wholeReport()
    let text = try #require(try BenchMarkdown.sections(of: report)["bench-rows"])
    for row in report.rows { #expect(text.contains("| `\(row.id)` | \(row.work) | ")) }
    #expect(text.contains(" | 0.80 (0.50–0.90) | 1.60 (1.00–2.00) | "))
    #expect(text.contains(" | fault | "))
    #expect(text.contains("\n- dms-1: nchan: not installed\n"))
    let lines = text.split(separator: "\n").map(String.init)
    // 40 characters for 1.60, the line at 1 after 25 of them.
    let bar = try #require(lines.first { $0.hasPrefix("dms-1  ") })
    #expect(bar.contains("1.60  " + String(repeating: "█", count: 25) + "▓"))
    #expect(bar.filter { "█▓".contains($0) }.count == 40)
    // 0.80 of 1.25 is short of the line.
    let floor = try #require(lines.last { $0.hasPrefix("dms-1  ") })
    #expect(floor.hasSuffix("0.80  " + String(repeating: "█", count: 32) + "        │"))
    #expect(lines.contains("growth of a cost; the line is at 1.20"))
    // A large value is cut off, so that the others can be seen.
    var wild = report
    wild.rows[wild.rows.count - 1].unit = .times
    wild.rows[wild.rows.count - 1].pairs = []
    wild.rows[wild.rows.count - 1].alone = 30
    let chart = try #require(try BenchMarkdown.sections(of: wild)["bench-rows"])
    #expect(chart.contains("rooms   1.50  " + String(repeating: "█", count: 13) + "▓███\n"))
    #expect(chart.contains("idle   30.00  " + String(repeating: "█", count: 13) + "▓"))
    #expect(chart.contains("█▶\n"))
  }

  @Test func `a report that is not whole has no tables`() throws {
    var report = wholeReport()
    report.extent = .quick
    #expect(throws: BenchMarkdown.Failure.self) { try BenchMarkdown.sections(of: report) }
    report.extent = .full
    report.rows.removeAll { $0.id == "dms-8" }
    #expect(
      throws: BenchMarkdown.Failure(
        description: "the report has no row dms-8: run `make bench` without --rows")
    ) { try BenchMarkdown.sections(of: report) }
    report = wholeReport()
    let place = try #require(report.rows.firstIndex { $0.id == "idle" })
    report.rows[place].fault = "3 connections lost"
    #expect(
      throws: BenchMarkdown.Failure(
        description: "the row idle has a fault, not a figure: 3 connections lost")
    ) { try BenchMarkdown.sections(of: report) }
  }
}

@Suite struct `Generated sections` {
  private static let sections = ["a": "| A |\n| B |\n", "b": "B\n"]
  private static let document = """
    before
    <!-- generated: a -->
    old
    <!-- generated: b -->
    <!-- end of a -->
    after

    """

  @Test func `what is between the lines is replaced, and nothing else`() throws {
    let text = try GeneratedSections.replaced(
      in: Self.document, name: "d.md", by: Self.sections)
    #expect(
      text == "before\n<!-- generated: a -->\n\n| A |\n| B |\n\n<!-- end of a -->\nafter\n")
    #expect(
      try GeneratedSections.replaced(in: text, name: "d.md", by: Self.sections) == text)
  }

  @Test(arguments: [
    ("text\n", "d.md has no line <!-- generated: NAME -->, with a NAME of a, b"),
    ("<!-- generated: c -->\n<!-- end of c -->", "d.md: there is no section \"c\"; sections: a, b"),
    ("<!-- generated: a -->\n", "d.md: the line <!-- end of a --> is missing"),
    ("<!-- generated: a -->\n<!-- end of b -->", "d.md: the line <!-- end of a --> is missing"),
  ])
  func `a document without a section is refused in a sentence`(document: String, reason: String) {
    #expect(throws: GeneratedSections.Failure(description: reason)) {
      try GeneratedSections.replaced(in: document, name: "d.md", by: Self.sections)
    }
  }

  @Test func `swarm figures writes documents, or none of them`() throws {
    let folder = try TemporaryFolder()
    try folder.write(BenchJSON.text(of: wholeReport()), to: "bench.json")
    let good = "<!-- generated: bench-figures -->\n<!-- end of bench-figures -->\n"
    try folder.write(good, to: "good.md")
    try folder.write("nothing\n", to: "bad.md")
    let command = "'\(Programs.swarm)' figures '\(folder["bench.json"])' '\(folder["good.md"])'"
    let refused = try Shell.run("\(command) '\(folder["bad.md"])'")
    #expect(refused.exitCode == 2)
    #expect(refused.output.hasPrefix("\(folder["bad.md"]) has no line <!-- generated: NAME -->"))
    #expect(try folder.read("good.md") == good)
    let written = try Shell.run(command)
    #expect(written.exitCode == 0, "\(written.output)")
    #expect(try folder.read("good.md").contains("| work of dms-1 | 100 k | 50.0 k | 90.0 k |"))
    let missing = try Shell.run("'\(Programs.swarm)' figures '\(folder["none.json"])' x.md")
    #expect(missing.exitCode == 2)
    #expect(missing.output.contains("open \(folder["none.json"]): No such file"))
  }
}
