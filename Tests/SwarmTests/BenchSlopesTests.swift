import Platform
import TestSupport
import Testing
import YAML

@testable import Swarm

@Suite struct `How costs grow` {
  @Test func `a cost that rises is compared with the least before it`() {
    #expect(Bench.growth([2, 1, 3]) == 3)
    #expect(Bench.growth([1, 1.1, 1.05]) == 1.1)
    #expect(Bench.growth([1]) == nil)
    #expect(Bench.growth([] as [Double]) == nil)
  }

  @Test func `a cost that falls is below one, not a fault`() {
    #expect(Bench.growth([4, 2, 1]) == 0.5)
    #expect(Bench.growth([[4.0, 4.2], [2.0, 2.1]]) == 0.5)
  }

  @Test func `turns are compared with themselves, so that a slow moment does not count`() {
    // The machine was three times slower during the second turn.
    #expect(Bench.growth([[1, 3, 1], [1.1, 3.3, 1.1]]).map { abs($0 - 1.1) < 1e-9 } == true)
    // One size of one turn was disturbed.
    #expect(Bench.growth([[1, 1, 1], [1, 9, 1]]) == 1)
    #expect(Bench.growth([[1, 1, 1], [1, 1, 1], [2, 2, 2]]) == 2)
    #expect(Bench.growth([[1, 1], []]) == nil)
  }

  @Test func `many connections come from several addresses`() {
    #expect(Bench.sources(for: 5000).isEmpty)
    #expect(Bench.sources(for: 18_000).map(\.host) == (1...4).map { "127.0.0.\($0)" })
  }

  @Test func `slopes are long: a usual run leaves them out, and their names select them`() throws {
    let names = BenchItem.slopes.flatMap(\.ids)
    #expect(names.count == 12)
    #expect(names.filter { $0.hasPrefix("two-") }.count == 6)
    #expect(BenchItem.all.filter(\.isLong).flatMap(\.ids) == names)
  }

  /// With small sizes; the figures mean nothing.
  @Test func `every slope is measured, and one with two loops, without a fault`() throws {
    let folder = try TemporaryFolder()
    try Floor.build(in: folder.path)
    let json = folder["bench.json"]
    let all = BenchItem.slopes.flatMap(\.ids)
    let names = all.filter { !$0.hasPrefix("two-") || $0 == all.last }
    let run = try Shell.run(
      "'\(Programs.swarm)' bench --quick --no-peers --rows \(names.joined(separator: ","))"
        + " --built '\(folder.path)' --json '\(json)' --peers '\(Project["LoadTests/peers"])'")
    #expect(run.exitCode == 0, "\(run.output)")
    let rows = try #require(YAMLDocument(try readBytes(json)).root).each("rows") { $0 }
    #expect(rows.map { $0.words("id") } == names)
    for row in rows {
      let id = row.words("id")
      let points = row.each("points") {
        (line: $0.words("line"), x: $0.figure("x") ?? -1, y: $0.figure("y") ?? -1)
      }
      #expect(row["fault"] == nil, "\(id)")
      #expect(row.figure("goal_at_most") == 1.2)
      try #require(points.count == 2, "\(id): \(points)")
      // The sizes of a store are compared with an empty one at the same moment.
      #expect(
        id.hasSuffix("stored-delivery")
          ? points.map(\.line) == ["empty", "relay"] && points[0].x >= 20_000
          : points[0].x < points[1].x)
      #expect(points.allSatisfy { $0.y > 0 })
      #expect(try #require(row.figure("relay")) > 0)
      #expect(row["shared"]?.boolean == id.hasPrefix("two-"))
    }
  }
}
