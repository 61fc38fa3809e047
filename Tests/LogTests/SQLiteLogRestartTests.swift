import Relay
import SQLiteLog
import TestSupport
import Testing
import Wire

@Suite struct `A SQLite log that is opened again` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open<Result>(
    _ name: String = "data", keepEntriesPerRoom: Int64 = 0,
    _ test: (LogHarness) async throws -> Result
  ) async throws -> Result {
    let log = try SQLiteLog(
      folder: folder[name], keepEntriesPerRoom: keepEntriesPerRoom)
    defer { log.stop() }
    return try await test(try LogHarness(log))
  }

  private func send(_ harness: LogHarness, _ ids: ClosedRange<Int>) async -> [Int64] {
    await harness.submit(ids.map { .append("general", "ada", "\($0)") }).acks.map(\.seq)
  }

  @Test func `continues with the same numbers, ids, marks and memberships`() async throws {
    let first = try await open { harness in
      _ = await harness.subscribe("general", as: "bo")
      #expect(await send(harness, 1...5) == [1, 2, 3, 4, 5])
      await harness.submit([
        .append("dm:ada:bo", "ada", "1"),
        .mark(room: "general", Marks(user: "bo", read: 3, received: 4)),
      ])
      return harness.log.epoch
    }
    try await open { harness in
      #expect(harness.log.epoch != first)
      #expect(await send(harness, 4...7) == [4, 5, 6, 7])
      let joined = try #require(await harness.subscribe("general", as: "bo", after: 0))
      #expect(joined.read == 3)
      #expect(joined.received == 4)
      #expect(joined.head == 7)
      #expect(await harness.memberships(of: "bo").map(\.room).sorted() == ["dm:ada:bo", "general"])
      let page = await harness.page("general", after: 0, through: 7)
      #expect(page?.frames.entries.map(\.id) == (1...7).map(String.init))
    }
    #expect(try Store.verify(folder: folder["data"]).breaks.isEmpty)
  }

  @Test func `reads the members of a large room one by one, and all when few are left`()
    async throws
  {
    try await open { harness in
      await harness.submit((1...60).map { .append("r", "u\($0)", "1") })
      await harness.submit([.mark(room: "r", Marks(user: "u7", read: 50, received: 55))])
    }
    try await open { harness in
      let joined = try #require(await harness.subscribe("r", as: "u7", after: 0))
      #expect(joined.members == nil)
      #expect(joined.read == 50)
      #expect(joined.received == 55)
      #expect(await harness.submit([.append("r", "u8", "2")]).acks.map(\.seq) == [61])
      await harness.submit((11...20).map { .forget(room: "r", user: "u\($0)") })
      let members = try #require(await harness.subscribe("r", as: "u7")?.members)
      #expect(members.count == 50)
      #expect(members.first { $0.user == "u60" } == Marks(user: "u60", read: 60, received: 60))
      // The entry of u8 moved neither mark over the entries of others.
      #expect(members.first { $0.user == "u8" } == Marks(user: "u8", read: 8, received: 8))
    }
    try await open { harness in
      #expect(await harness.subscribe("r", as: "u7")?.members?.count == 50)
    }
    #expect(try Store.verify(folder: folder["data"]).breaks.isEmpty)
  }

  @Test func `keeps the members of a large room that has no entries`() async throws {
    _ = try await open { harness in
      await harness.submit((1...600).map { .subscribe("r", "u\($0)") })
    }
    #expect(try Store.verify(folder: folder["data"]).breaks.isEmpty)
    try await open { harness in
      #expect(await harness.memberships(of: "u501").map(\.room) == ["r"])
      #expect(await harness.subscribe("r", as: "u501", after: 0)?.head == 0)
      #expect(await harness.submit([.append("r", "u1", "1")]).acks.map(\.seq) == [1])
    }
    #expect(try Store.verify(folder: folder["data"]).breaks.isEmpty)
  }

  @Test func `compares the content of ids with entries of earlier runs`() async throws {
    _ = try await open { harness in
      await harness.submit([
        .append("general", "ada", "1", text: "one"), .append("general", "ada", "2", data: "1"),
        .append(ClientMessage.Send(room: "general", id: "3", delete: 2), from: "ada"),
      ])
    }
    try await open { harness in
      let delivery = await harness.submit([
        .append("general", "ada", "1", text: "one"), .append("general", "ada", "1", text: "two"),
        .append("general", "ada", "2", text: "two"), .append("general", "ada", "3", text: "two"),
      ])
      #expect(delivery.acks.map(\.seq) == [1, 2])
      #expect(delivery.refusals.map(\.code) == [.idConflict, .idConflict])
      #expect(delivery.refusals.map(\.seq) == [1, 3])
    }
  }

  @Test func `continues with the marks of senders, wherever the last entries leave them`()
    async throws
  {
    typealias Send = ClientMessage.Send
    // For each room: the sent entries and ada's reads; her mark; her unread count.
    let cases: [(steps: [String], read: Int64, unread: Int64)] = [
      (["ada", "ada"], 2, 0),
      (["bo", "ada"], 2, 0),
      (["ada", "bo", "ada"], 1, 1),
      (["ada", "bo", "read 2", "ada", "ada"], 4, 0),
      (["ada", "bo", "ada", "ada", "read 2"], 2, 0),
      (["ada", "bo", "ada", "ada", "read 3"], 3, 0),
      (["ada", "bo", "ada", "ada", "read 3", "ada"], 5, 0),
      (["ada", "ada", "bo", "ada", "bo", "ada"], 2, 2),
      (["ada", "ada", "bo", "read 3", "ada", "bo"], 4, 1),
      (["ada", "bo 👍", "ada"], 1, 0),
      (["bo", "ada", "ada 👍", "bo 👍", "bo", "ada"], 3, 1),
    ]
    func room(_ number: Int) -> String { "room-\(number)" }
    func check(_ harness: LogHarness) async {
      for (number, expected) in cases.enumerated() {
        let row = await harness.memberships(of: "ada").first { $0.room == room(number) }
        #expect(row?.read == expected.read, "\(expected.steps)")
        #expect(row?.unread == Unread(expected.unread), "\(expected.steps)")
        let joined = await harness.subscribe(room(number), as: "cy")
        #expect(
          joined?.members?.first { $0.user == "ada" }?.read == expected.read, "\(expected.steps)")
      }
    }
    try await open { harness in
      for (number, expected) in cases.enumerated() {
        for (place, step) in expected.steps.enumerated() {
          let words = step.split(separator: " ").map(String.init)
          let id = "\(place)"
          if words[0] == "read" {
            let seq = Int64(words[1]) ?? 0
            await harness.submit([
              .mark(room: room(number), Marks(user: "ada", read: seq, received: seq))
            ])
          } else if words.count > 1 {
            let react = Send(room: room(number), id: id, react: 1, emoji: words[1], isOn: true)
            await harness.submit([.append(react, from: words[0])])
          } else {
            await harness.submit([.append(room(number), words[0], id)])
          }
        }
      }
    }
    // Once read for the list, and once as a room in use.
    try await open { await check($0) }
    try await open { harness in
      await check(harness)
      // From here on both continue as without a restart.
      await harness.submit([.append(room(0), "ada", "x"), .append(room(2), "ada", "x")])
      await harness.submit([.append(room(0), "bo", "x"), .append(room(2), "bo", "x")])
    }
    try await open { harness in
      let rows = await harness.memberships(of: "ada")
      #expect(rows.first { $0.room == room(0) }?.read == 3)
      #expect(rows.first { $0.room == room(0) }?.unread == Unread(1))
      #expect(rows.first { $0.room == room(2) }?.read == 1)
      #expect(rows.first { $0.room == room(2) }?.unread == Unread(2))
    }
    #expect(try Store.verify(folder: folder["data"]).breaks.isEmpty)
  }

  @Test func `resumes clients of an earlier epoch`() async throws {
    let first = try await open { harness in
      _ = await send(harness, 1...5)
      return harness.log.epoch
    }
    let second = try await open { harness in
      _ = await send(harness, 6...8)
      return harness.log.epoch
    }
    try await open { harness in
      func resume(_ after: Int64, _ epoch: String) async -> (ServerMessage.Resume?, Int64?) {
        let joined = await harness.subscribe("general", as: "bo", after: after, epoch: epoch)
        return (joined?.resume, joined?.after)
      }
      #expect(await resume(5, first) == (.ok, 5))
      #expect(await resume(6, first) == (.diverged, 5))
      #expect(await resume(8, second) == (.ok, 8))
      #expect(await resume(2, second) == (.ok, 2))
      #expect(await resume(9, second) == (.diverged, 8))
      #expect(await resume(1, "unheard-of") == (.reset, 0))
    }
  }

  /// Retention has left nothing of the first epoch, as for any user who was away for long.
  @Test func `resets clients of an epoch of which nothing is kept`() async throws {
    let first = try await open(keepEntriesPerRoom: 10) { harness in
      _ = await send(harness, 1...5)
      return harness.log.epoch
    }
    _ = try await open(keepEntriesPerRoom: 10) { harness in
      for id in 6...60 { _ = await send(harness, id...id) }
    }
    try await open(keepEntriesPerRoom: 10) { harness in
      func resume(_ after: Int64) async throws -> (ServerMessage.Resume, Int64) {
        let joined = try #require(
          await harness.subscribe("general", as: "bo", after: after, epoch: first))
        return (joined.resume, joined.after - joined.first)
      }
      let oldest = try #require(await harness.subscribe("general", as: "bo", after: 0)).first
      try #require(oldest > 6)
      #expect(try await resume(5) == (.truncated, -1))
      #expect(try await resume(0) == (.truncated, -1))
      #expect(try await resume(oldest - 1) == (.ok, -1))
      #expect(try await resume(oldest) == (.reset, -1))
    }
  }

  @Test func `finds the border of an epoch among many entries`() async throws {
    var epochs: [(name: String, last: Int64)] = []
    for start in 0..<7 {
      epochs.append(
        try await open { harness in
          let seqs = await send(harness, start * 100 + 1...start * 100 + 13 * (start + 1))
          return (harness.log.epoch, seqs.last ?? 0)
        })
    }
    try await open { harness in
      for (epoch, last) in epochs {
        let joined = await harness.subscribe("general", as: "bo", after: 100_000, epoch: epoch)
        #expect(joined?.resume == .diverged)
        #expect(joined?.after == last)
      }
    }
  }

  @Test func `tells clients that are ahead of a restored backup what was lost`() async throws {
    _ = try await open { harness in await send(harness, 1...5) }
    try folder.copy("data", to: "backup")
    let lost = try await open { harness in
      _ = await send(harness, 6...9)
      return harness.log.epoch
    }
    let kept = try await open("backup") { harness in
      let joined = await harness.subscribe("general", as: "bo", after: 9, epoch: lost)
      // This log does not know the epoch that began after the backup.
      #expect(joined?.resume == .reset)
      #expect(joined?.after == 0)
      _ = await send(harness, 10...12)
      return harness.log.epoch
    }
    #expect(kept != lost)
  }

  @Test func `keeps what is valid of clients with a lineage when a backup is restored`()
    async throws
  {
    let first = try await open { harness in
      _ = await send(harness, 1...5)
      return harness.log.epoch
    }
    try folder.copy("data", to: "backup")
    let told = try await open { harness in
      _ = await send(harness, 6...9)
      return await harness.subscribe("general", as: "bo", after: 0)?.lineage ?? []
    }
    #expect(told.map(\.after) == [5, 0])
    #expect(told.last?.epoch == first)
    try await open("backup") { harness in
      _ = await send(harness, 10...12)
      let joined = try #require(
        await harness.subscribe("general", as: "bo", after: 9, lineage: told))
      #expect(joined.resume == .diverged)
      #expect(joined.after == 5)
      #expect(
        joined.lineage == [
          EpochStart(epoch: harness.log.epoch, after: 5), EpochStart(epoch: first, after: 0),
        ])
      let request = ClientMessage.HistoryRequest(room: "general", after: 9, lineage: told)
      guard case .history(let page) = await harness.history(request) else {
        Issue.record("no history")
        return
      }
      #expect(page.epoch == harness.log.epoch)
      #expect(page.resume == .diverged)
      #expect(page.after == 5)
      #expect(page.entries.map(\.id) == ["10", "11", "12"])
    }
  }

  /// Every third start writes nothing.
  @Test func `lists the newest epochs of a room's entries, and the current one`() async throws {
    var lineage: [EpochStart] = []
    for start in 0..<27 {
      try await open { harness in
        let joined = await harness.subscribe("general", as: "bo", after: 0)
        let current = EpochStart(epoch: harness.log.epoch, after: joined?.head ?? -1)
        if start % 3 > 0 { _ = await send(harness, start * 100 + 1...start * 100 + 20 * start) }
        let told = await harness.subscribe("general", as: "bo", after: 0)?.lineage
        #expect(told == Array(([current] + lineage).prefix(EpochStart.limit)))
        if start % 3 > 0 { lineage.insert(current, at: 0) }
      }
    }
  }

  @Test func `tells clients that have more of an epoch than the backup`() async throws {
    let log = try SQLiteLog(folder: folder["data"])
    let harness = try LogHarness(log)
    _ = await send(harness, 1...5)
    try folder.copy("data", to: "backup")
    _ = await send(harness, 6...9)
    log.stop()
    try await open("backup") { restored in
      _ = await send(restored, 20...29)
      let joined = await restored.subscribe("general", as: "bo", after: 9, epoch: log.epoch)
      #expect(joined?.resume == .diverged)
      #expect(joined?.after == 5)
    }
  }

  @Test func `has everything that was acknowledged when the process dies`() async throws {
    let log = try SQLiteLog(folder: folder["data"])
    defer { log.stop() }
    let harness = try LogHarness(log)
    var acknowledged: [Int64] = []
    for batch in 0..<20 {
      acknowledged += await send(harness, batch * 10 + 1...batch * 10 + 10)
      guard batch % 5 == 0 else { continue }
      // The files at this moment are as a killed process leaves them.
      try folder.copy("data", to: "killed-\(batch)")
      #expect(try Store.verify(folder: folder["killed-\(batch)"]).breaks.isEmpty)
      try await open("killed-\(batch)") { survivor in
        let page = await survivor.page(
          "general", after: 0, through: .max, limitBytes: 1 << 20)
        #expect(page?.frames.entries.map(\.seq) == acknowledged)
        #expect(await send(survivor, 1...1) == [1])
      }
    }
  }

  @Test func `remembers the numbers of entries that it no longer keeps`() async throws {
    _ = try await open(keepEntriesPerRoom: 10) { harness in
      for id in 1...30 { _ = await send(harness, id...id) }
    }
    try await open(keepEntriesPerRoom: 10) { harness in
      let joined = try #require(await harness.subscribe("general", as: "bo", after: 5))
      #expect(joined.head == 30)
      #expect(joined.first >= 20)
      #expect(joined.resume == .truncated)
      #expect(await send(harness, 31...31) == [31])
    }
    let verification = try Store.verify(folder: folder["data"])
    #expect(verification.breaks.isEmpty)
    #expect((10...11).contains(verification.count.entries))
  }
}
