import TestSupport
import Testing

@testable import Swarm

/// The reports of a real run.
@Suite struct `swarm run's reports, end to end` {
  @Test func `the page and the JSON of one run say the same, second by second`() throws {
    let folder = try TemporaryFolder()
    let (page, json) = (folder["run.html"], folder["run.json"])
    let run = try SwarmProcess(
      playing: `swarm run, end to end`.scenario(
        spawn: "binary: '\(Programs.wrongRelay)', config: { fault: double }"),
      ["--html", page, "--json", json])
    #expect(run.exitCode == 3, "\(run.output)")
    let html = try readFile(page)
    #expect(Tags.fault(in: html) == nil)
    #expect(html.contains("A promise was broken</strong>"))
    // The relay is ours: its process was measured.
    #expect(html.contains("The relay&#39;s memory"))
    let bytes = try readBytes(json)
    let report = String(decoding: bytes, as: UTF8.self)
    let sends = report.split(separator: "\"sends\":").dropFirst().compactMap {
      Int($0.prefix { $0.isNumber })
    }
    #expect(sends.count >= 3)
    #expect(sends.reduce(0, +) == 450, "every send stands in one second: \(sends)")
    let comparison = try Comparison(bytes, bytes, files: (json, json))
    #expect(comparison.rows.contains { $0.name == "relay, peak memory, MiB" && $0.ratio == 1 })
  }
}
