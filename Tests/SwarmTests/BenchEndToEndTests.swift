import Glibc
import TestSupport
import Testing
import YAML

@testable import Swarm

/// The benchmark itself, on one row, with the floor built for it.
@Suite struct `swarm bench, end to end` {
  @Test func `floor and relay are measured in turn, and compared with a baseline`() throws {
    let folder = try TemporaryFolder()
    try Floor.build(in: folder.path)
    let json = folder["bench.json"]
    let arguments =
      "--quick --no-peers --rows room-1 --built '\(folder.path)' --json '\(json)'"
      + " --peers '\(Project["LoadTests/peers"])' --fact 'colour=blue'"
    let run = try Shell.run("'\(Programs.swarm)' bench \(arguments)")
    #expect(run.exitCode == 0, "\(run.output)")
    #expect(run.output.contains("colour: blue"))
    #expect(run.output.contains("room of 1,000"))
    let report = try #require(YAMLDocument(try readBytes(json)).root)
    #expect(report.words("extent") == "quick")
    let rows = report.each("rows") { $0 }
    #expect(rows.map { $0.words("id") } == ["room-1"])
    let row = try #require(rows.first)
    #expect(row["fault"] == nil)
    #expect(row["pairs"]?.list?.count == 1)
    #expect(try #require(row.figure("floor")) > 1000)
    #expect(try #require(row.figure("ratio")) > 0.001)
    // The folders of its servers are removed.
    #expect(folder.names == ["bench.json", "floor"])

    // Compared with a baseline that no server reaches.
    try folder.write(
      #"{"bench":1,"rows":[{"id":"room-1","ratio":1000}]}"#, to: "baseline.json")
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
