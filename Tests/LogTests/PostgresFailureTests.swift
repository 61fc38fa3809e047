import Postgres
import PostgresLog
import Relay
import Synchronization
import TestSupport
import Testing
import Wire

/// Nodes whose PostgreSQL fails. Each test has a server of its own.
@Suite struct `A log in PostgreSQL that fails` {
  /// Sends until everything is acknowledged: what was refused is sent again, with the same id.
  /// - Returns: the `seq` of each id.
  static func send(
    _ count: Int, as user: String, through node: LogHarness
  ) async throws -> [String: Int64] {
    var open = (0..<count).map { "\($0)" }
    var seqs: [String: Int64] = [:]
    var attempt: UInt32 = 0
    while !open.isEmpty {
      // Attempts and not seconds: beside other tests a task may wait for its thread for a minute.
      if attempt > 2000 { throw Unexpected("\(open.count) entries were never acknowledged") }
      attempt += 1
      // Another session, since the log refuses later sends of this one for a second.
      let session = SessionID(index: 1, generation: attempt)
      let ids = open.prefix(3)
      let delivery = await node.submit(ids.map { .append("general", user, $0, session: session) })
      for ack in delivery.acks { seqs[ack.id] = ack.seq }
      open.removeAll { seqs[$0] != nil }
      if !delivery.refusals.isEmpty { try await Task.sleep(for: .milliseconds(20)) }
    }
    return seqs
  }

  /// Two nodes send while `harm` is done, and have to agree on everything afterwards.
  func check(
    entries: Int, _ harm: @escaping @Sendable (PostgresServer) async throws -> Void
  ) async throws {
    let server = try PostgresServer(settings: ["fsync=off"])
    let nodes = try Nodes(2, on: server, failing: true)
    let (first, second) = (nodes[0], nodes[1])
    async let harmed: Void = harm(server)
    async let ada = Self.send(entries, as: "ada", through: first)
    async let bo = Self.send(entries, as: "bo", through: second)
    let seqs = try await [ada, bo]
    try await harmed
    let total = Int64(entries * 2)
    #expect(Set(seqs.flatMap(\.values)) == Set(1...total))
    try await nodes.waitUntil { $0.count == total }
    #expect(nodes[0].entries() == nodes[1].entries())
    #expect(nodes[0].entries().map(\.seq) == Array(1...total))
    for entry in nodes[0].entries() {
      #expect(seqs[entry.from == "ada" ? 0 : 1][entry.id] == entry.seq)
    }
  }

  @Test func `stores each entry once, however often its connections are ended`() async throws {
    try await check(entries: 300) { server in
      let operatorConnection = try PostgresConnection(server.url)
      let end = PostgresStatement(
        once: """
          SELECT count(pg_terminate_backend(pid)) FROM (
            SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'relay %'
            ORDER BY random() LIMIT 1) AS victim
          """)
      for _ in 0..<60 {
        try operatorConnection.run(end())
        try await Task.sleep(for: .milliseconds(25))
      }
    }
  }

  @Test func `stores each entry once over crashes of the server`() async throws {
    try await check(entries: 200) { server in
      for _ in 0..<3 {
        try await Task.sleep(for: .milliseconds(300))
        try server.crash()
        try server.restart()
      }
    }
  }

  @Test func `refuses while there is no server, and goes on afterwards`() async throws {
    let server = try PostgresServer()
    let nodes = try Nodes(1, on: server, failing: true)
    #expect(await nodes[0].submit([.append("general", "ada", "a1")]).acks.map(\.seq) == [1])
    try server.crash()
    let refused = await nodes[0].submit([.append("general", "ada", "a2")]).refusals
    #expect(refused.map(\.code) == [.unavailable])
    guard case .error(let error)? = await nodes[0].history(.init(room: "general")) else {
      throw Unexpected("history was answered without a server")
    }
    #expect(error.code == .unavailable)
    try server.restart()
    #expect(try await Self.send(3, as: "bo", through: nodes[0]).count == 3)
    #expect(nodes.reports.contains { $0.hasPrefix("Writing fails") })
    try await nodes.wait(for: "the report") {
      nodes.reports.contains { $0.hasPrefix("Writing works again") }
    }
  }

  /// Removes the last batches from a database, as a restored backup would not have them.
  private func lose(
    entriesAfter seq: Int64, batches: Int64, _ nodes: borrowing Nodes, _ server: PostgresServer
  )
    throws
  {
    let connection = try PostgresConnection(
      "\(server.url) options='-c search_path=\(nodes.schema)'")
    try connection.run(
      PostgresStatement(once: "DELETE FROM entries WHERE seq > $1::bigint")(.int(seq)),
      PostgresStatement(
        once: "DELETE FROM feed WHERE position > (SELECT max(position) - $1::bigint FROM feed)")(
          .int(batches)))
  }

  @Test func `starts again in place where a restored database has less, and tells what was lost`()
    async throws
  {
    let server = try PostgresServer()
    let nodes = try Nodes(2, on: server, failing: true)
    let seqs = try await Self.send(6, as: "ada", through: nodes[0])
    #expect(seqs.count == 6)
    try await nodes.waitUntil { $0.count == 6 }
    let epoch = await nodes[0].subscribe("general", as: "ada")?.epoch
    try lose(entriesAfter: 3, batches: 2, nodes, server)
    try server.crash()
    try server.restart()
    for index in 0..<2 {
      try await nodes.wait(for: "node \(index) to start again") {
        nodes[index].deliveries().contains { $0.newEpoch != nil }
      }
      let joined = await nodes[index].subscribe("general", as: "ada", after: 6, epoch: epoch)
      #expect(joined?.epoch != epoch)
      #expect(joined?.resume == .diverged)
      #expect(joined?.after == 3)
      #expect(joined?.lineage.count == 2)
    }
    #expect(nodes.ends.isEmpty)
    #expect(nodes.reports.contains { $0.contains("no longer has batch") })
    // One order again, in which nothing of before is doubled.
    let later = try await Self.send(3, as: "bo", through: nodes[1])
    #expect(Set(later.values) == [4, 5, 6])
    try await nodes.wait(for: "the entries on the other node") {
      nodes[0].entries().filter { $0.from == "bo" }.map(\.seq) == [4, 5, 6]
    }
  }
}
