import Relay
import SQLiteLog
import Synchronization
import TestSupport
import Testing
import Wire

@Suite struct `A SQLite log whose disk fails` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// The reports to the operator, and a clock that the test moves.
  private final class Surroundings: Sendable {
    private let messages = Mutex<[String]>([])
    private let time = Atomic<Int64>(1_000_000)

    var reports: [String] { messages.withLock { $0 } }
    var now: Int64 { time.load(ordering: .relaxed) }
    func report(_ message: String) { messages.withLock { $0.append(message) } }
    func wait(milliseconds: Int64) { time.add(milliseconds, ordering: .relaxed) }
  }

  private func open(_ surroundings: Surroundings) throws -> SQLiteLog {
    // A pass of retention would report the failure too, if it is due: on a slow machine.
    try SQLiteLog(
      folder: folder["data"], tickMilliseconds: 24 * 3600 * 1000, clock: { surroundings.now },
      report: { surroundings.report($0) })
  }

  private func append(
    _ id: Int, room: String = "general", session: Int32 = 1
  ) -> LogRequest {
    .append(
      room, "ada", "\(id)", text: String(repeating: "x", count: 3000),
      session: SessionID(index: session, generation: 1))
  }

  /// Sends until the disk is full.
  /// - Returns: the acknowledgements, and the refusal.
  private func fill(_ harness: LogHarness, from first: Int) async throws -> ([String], WireError) {
    var acknowledged: [String] = []
    for id in first..<first + 100 {
      let delivery = await harness.submit([append(id)])
      acknowledged += delivery.acks.map(\.id)
      if let refusal = delivery.refusals.first { return (acknowledged, refusal) }
    }
    throw NeverFull()
  }

  struct NeverFull: Error {}

  @Test func `refuses while it is full, loses nothing, and resumes by itself`() async throws {
    let surroundings = Surroundings()
    let log = try open(surroundings)
    let harness = try LogHarness(log)
    await harness.submit([append(1), append(2)])
    log.limitStore(pages: 1)
    var (acknowledged, refusal) = try await fill(harness, from: 3)
    acknowledged = ["1", "2"] + acknowledged
    #expect(refusal.code == .unavailable)
    #expect(refusal.re == .send)
    #expect(refusal.room == "general")
    #expect(refusal.retryAfterMilliseconds == 1000)
    #expect(refusal.id == "\(acknowledged.count + 1)")
    for id in 50..<55 { #expect(await harness.submit([append(id, session: 2)]).acks.isEmpty) }
    #expect(surroundings.reports.count == 1)
    #expect(surroundings.reports.first?.contains("full") == true)

    // Reading and joining continue.
    let head = Int64(acknowledged.count)
    #expect(await harness.subscribe("general", as: "bo", after: 0)?.head == head)
    let page = await harness.page("general", after: 0, through: head, limitBytes: 1 << 20)
    #expect(page?.frames.entries.map(\.id) == acknowledged)
    #expect(harness.entries().map(\.id) == acknowledged)

    // There is space again: a refused sender has to wait, to keep the order; others do not.
    log.limitStore(pages: 0)
    let early = await harness.submit([append(98)])
    #expect(early.refusals.map(\.code) == [.unavailable])
    #expect(await harness.submit([append(99, session: 3)]).acks.map(\.seq) == [head + 1])
    surroundings.wait(milliseconds: 1000)
    #expect(await harness.submit([append(98)]).acks.map(\.seq) == [head + 2])
    #expect(surroundings.reports.count == 2)
    #expect(surroundings.reports.last?.contains("works again") == true)
    // The join during the outage is remembered.
    #expect(await harness.memberships(of: "bo").map(\.room) == ["general"])
    log.stop()

    let verification = try Store.verify(folder: folder["data"])
    #expect(verification.breaks.isEmpty)
    #expect(verification.count.entries == acknowledged.count + 2)
  }

  @Test func `refuses a batch as a whole`() async throws {
    let log = try open(Surroundings())
    defer { log.stop() }
    let harness = try LogHarness(log)
    await harness.submit([append(1)])
    log.limitStore(pages: 1)
    let delivery = await harness.submit((2...40).map { append($0, room: "room-\($0 % 3)") })
    #expect(delivery.acks.isEmpty)
    #expect(delivery.refusals.count == 39)
    #expect(delivery.commit?.entries.isEmpty != false)
    log.limitStore(pages: 0)
    let again = await harness.submit(
      (2...40).map { append($0, room: "room-\($0 % 3)", session: 2) })
    #expect(again.acks.count == 39)
    #expect(again.acks.allSatisfy { !$0.duplicate })
  }

  @Test func `acknowledges a duplicate of a stored entry even then`() async throws {
    let log = try open(Surroundings())
    defer { log.stop() }
    let harness = try LogHarness(log)
    await harness.submit([append(1)])
    log.limitStore(pages: 1)
    _ = try await fill(harness, from: 2)
    let delivery = await harness.submit([append(1, session: 7), append(999, session: 8)])
    #expect(delivery.acks.map(\.seq) == [1])
    #expect(delivery.acks.map(\.duplicate) == [true])
    #expect(delivery.refusals.map(\.id) == ["999"])
  }

  @Test func `keeps a room that waits for its first entry`() async throws {
    let log = try open(Surroundings())
    defer { log.stop() }
    let harness = try LogHarness(log)
    _ = await harness.subscribe("empty", as: "bo")
    log.limitStore(pages: 1)
    for id in 1...40 { await harness.submit([append(id, room: "other", session: Int32(id))]) }
    let refused = await harness.submit([append(1, room: "empty", session: 77)])
    #expect(refused.refusals.map(\.code) == [.unavailable])
    #expect(await harness.memberships(of: "bo").map(\.room) == ["empty"])
    // A refused send does not make its sender a member; a join does, even now.
    #expect(await harness.memberships(of: "ada").contains { $0.room == "empty" } == false)
    let joining = await harness.submit([
      .subscribe("empty", "cy"), append(3, room: "empty", session: 79),
    ])
    #expect(joining.commit?.membershipChanges.map(\.user) == ["cy"])
    log.limitStore(pages: 0)
    #expect(await harness.submit([append(2, room: "empty", session: 78)]).acks.map(\.seq) == [1])
    #expect(await harness.memberships(of: "bo").map(\.room) == ["empty"])
    #expect(await harness.memberships(of: "bo").first?.head == 1)
  }

  @Test func `reports a failed read, and reads again when it can`() async throws {
    let surroundings = Surroundings()
    let log = try open(surroundings)
    defer { log.stop() }
    let harness = try LogHarness(log)
    await harness.submit([append(1), append(2)])
    let database = try SQL(folder["data/relay.db"])
    try database.run("ALTER TABLE packs RENAME TO gone")
    let page = try #require(await harness.page("general", after: 0, through: 2))
    #expect(page.failed)
    #expect(page.frames.count == 0)
    guard case .error(let error) = await harness.history(.init(room: "general")) else {
      Issue.record("history did not fail")
      return
    }
    #expect(error.code == .unavailable)
    #expect(error.re == .history)
    #expect(error.room == "general")
    #expect(error.retryAfterMilliseconds == 1000)
    let answer = await harness.read { .glimpses($0, [(room: "general", seq: 1)], by: .test) }
    guard case .glimpses(_, let glimpses) = answer else {
      Issue.record("not the last entries")
      return
    }
    #expect(glimpses == [LogAnswer.Glimpse()])
    #expect(surroundings.reports.count == 1)
    #expect(surroundings.reports.first?.hasPrefix("Reading fails") == true)

    try database.run("ALTER TABLE gone RENAME TO packs")
    #expect(await harness.page("general", after: 0, through: 2)?.frames.count == 2)
    #expect(surroundings.reports.last?.hasPrefix("Reading works again") == true)
  }

  @Test func `keeps the write-ahead log short`() async throws {
    let log = try SQLiteLog(folder: folder["data"], durability: .os)
    let harness = try LogHarness(log)
    let body = ClientMessage.Send(
      room: "general", id: "1", text: String(repeating: "x", count: 60_000)
    ).body
    func send(_ count: Int, in batch: Int) async {
      await harness.submit(
        (0..<count).map {
          .append(
            LogRequest.Append(
              session: .test, room: "general", user: "ada", id: "\(batch)-\($0)", kind: .text,
              body: body, mayCreate: true))
        })
    }
    let limit = 64 << 20
    for batch in 0..<100 { await send(16, in: batch) }
    // 96 MB went through it. Its length meanwhile depends on the speed of the disk and on other
    // load; but a log that exceeds its limit begins anew, and is cut then.
    var batch = 100
    let deadline = ContinuousClock.now + .seconds(300)
    while folder.bytes(of: "data/relay.db-wal") > limit,
      ContinuousClock.now < deadline
    {
      await send(1, in: batch)
      batch += 1
    }
    #expect(folder.bytes(of: "data/relay.db-wal") <= limit)
    log.stop()
    #expect(folder.bytes(of: "data/relay.db-wal") == 0)
    #expect(folder.bytes(of: "data/relay.db") > 96_000_000)
  }

  @Test func `can be slowed down on purpose`() async throws {
    var options = SQLiteLog.Options()
    options.commitDelayMilliseconds = 30
    let log = try SQLiteLog(folder: folder["data"], options: options) { _ in }
    defer { log.stop() }
    let harness = try LogHarness(log)
    let clock = ContinuousClock()
    let time = await clock.measure { await harness.submit([append(1)]) }
    #expect(time >= .milliseconds(30))
  }
}
