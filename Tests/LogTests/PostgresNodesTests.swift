import PostgresLog
import Relay
import Synchronization
import TestSupport
import Testing
import Wire

/// Several relays on one PostgreSQL: what each of them publishes, in memory of their loops.
@Suite struct `Nodes that share a log` {
  /// Runs a test against nodes that have just started, and stops them.
  func withNodes(
    _ count: Int, _ test: (borrowing Nodes) async throws -> Void
  ) async throws {
    let nodes = try Nodes(count)
    try await test(nodes)
  }

  @Test func `entries of all nodes have one order, in which every node publishes them`()
    async throws
  {
    try await withNodes(3) { nodes in
      try await withThrowingTaskGroup(of: [ServerMessage.Ack].self) { group in
        for index in 0..<3 {
          let node = nodes[index]
          group.addTask {
            var acks: [ServerMessage.Ack] = []
            for batch in 0..<30 {
              acks += await node.submit(
                (0..<5).map {
                  .append(["even", "odd"][$0 % 2], "user\(index)", "\(batch)-\($0)")
                }
              ).acks
            }
            return acks
          }
        }
        var acks: [ServerMessage.Ack] = []
        for try await more in group { acks += more }
        #expect(acks.count == 450)
        for room in ["even", "odd"] {
          let total = acks.filter { $0.room == room }.count
          try await nodes.waitUntil { $0.filter { $0.room == room }.count == total }
          let published = (0..<3).map { nodes[$0].entries().filter { $0.room == room } }
          #expect(published.allSatisfy { $0.map(\.seq) == Array(1...Int64(total)) })
          #expect(published[0] == published[1])
          #expect(published[1] == published[2])
          let places = Dictionary(
            uniqueKeysWithValues: published[0].map { ("\($0.from) \($0.id)", $0.seq) })
          #expect(places.count == total)
          #expect(published[0].allSatisfy { zip([$0.at], [$0.at]).allSatisfy { $0 <= $1 } })
          #expect(
            Set(acks.filter { $0.room == room }.map(\.seq)) == Set(1...Int64(total)))
        }
      }
    }
  }

  @Test func `an id that another node has stored is a duplicate`() async throws {
    try await withNodes(2) { nodes in
      let first = await nodes[0].submit([.append("general", "ada", "a1")]).acks
      let again = await nodes[1].submit([.append("general", "ada", "a1")]).acks
      #expect(again.map(\.seq) == first.map(\.seq))
      #expect(again.map(\.duplicate) == [true])
      let other = await nodes[1].submit([.append("general", "ada", "a1", text: "other")])
      #expect(other.refusals.map(\.code) == [.idConflict])
    }
  }

  @Test func `a join sees what another node has committed, and misses nothing after it`()
    async throws
  {
    try await withNodes(2) { nodes in
      await nodes[0].submit([.append("general", "ada", "a1"), .append("general", "ada", "a2")])
      let joined = await nodes[1].subscribe("general", as: "bo", after: 0)
      #expect(joined?.head == 2)
      #expect(joined?.members?.map(\.user) == ["ada", "bo"])
      #expect(await nodes[1].page("general", after: 0, through: 2)?.frames.count == 2)
      await nodes[0].submit([.append("general", "ada", "a3")])
      try await nodes.waitUntil { $0.last?.seq == 3 }
      // The node's next entry follows at once.
      #expect(await nodes[1].submit([.append("general", "bo", "b1")]).acks.map(\.seq) == [4])
    }
  }

  @Test func `marks, memberships and typing reach the other nodes`() async throws {
    try await withNodes(2) { nodes in
      await nodes[0].submit([
        .append("general", "ada", "a1"), .subscribe("general", "bo"),
        .append("general", "ada", "a2"),
      ])
      await nodes[1].submit([
        .mark(room: "general", Marks(user: "bo", read: 2, received: 2)),
        .typing(room: "general", user: "bo", on: true),
      ])
      try await nodes.wait(for: "bo's marks") {
        nodes[0].commits.contains { commit in
          commit.marks.contains { $0.marks.user == "bo" && $0.marks.read == 2 }
        }
      }
      #expect(nodes[0].commits.flatMap(\.typing).map(\.user) == ["bo"])
      await nodes[1].submit([.forget(room: "general", user: "bo")])
      try await nodes.wait(for: "bo's leaving") {
        nodes[0].commits.flatMap(\.membershipChanges).contains { $0.user == "bo" && !$0.belongs }
      }
      #expect(
        await nodes[0].subscribe("general", as: "ada")?.members?.map(\.user) == ["ada"])
    }
  }

  @Test func `unread entries are counted alike on every node`() async throws {
    try await withNodes(2) { nodes in
      await nodes[0].submit([.append("general", "ada", "a0"), .subscribe("general", "bo")])
      for number in 1...5 {
        await nodes[number % 2].submit([.append("general", "ada", "a\(number)")])
      }
      await nodes[1].submit([.append("general", "bo", "b1")])
      await nodes[0].submit([.append("general", "ada", "a6")])
      for index in 0..<2 {
        let rooms = await nodes[index].memberships(of: "bo")
        #expect(rooms.map(\.head) == [8])
        #expect(rooms.map(\.unread.count) == [6])
        #expect(await nodes[index].memberships(of: "ada").map(\.unread.count) == [1])
      }
    }
  }

  @Test func `edits, reactions and deletions on another node count, and redact everywhere`()
    async throws
  {
    try await withNodes(2) { nodes in
      await nodes[0].submit([.append("general", "ada", "a1", text: "secret")])
      let send = { (id: String, kind: EntryKind, user: String) -> LogRequest in
        let send =
          switch kind {
          case .edit: ClientMessage.Send(room: "general", id: id, edit: 1, text: "changed")
          case .react: ClientMessage.Send(room: "general", id: id, react: 1, emoji: "👍", isOn: true)
          default: ClientMessage.Send(room: "general", id: id, delete: 1)
          }
        return .append(send, from: user)
      }
      #expect(await nodes[1].submit([send("e1", .edit, "ada")]).acks.map(\.seq) == [2])
      #expect(await nodes[0].submit([send("r1", .react, "bo")]).acks.map(\.seq) == [3])
      var request = ClientMessage.HistoryRequest(room: "general")
      request.isFolded = true
      guard case .history(let page)? = await nodes[1].history(request) else {
        throw Unexpected("no history")
      }
      #expect(page.entries.map(\.text) == ["changed"])
      #expect(page.entries.first?.reactions.map(\.users) == [["bo"]])
      #expect(await nodes[1].submit([send("d1", .delete, "ada")]).acks.map(\.seq) == [4])
      try await nodes.wait(for: "the redaction") {
        nodes[0].commits.flatMap(\.redactions).contains { $0.room == "general" }
      }
      let read = await nodes[0].page("general", after: 0, through: 4)
      #expect(read?.frames.entries.map(\.text) == ["", "", nil, nil])
    }
  }

  @Test func `a user is present as long as one node has a session`() async throws {
    try await withNodes(2) { nodes in
      await nodes[0].submit([.presence(user: "ada", from: .offline, to: .online)])
      try await nodes.wait(for: "ada online") { nodes[1].presence(of: "ada") == .online }
      await nodes[1].submit([.presence(user: "ada", from: .offline, to: .away)])
      await nodes[0].submit([.presence(user: "ada", from: .online, to: .offline)])
      try await nodes.wait(for: "ada away") {
        nodes[0].presence(of: "ada") == .away && nodes[1].presence(of: "ada") == .away
      }
      await nodes[1].submit([.presence(user: "ada", from: .away, to: .offline)])
      try await nodes.wait(for: "ada offline") { nodes[0].presence(of: "ada") == .offline }
    }
  }

  @Test
  func `a node that starts later learns who is present, and one that ends takes its users along`()
    async throws
  {
    try await withNodes(1) { nodes in
      await nodes[0].submit([.presence(user: "ada", from: .offline, to: .online)])
      let later = try nodes.start()
      try await nodes.wait(for: "ada online") {
        later.presence(of: "ada") == .online
      }
      await later.submit([.presence(user: "bo", from: .offline, to: .online)])
      try await nodes.wait(for: "bo online") { nodes[0].presence(of: "bo") == .online }
      later.log.stop()
      try await nodes.wait(for: "bo offline") { nodes[0].presence(of: "bo") == .offline }
    }
  }

  @Test func `a room in memory on two nodes is stored once, with the members of both`()
    async throws
  {
    try await withNodes(2) { nodes in
      _ = await nodes[0].subscribe("new", as: "ada")
      _ = await nodes[1].subscribe("new", as: "bo")
      #expect(await nodes[0].submit([.append("new", "ada", "a1")]).acks.map(\.seq) == [1])
      #expect(await nodes[1].submit([.append("new", "bo", "b1")]).acks.map(\.seq) == [2])
      for index in 0..<2 {
        let joined = await nodes[index].subscribe("new", as: "cy")
        #expect(joined?.members?.map(\.user) == ["ada", "bo", "cy"])
      }
      #expect(await nodes[0].memberships(of: "bo").map(\.room) == ["new"])
    }
  }

  @Test func `a room of many members is stored before its first entry, with those of all nodes`()
    async throws
  {
    try await withNodes(2) { nodes in
      await nodes[1].submit([.subscribe("r", "cy")])
      await nodes[0].submit((1...600).map { .subscribe("r", "u\($0)") })
      #expect(await nodes[1].memberships(of: "u501").map(\.room) == ["r"])
      #expect(await nodes[1].submit([.append("r", "cy", "1")]).acks.map(\.seq) == [1])
      try await nodes.waitUntil { $0.last?.room == "r" }
      #expect(await nodes[0].memberships(of: "cy").map(\.unread) == [Unread()])
      #expect(await nodes[0].memberships(of: "u501").map(\.unread) == [Unread(1)])
      #expect(await nodes[0].submit([.append("r", "u7", "1")]).acks.map(\.seq) == [2])
    }
  }

  @Test func `a room is trimmed by the node that fills it, for all`() async throws {
    let nodes = try Nodes(2, keepEntriesPerRoom: 10)
    for number in 1...30 {
      await nodes[number % 2].submit([.append("general", "ada", "a\(number)")])
    }
    let joined = await nodes[0].subscribe("general", as: "bo", after: 0)
    let other = await nodes[1].subscribe("general", as: "bo", after: 0)
    #expect(joined?.first == other?.first)
    #expect((20...21).contains(joined?.first ?? 0))
    #expect(joined?.resume == .truncated)
    // Its id may be used again.
    #expect(
      await nodes[0].submit([.append("general", "ada", "a1")]).acks.map(\.duplicate) == [false])
  }
}

