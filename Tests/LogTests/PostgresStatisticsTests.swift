import PostgresLog
import Relay
import TestSupport
import Testing

@Suite struct `Statistics of nodes that share a log` {
  @Test func `positions, nodes, locks and following are counted`() async throws {
    let nodes = try Nodes(2)
    for number in 1...3 { await nodes[0].submit([.append("general", "ada", "\(number)")]) }
    try await nodes.waitUntil { $0.count == 3 }
    let first = nodes.statistics(0)
    #expect(first.settingsAreRight)
    #expect(first.lockSeconds.count >= 3)
    #expect(first.lockSeconds.sum > 0)
    #expect(first.position >= 3)
    #expect(nodes.statistics(1).followSeconds.count > 0)
    try await nodes.wait(for: "the beats") {
      (0..<2).allSatisfy { nodes.statistics($0).nodes == 2 }
    }
    // One of them leads, and both come to the same place.
    try await nodes.wait(for: "the same place") {
      let both = (0..<2).map { nodes.statistics($0) }
      return both[0].position == both[1].position && both.allSatisfy { $0.batchesBehind == 0 }
        && both.count(where: \.leads) == 1
    }
  }

  @Test func `a lost connection shows, and so does its return`() async throws {
    let server = try PostgresServer()
    let nodes = try Nodes(1, on: server, failing: true)
    try await nodes.wait(for: "the connection") {
      nodes.statistics(0).isConnected
    }
    try server.crash()
    try await nodes.wait(for: "the loss") {
      !nodes.statistics(0).isConnected
    }
    try server.restart()
    try await nodes.wait(for: "the return") {
      nodes.statistics(0).isConnected
    }
  }
}

extension Nodes {
  fileprivate func statistics(_ index: Int) -> NodeStatistics {
    (self[index].log as? PostgresLog)?.nodeStatistics() ?? NodeStatistics()
  }
}
