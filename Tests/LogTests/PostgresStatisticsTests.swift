import PostgresLog
import Relay
import SQLiteLog
import TestSupport
import Testing

@Suite struct `Statistics of nodes that share a log` {
  @Test func `positions, nodes, locks and following are counted`() async throws {
    let nodes = try Nodes(2)
    for number in 1...3 { await nodes[0].submit([.append("general", "ada", "\(number)")]) }
    try await nodes.waitUntil { $0.count == 3 }
    func statistics(_ index: Int) throws -> NodeStatistics {
      try #require(nodes[index].log.statistics().node)
    }
    let first = try statistics(0)
    #expect(first.settingsAreRight)
    #expect(first.lockSeconds.count >= 3)
    #expect(first.lockSeconds.sum > 0)
    #expect(first.position >= 3)
    #expect(try statistics(1).followSeconds.count > 0)
    try await nodes.wait(for: "the beats") {
      (0..<2).allSatisfy { nodes[$0].log.statistics().node?.nodes == 2 }
    }
    // One of them leads, and both come to the same place.
    try await nodes.wait(for: "the same place") {
      let both = (0..<2).compactMap { nodes[$0].log.statistics().node }
      return both[0].position == both[1].position && both.allSatisfy { $0.batchesBehind == 0 }
        && both.count(where: \.leads) == 1
    }
  }

  @Test func `a lost connection shows, and so does its return`() async throws {
    let server = try PostgresServer()
    let nodes = try Nodes(1, on: server, failing: true)
    try await nodes.wait(for: "the connection") {
      nodes[0].log.statistics().node?.isConnected == true
    }
    try server.crash()
    try await nodes.wait(for: "the loss") {
      nodes[0].log.statistics().node?.isConnected == false
    }
    try server.restart()
    try await nodes.wait(for: "the return") {
      nodes[0].log.statistics().node?.isConnected == true
    }
  }

  @Test func `a log of one relay has none`() throws {
    let folder = try TemporaryFolder()
    let log = try SQLiteLog(folder: folder["data"])
    #expect(log.statistics().node == nil)
    log.stop()
  }
}