/// Nodes on one schema.
struct Nodes: ~Copyable {
  /// What the nodes report, in tests where they may fail.
  private final class Notes: Sendable {
    let reports = Mutex<[String]>([])
    let ends = Mutex<[String]>([])
  }
  private let server: PostgresServer
  private let options: PostgresLog.Options
  private let started: [LogHarness]
  private let notes: Notes?

  /// - Parameters:
  ///   - server: `nil` = the one that all tests share.
  ///   - mayFail: whether the nodes' reports are noted, instead of failing the test.
  init(
    _ count: Int, keepEntriesPerRoom: Int64 = 0, on server: PostgresServer? = nil,
    failing mayFail: Bool = false
  ) throws {
    let server = try server ?? PostgresServer.shared.get()
    var options = PostgresLog.Options()
    options.schema = server.newSchema()
    options.requiresSync = false
    options.retention = .keeping(keepEntriesPerRoom)
    let notes = mayFail ? Notes() : nil
    var started: [LogHarness] = []
    for _ in 0..<count { started.append(try Self.start(server, options, notes)) }
    self.server = server
    self.options = options
    self.notes = notes
    self.started = started
  }

  deinit { for harness in started { harness.log.stop() } }

  var schema: String { options.schema }
  var reports: [String] { notes?.reports.withLock { $0 } ?? [] }
  /// Why nodes have ended.
  var ends: [String] { notes?.ends.withLock { $0 } ?? [] }

