import Platform
import PostgresLog
import Relay
import SQLiteLog
import Synchronization
import TestSupport
import Testing
import Wire

/// The rules of retention, in every log.
@Suite struct `Retention by rules` {
  private typealias Send = ClientMessage.Send

  private static func page(
    of room: String, in harness: LogHarness
  ) async -> ServerMessage.HistoryPage? {
    guard case .history(let page) = await harness.history(.init(room: room)) else { return nil }
    return page
  }

  private static func rule(
    _ rooms: String, seconds: Double? = nil, entries: Int64? = nil, bytes: Int64? = nil
  ) -> Retention {
    Retention([
      .init(
        rooms: RoomPattern(rooms), milliseconds: seconds.map { Int64($0 * 1000) },
        entries: entries, bytes: bytes)
    ])
  }

  private static func send(_ count: Int, to room: String = "r", in harness: LogHarness) async {
    let head = await page(of: room, in: harness)?.head ?? 0
    await harness.submit((0..<count).map { .append(room, "ada", "\(Int(head) + $0 + 1)") })
  }

  @Test(arguments: Conformer.allCases)
  func `a quiet room keeps exactly the number of entries of its rule`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run(retention: Self.rule("r", entries: 100)) { harness in
      await Self.send(105, in: harness)
      await Self.send(105, to: "other", in: harness)
      try await harness.becomesFirst(6)
      #expect(await Self.page(of: "other", in: harness)?.first == 1)
      let joined = await harness.subscribe("r", as: "bo", after: 2)
      #expect(joined?.resume == .truncated)
      #expect(joined?.after == 5)
      #expect(joined?.head == 105)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `a room keeps the newest entries that have the size of its rule together`(
    _ conformer: Conformer
  ) async throws {
    // An entry has {"text":"hi"} without its braces: 11 bytes.
    try await conformer.run(retention: Self.rule("r", bytes: 115)) { harness in
      await Self.send(30, in: harness)
      try await harness.becomesFirst(21)
      #expect(await Self.page(of: "r", in: harness)?.entries.map(\.seq) == Array(21...30))
      await Self.send(3, in: harness)
      try await harness.becomesFirst(24)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `all entries of a room go by their age, and its numbers go on`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run(retention: Self.rule("r", seconds: 1)) { harness in
      await Self.send(5, in: harness)
      await Self.send(1, to: "other", in: harness)
      try await harness.becomesFirst(6)
      let page = await Self.page(of: "r", in: harness)
      #expect(page?.entries == [])
      #expect(page?.head == 5)
      #expect(await Self.page(of: "other", in: harness)?.first == 1)
      // The loops are told: they have the last entries in memory.
      let trims = harness.deliveries().flatMap { $0.commit?.trims ?? [] }
      #expect(trims.contains { $0.room == "r" && $0.first == 6 })
      let memberships = await harness.memberships(of: "ada")
      let membership = try #require(memberships.first { $0.room == "r" })
      #expect(membership.unread.count == 0)
      let joined = await harness.subscribe("r", as: "bo", after: 5, epoch: harness.log.epoch)
      #expect(joined?.resume == .ok)
      #expect(joined?.head == 5)
      #expect(joined?.first == 6)
      #expect(joined?.members?.first { $0.user == "ada" }?.read == 5)
      let behind = await harness.subscribe("r", as: "cy", after: 3, epoch: harness.log.epoch)
      #expect(behind?.resume == .truncated)
      // The id of an entry that is gone is free.
      let acks = await harness.submit([.append("r", "ada", "5")]).acks
      #expect(acks.map(\.seq) == [6])
      #expect(acks.map(\.duplicate) == [false])
    }
  }

  @Test(arguments: Conformer.allCases)
  func `what entries have made of a room stays when they have gone by their age`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run(retention: Self.rule("den", seconds: 1)) { harness in
      var settings = RoomSettings.Change()
      settings.access = .private
      settings.title = "Den"
      await harness.submit([.append(Send(room: "den", id: "1", settings: settings), from: "ada")])
      for (id, user, role) in [("2", "bo", Role.moderator), ("3", "cy", Role.banned)] {
        await harness.submit([
          .append(
            Send(room: "den", id: id, member: MemberChange(user: user, role: role)), from: "ada")
        ])
      }
      try await harness.becomesFirst(4, of: "den")
      let joined = await harness.subscribe("den", as: "bo")
      #expect(joined?.about?.title == "Den")
      #expect(joined?.about?.role == .moderator)
      #expect(
        await harness.submit([.append("den", "cy", "4")]).refusals.map(\.code) == [.noSuchRoom])
      #expect(
        await harness.submit([.append("den", "dee", "4")]).refusals.map(\.code) == [.noSuchRoom])
      #expect(await harness.submit([.append("den", "bo", "4")]).acks.map(\.seq) == [4])
    }
  }

  @Test(arguments: Conformer.allCases)
  func `rules can be replaced at any time`(_ conformer: Conformer) async throws {
    try await conformer.run(retention: Retention()) { harness in
      await Self.send(50, in: harness)
      harness.log.apply(Self.rule("r*", entries: 20))
      try await harness.becomesFirst(31)
      harness.log.apply(Self.rule("r", entries: 5))
      try await harness.becomesFirst(46)
      harness.log.apply(Retention())
      await Self.send(50, in: harness)
      #expect(await Self.page(of: "r", in: harness)?.first == 46)
      #expect(harness.log.statistics().trimmedEntries == 45)
      #expect(harness.log.statistics().retainedAtMilliseconds != nil)
    }
  }

  @Test(arguments: Conformer.allCases)
  func `the rooms of the relay are trimmed only by a rule that names them`(
    _ conformer: Conformer
  ) async throws {
    try await conformer.run(retention: Self.rule("*", entries: 1)) { harness in
      let origin = LogRequest.Origin(session: .test, re: .ban, ref: nil)
      for until in 1...3 {
        let change = BanChange(user: "mallory", isBanned: true, until: 1 << 50 + Int64(until))
        await harness.submit([.ban(change, .init(by: "root", origin: origin))])
      }
      await Self.send(3, in: harness)
      try await harness.becomesFirst(3)
      func first() async -> Int64? {
        let answer = await harness.read {
          .entries(
            $0, room: RoomName.audit, user: "root", after: 0, through: 3, limitBytes: 65_536)
        }
        guard case .entries(_, let page) = answer else { return nil }
        return page.firstKept
      }
      #expect(await first() == 1)
      harness.log.apply(Self.rule("sys:audit", entries: 1))
      try await harness.becomesFirst(3)
      #expect(
        try await eventually {
          try await harness.becomesFirst(3)
          return await first() == 3
        })
    }
  }
}

