import Postgres
import PostgresLog
import Relay
import TestSupport
import Testing
import Wire

/// Files in a log that several relays share.
@Suite struct `Files that nodes share` {
  private static let file = StoredFile(
    id: String(repeating: "f", count: 22), owner: "ada", hash: String(repeating: "a", count: 64),
    description: FileDescription(size: 100, mediaType: "text/plain"), uploadedAt: 1_000)

  private static func send(_ id: String) -> LogRequest {
    .append(.init(room: "r", id: id, file: .init(id: file.id, name: "a.txt")), from: "ada")
  }

  private static func unused(_ node: LogHarness) async -> [String] {
    guard case .file(_, .hashes(let hashes)) = await node.read({ _ in .file(.unused, .upkeep) })
    else { return ["no answer"] }
    return hashes
  }

  @Test func `a file that was stored at one node is sent at another, and deleted at a third`()
    async throws
  {
    let nodes = try Nodes(3)
    await nodes[0].submit([.file(.add(Self.file), .upkeep)])
    let sent = await nodes[1].submit([Self.send("1")])
    #expect(sent.refusals == [])
    try await nodes.waitUntil { $0.last?.file?.description?.size == 100 }
    #expect(await nodes[2].submit([Self.send("1")]).acks.map(\.duplicate) == [true])
    await nodes[2].submit([.append(.init(room: "r", id: "2", delete: 1), from: "ada")])
    for node in 0..<3 {
      #expect(await Self.unused(nodes[node]) == [Self.file.hash])
    }
    #expect(await nodes[1].submit([Self.send("3")]).refusals.map(\.code) == [.noSuchEntry])
    await nodes[0].submit([.file(.removed([Self.file.hash]), .upkeep)])
    #expect(await Self.unused(nodes[2]) == [])
  }

  @Test func `an administrator who deletes rows in SQL takes files along, too`() async throws {
    let server = try PostgresServer.shared.get()
    var options = PostgresLog.Options()
    options.schema = server.newSchema()
    options.requiresSync = false
    let log = try PostgresLog(
      url: server.url, options: options, report: { Issue.record("\($0)") },
      end: { Issue.record("\($0)") })
    defer { log.stop() }
    let node = try LogHarness(log)
    await node.submit([.file(.add(Self.file), .upkeep)])
    await node.submit([Self.send("1")])
    // The search path of this session does not have the tables.
    try PostgresConnection(server.url).run(
      PostgresStatement(once: "DELETE FROM \(options.schema).file_entries")())
    #expect(await Self.unused(node) == [Self.file.hash])
  }
}