  /// Starts one more, which the caller stops.
  func start() throws -> LogHarness { try Self.start(server, options, notes) }

  private static func start(
    _ server: PostgresServer, _ options: PostgresLog.Options, _ notes: Notes?
  ) throws -> LogHarness {
    try LogHarness(
      PostgresLog(
        url: server.url, options: options,
        report: { text in
          guard let notes else {
            Issue.record("\(text)")
            return
          }
          notes.reports.withLock { $0.append(text) }
        },
        end: { text in
          guard let notes else {
            Issue.record("\(text)")
            return
          }
          notes.ends.withLock { $0.append(text) }
        }))
  }

  subscript(index: Int) -> LogHarness { started[index] }

  /// Waits until the entries that each node has published satisfy the condition.
  func waitUntil(_ condition: ([Entry]) -> Bool) async throws {
    for harness in started {
      try await wait(for: "entries") { condition(harness.entries()) }
    }
  }

  func wait(for what: String, _ condition: () -> Bool) async throws {
    // Looks and not seconds: beside other tests a task may wait for its thread for a minute.
    var looks = 0
    while !condition() {
      looks += 1
      if looks > 6000 {
        throw Unexpected("waited in vain for \(what); nodes reported: \(reports + ends)")
      }
      try await Task.sleep(for: .milliseconds(5))
    }
  }
}

extension LogHarness {
  /// The commits published to a loop so far.
  var commits: [Commit] { deliveries().compactMap(\.commit) }

  /// The presence that was published last.
  func presence(of user: String) -> Presence? {
    commits.flatMap(\.presences).last { $0.user == user }?.presence
  }
}
