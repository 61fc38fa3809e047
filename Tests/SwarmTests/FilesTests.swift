import TestSupport
import Testing

@testable import Swarm

/// The command itself, with real relays and clients that are killed.
@Suite struct `swarm files` {
  private static func run(_ arguments: String) throws -> (exitCode: Int32, output: String) {
    try Shell.run("'\(Programs.swarm)' files --quiet \(arguments)")
  }

  @Test func `every acknowledged file is there after kills of the relay and of clients`() throws {
    let run = try Self.run(
      "--uploads 40 --clients 4 --largest-bytes 2000000 --relay-kills 2 --client-kills 2")
    #expect(run.exitCode == 0, "\(run.output)")
    #expect(run.output.contains("2 kills of the relay and 2 of clients"), "\(run.output)")
    #expect(run.output.contains("40 acknowledged"), "\(run.output)")
  }

  @Test(arguments: ["--uploads 0", "--clients 0", "--largest-bytes 1023", "--relay-kills=-1"])
  func `numbers that make no sense are refused`(arguments: String) throws {
    #expect(try Self.run(arguments).exitCode == 2)
  }
}

@Suite struct `The plan of a run with files` {
  private func plan(seed: UInt64 = 1) -> FilePlan {
    var settings = FilePlan.Settings()
    settings.seed = seed
    return FilePlan(settings)
  }

  @Test func `a seed is a plan, and another one another`() {
    #expect(plan().uploads.map(\.seed) == plan().uploads.map(\.seed))
    #expect(plan().uploads.map(\.seed) != plan(seed: 2).uploads.map(\.seed))
  }

  @Test func `sizes are between the limits, the small ones as frequent as the large ones`() {
    let sizes = plan().uploads.map(\.bytes)
    #expect(sizes.allSatisfy { FilePlan.smallestBytes...FilePlan.largestBytes ~= $0 })
    // The geometric middle of both limits.
    #expect(400...600 ~= sizes.count { $0 < 163_840 })
  }

  @Test func `equal files, and only these, have equal bytes`() throws {
    let uploads = plan().uploads.filter { $0.bytes < 200_000 }.prefix(50)
    for (first, second) in zip(uploads, uploads.dropFirst()) {
      let isSame = first.seed == second.seed && first.bytes == second.bytes
      #expect((first.content == second.content) == isSame)
    }
    let large = try #require(plan().uploads.first { $0.bytes > 200_000 })
    #expect(large.content.count == large.bytes)
    #expect(large.content[..<65_536] != large.content[65_536..<131_072])
  }

  @Test func `kills are spread over the uploads`() {
    let plan = plan()
    var counts: [Int] = []
    for acknowledged in 0...1000
    where plan.isKillDue(after: counts.count, acknowledged: acknowledged) {
      counts.append(acknowledged)
    }
    #expect(counts.count == 60)
    #expect(zip(counts, counts.dropFirst()).allSatisfy { 15...18 ~= $1 - $0 })
    #expect(plan.kills.count { $0 == .relay } == 30)
  }
}

@Suite struct `The journal of a client of files` {
  @Test func `its steps are read again, also as they are added`() throws {
    let folder = try TemporaryFolder()
    let writer = try FileJournal(folder["journal"])
    let reader = try FileJournal(folder["journal"])
    #expect(reader.uploads.isEmpty)
    try writer.append(.created, 5, "abc")
    try writer.append(.uploaded, 5, "abc")
    try writer.append(.acknowledged, 5, "17")
    try writer.append(.created, 6, "def")
    try reader.readNews()
    #expect(reader.acknowledged == 1)
    #expect(
      reader.uploads[5]
        == .init(creations: 1, file: "abc", isUploaded: true, seq: 17))
    try writer.append(.served, 5)
    try writer.append(.finished, 5)
    try writer.append(.created, 6, "ghi")
    #expect(try FileJournal(folder["journal"]).uploads[6]?.creations == 2)
    try reader.readNews()
    #expect(reader.uploads[5]?.isFinished == true)
  }
}
