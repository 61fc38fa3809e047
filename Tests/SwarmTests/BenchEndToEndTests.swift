import Glibc
import TestSupport
import Testing

@testable import Swarm

/// The benchmark itself, on one row, with the floor built for it.
@Suite struct `swarm bench, end to end` {
  @Test func `floor and relay are measured in turn, and JSON and page are written`() throws {
    let folder = try TemporaryFolder()
    try Floor.build(in: folder.path)
    let (json, page) = (folder["bench.json"], folder["bench.html"])
    let arguments =
      "--quick --no-peers --rows room-1 --built '\(folder.path)' --json '\(json)' --html '\(page)'"
      + " --peers '\(Project["LoadTests/peers"])' --fact 'colour=blue'"
    let run = try Shell.run("'\(Programs.swarm)' bench \(arguments)")
    #expect(run.exitCode == 0, "\(run.output)")
    let report = try BenchJSON.read(try readBytes(json), file: json)
    #expect(report.extent == .quick)
    #expect(report.facts.contains(.init("colour", "blue")))
    let row = try #require(report.rows.first)
    #expect(report.rows.map(\.id) == ["room-1"])
    #expect(row.fault == nil)
    #expect(row.pairs.count == 1)
    #expect(try #require(row.floor) > 1000)
    #expect(try #require(row.ratio) > 0.001)
    #expect(run.output.contains("room of 1,000"))
    #expect(Tags.fault(in: try readFile(page)) == nil)
    // The folders of its servers are removed.
    #expect(folder.names == ["bench.html", "bench.json", "floor"])

    // Compared with a baseline that no server reaches.
    var baseline = report
    baseline.rows[0].pairs = [.init(floor: 1, relay: 1000)]
    try folder.write(BenchJSON.text(of: baseline), to: "baseline.json")
    let again = try Shell.run(
      "'\(Programs.swarm)' bench \(arguments) --baseline '\(folder["baseline.json"])'")
    #expect(again.exitCode == 1, "\(again.output)")
    #expect(again.output.contains("regression: room-1"))
  }

  @Test func `missing programs and wrong arguments are reported in a sentence`() throws {
    let folder = try TemporaryFolder()
    let peers = "--peers '\(Project["LoadTests/peers"])'"
    let noFloor = try Shell.run("'\(Programs.swarm)' bench --built '\(folder.path)' \(peers)")
    #expect(noFloor.exitCode == 5)
    #expect(noFloor.output == "\(folder.path)/floor is missing; `make bench` builds it\n")
    let noRow = try Shell.run(
      "'\(Programs.swarm)' bench --rows lightspeed --built '\(folder.path)' \(peers)")
    #expect(noRow.exitCode == 2)
    #expect(noRow.output.hasPrefix("there is no row \"lightspeed\"; rows: echo-1, "))
    let noFolder = try Shell.run("'\(Programs.swarm)' bench --built '\(folder.path)/none' \(peers)")
    #expect(noFolder.exitCode == 2)
    #expect(noFolder.output.contains("there is no folder \(folder.path)/none"))
  }

  @Test func `the floor echoes messages of any length`() throws {
    let folder = try TemporaryFolder()
    try Floor.build(in: folder.path)
    let places = BenchProgram.Places(commands: folder.path, built: folder.path, peers: folder.path)
    let server = try BenchServer(
      .floor(places, deliveryBytes: 240), in: folder.path, processor: nil)
    for bytes in [17, 125, 126, 240, 20_000, 65_536] {
      var plan = RawLoad.Plan(
        url: try #require(server.url(echo: true)), dialect: .echo)
      plan.rooms = 3
      plan.work = .publish(.window(5))
      plan.textBytes = bytes
      plan.warmUpSeconds = 0
      plan.seconds = 0.05
      let result = try RawLoad(plan).play()
      #expect(result.counts.deliveries > 0)
      #expect(result.missing == 0)
      #expect(result.connectionsLost == 0)
    }
  }
}