/// What only a log in a folder has.
@Suite struct `Retention in a data folder` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func integer(_ sql: String) throws -> Int64 {
    try SQL(folder["data/relay.db"]).integer(sql)
  }

  private static let rule = Retention([.init(rooms: .all, milliseconds: 500)])

  @Test func `a room without entries goes on after a restart, an export and an import`()
    async throws
  {
    let log = try SQLiteLog(
      folder: folder["data"], retention: Self.rule, segmentEntries: 3, tickMilliseconds: 20)
    let harness = try LogHarness(log)
    var settings = RoomSettings.Change()
    settings.access = .private
    await harness.submit([
      .append(.init(room: "den", id: "1", settings: settings), from: "ada"),
      .append("den", "ada", "2", text: "<a secret>"),
    ])
    // An empty row has the last position of the journal.
    #expect(
      try await eventually {
        try integer("SELECT count(*) FROM entries") == 1
          && integer("SELECT sum(size) FROM entries") == 0
      })
    log.stop()
    for file in ["relay.db", "index.db"] {
      let bytes = try readBytes(folder["data/\(file)"])
      #expect(bytes.firstRange(of: "<a secret>".utf8) == nil)
    }
    #expect(try Store.verify(folder: folder["data"]).breaks.isEmpty)
    var lines: [[UInt8]] = []
    let count = try Store.export(folder: folder["data"]) { lines.append($0) }
    #expect(count.rooms == 1 && count.entries == 0)
    var rest = lines[...]
    _ = try Store.import(folder: folder["copy"], report: { _ in }) { rest.popFirst() }
    #expect(try Store.verify(folder: folder["copy"]).breaks.isEmpty)
    for name in ["data", "copy"] {
      let log = try SQLiteLog(
        folder: folder[name], report: { Issue.record("The index is of no use: \($0)") })
      let harness = try LogHarness(log)
      #expect(
        await harness.submit([.append("den", "bo", "3")]).refusals.map(\.code) == [.noSuchRoom])
      #expect(await harness.submit([.append("den", "ada", "3")]).acks.map(\.seq) == [3])
      log.stop()
      #expect(try Store.verify(folder: folder[name]).breaks.map { "\($0)" } == [])
    }
  }

  @Test func `a log in PostgreSQL takes a room without entries, and gives it back`() async throws {
    let server = try PostgresServer.shared.get()
    var options = PostgresLog.Options()
    options.schema = server.newSchema()
    options.requiresSync = false
    _ = try Maintenance.migrate(url: server.url, options: options)
    let lines = [#"{"type":"trimmed","room":"den","first":8}"#].map { Array($0.utf8) }
    var rest = lines[...]
    _ = try Maintenance.import(url: server.url, options: options) { rest.popFirst() }
    var back: [[UInt8]] = []
    _ = try Maintenance.export(url: server.url, options: options) { back.append($0) }
    #expect(back == lines.map { $0 + [UInt8(ascii: "\n")] })
    #expect(try Maintenance.verify(url: server.url, options: options).breaks.isEmpty)
  }

  @Test func `a clock that jumps ahead removes nothing, and the operator is told once`()
    async throws
  {
    let clock = Shared(WallClock.milliseconds)
    let reports = Shared<[String]>([])
    let log = try SQLiteLog(
      folder: folder["data"], retention: Retention([.init(rooms: .all, milliseconds: 86_400_000)]),
      tickMilliseconds: 20, clock: { clock.value },
      report: { line in reports.update { $0.append(line) } })
    let harness = try LogHarness(log)
    await harness.submit((1...10).map { .append("r", "ada", "\($0)") })
    func passes() async throws {
      for _ in 0..<2 {
        let last = log.statistics().retainedAtMilliseconds ?? 0
        #expect(
          try await eventually { log.statistics().retainedAtMilliseconds ?? 0 > last })
      }
    }
    try await passes()
    clock.update { $0 += 400 * 86_400_000 }
    try await passes()
    #expect(reports.value.count == 1)
    #expect(reports.value.first?.hasPrefix("The clock has jumped ahead") == true)
    clock.update { $0 -= 400 * 86_400_000 }
    try await passes()
    #expect(await harness.subscribe("r", as: "bo")?.first == 1)
    log.stop()
    // After a start it is compared with the newest entry.
    clock.update { $0 += 400 * 86_400_000 }
    let again = try SQLiteLog(
      folder: folder["data"], retention: Retention([.init(rooms: .all, milliseconds: 86_400_000)]),
      tickMilliseconds: 20, clock: { clock.value },
      report: { line in reports.update { $0.append(line) } })
    defer { again.stop() }
    let restarted = try LogHarness(again)
    #expect(try await eventually { reports.value.count == 2 })
    #expect(await restarted.subscribe("r", as: "bo")?.first == 1)
  }

  @Test func `the space of what has gone is given back to the file system`() async throws {
    let log = try SQLiteLog(folder: folder["data"], tickMilliseconds: 20)
    let harness = try LogHarness(log)
    let text = String(repeating: "0123456789", count: 100)
    for batch in 0..<40 {
      await harness.submit(
        (0..<1000).map {
          .append("r\($0 % 10)", "ada", "\(batch)-\($0)", text: text)
        })
    }
    func bytes() -> Int { log.statistics().files.reduce(0) { $0 + $1.bytes } }
    #expect(bytes() > 40_000_000)
    log.apply(Retention([.init(rooms: .all, bytes: 100_000)]))
    // A quarter of the file may be free, and the write-ahead log is emptied after the last deletion.
    #expect(try await eventually { bytes() < 4_000_000 }, "\(bytes())")
    log.stop()
    #expect(try integer("SELECT count(*) FROM entries") == 990)
    #expect(try Store.verify(folder: folder["data"]).breaks.isEmpty)
  }

  @Test func `the plan has the rooms of a rule, and what would go, beside a log that runs`()
    async throws
  {
    let log = try SQLiteLog(folder: folder["data"])
    defer { log.stop() }
    let harness = try LogHarness(log)
    await harness.submit((1...20).map { .append("logs:a", "ada", "\($0)") })
    await harness.submit([.append("logs:b", "ada", "1"), .append("other", "ada", "1")])
    let retention = Retention([
      .init(rooms: RoomPattern("logs:*"), milliseconds: 3_600_000, entries: 15)
    ])
    let now = WallClock.milliseconds
    let plan = try Store.retentionPlan(folder: folder["data"], retention, now: now)
    #expect(plan.rows.map(\.room) == ["logs:a", "logs:b"])
    #expect(plan.rows.map(\.rule) == ["logs:*", "logs:*"])
    #expect(plan.rows.map(\.entries) == [5, 0])
    #expect(plan.rows.map(\.bytes) == [55, 0])
    #expect(plan.rows.map(\.keptBytes) == [165, 11])
    #expect(plan.rows.map(\.oldest?.seq) == [6, 1])
    let later = try Store.retentionPlan(folder: folder["data"], retention, now: now + 3_601_000)
    #expect(later.rows.map(\.entries) == [20, 1])
    #expect(later.rows.map(\.oldest?.seq) == [nil, nil])
  }
}

/// A value that several threads use.
private final class Shared<Value: Sendable>: Sendable {
  private let state: Mutex<Value>
  init(_ value: Value) { state = Mutex(value) }
  var value: Value { state.withLock { $0 } }
  func update(_ body: @Sendable (inout Value) -> Void) { state.withLock { body(&$0) } }
}
