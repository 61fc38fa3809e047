import ShardWorld
import Testing
import Wire

@testable import Relay

@Suite struct `Traces of entries` {
  private static let stages = CommitStages(batched: 1, committed: 2, synced: 3)

  // MARK: - The bounds

  @Test func `commits are kept for the newest entries, up to the limit`() {
    var history = CommitHistory()
    let count = Int64(1000)
    for batch in 0..<20 {
      history.append(
        .entries([("r", Int64(batch) * count + 1, Int(count))]), Self.stages)
      #expect(history.entries <= CommitHistory.entriesLimit)
    }
    #expect(history.entries == 16_000)
    #expect(history.find(20_000, inRoom: "r") != nil)
    #expect(history.find(4_001, inRoom: "r") != nil)
    #expect(history.find(4_000, inRoom: "r") == nil)
    #expect(history.find(20_001, inRoom: "r") == nil)
    #expect(history.find(20_000, inRoom: "q") == nil)
  }

  @Test func `the limit of bytes holds for any number of moved marks`() {
    var history = CommitHistory()
    history.append(.entries([("r", 1, 1)]), Self.stages)
    let marks = (0..<1000).map {
      Commit.MarkChange(
        room: "r", marks: Marks(user: "u\($0)", read: 1, received: 1), members: 1000,
        unread: Unread())
    }
    let commit = Commit(
      SpannedEntries(), marks: marks, membershipChanges: [], typing: [], audiences: [],
      presences: [], redactions: [])
    var appended = 0
    while history.find(1, inRoom: "r") != nil, appended < 1000 {
      history.append(commit, Self.stages)
      appended += 1
      #expect(history.bytes <= CommitHistory.bytesLimit)
    }
    #expect((10..<1000).contains(appended))
    #expect(history.entries == 0)
  }

  @Test func `the limit of bytes holds if every entry has a traceparent`() throws {
    var history = CommitHistory()
    let parent = try #require(
      Traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
    for batch in 0..<20 {
      let first = Int64(batch) * 1000 + 1
      let spans = (0..<1000).map {
        CommitTrace.Span(room: "r", seq: first + $0, parent: parent)
      }
      history.append(
        .entries(
          [("r", first, 1000)], trace: CommitTrace(id: TraceID(high: 1, low: 1), spans: spans)),
        Self.stages)
      #expect(history.bytes <= CommitHistory.bytesLimit)
    }
    #expect(history.find(try #require(parent.traceID))?.seq == 20_000)
  }

  @Test func `a trace is found by its name, the last entry first`() throws {
    var history = CommitHistory()
    let parents = try ["a", "b"].map { digit in
      try #require(
        Traceparent("00-\(String(repeating: digit, count: 32))-00f067aa0ba902b7-01"))
    }
    let own = TraceID(high: 7, low: 7)
    history.append(
      .entries([("r", 1, 3)], trace: CommitTrace(id: own, spans: [])), Self.stages)
    history.append(
      .entries(
        [("q", 1, 2), ("r", 4, 1)],
        trace: CommitTrace(
          id: try #require(parents[0].traceID),
          spans: [
            .init(room: "q", seq: 1, parent: parents[0]),
            .init(room: "q", seq: 2, parent: parents[1]),
            .init(room: "r", seq: 4, parent: parents[0]),
          ])), Self.stages)
    #expect(history.find(own).map { "\($0.room) \($0.seq)" } == "r 1")
    let found = parents.compactMap(\.traceID).map { history.find($0) }
    #expect(found.map { "\($0?.room ?? "") \($0?.seq ?? 0)" } == ["r 4", "q 2"])
    #expect(history.find(TraceID(high: 8, low: 8)) == nil)
  }

  @Test func `commits without entries and marks are not kept`() {
    var history = CommitHistory()
    let typing = Commit.TypingChange(room: "r", user: "ada", on: true)
    history.append(
      Commit(
        SpannedEntries(), marks: [], membershipChanges: [], typing: [typing], audiences: [],
        presences: [], redactions: []), Self.stages)
    #expect(history.records.isEmpty)
  }

  @Test func `the newest fan-outs are kept, up to the limit`() {
    var fanOuts = FanOuts()
    for seq in 1...Int64(FanOuts.limit + 5) {
      fanOuts.append(
        FanOut(room: "r", firstSeq: seq, lastSeq: seq, at: seq, sessions: 1, lagging: 0))
    }
    #expect(fanOuts.count == FanOuts.limit)
    #expect(fanOuts.find(5, inRoom: "r") == nil)
    #expect(fanOuts.find(6, inRoom: "r")?.at == 6)
    #expect(fanOuts.find(Int64(FanOuts.limit + 5), inRoom: "r") != nil)
  }

  // MARK: - The log's part

  private struct Harness {
    var base = SequencerHarness()
    var time: Int64 = 100

    /// Processes a batch as a log does: its stages are one microsecond apart.
    mutating func submit(_ requests: LogRequest...) -> [TraceResult] {
      let outcome = base.submit(requests)
      time += 10
      base.sequencer.record(
        CommitStages(batched: time, committed: time + 1, synced: time + 2), of: outcome)
      return base.sequencer.takeTraces(&base.store).map { _, answer in
        guard case .traced(_, let result) = answer else { preconditionFailure("no trace") }
        return result
      }
    }

    mutating func trace(
      _ entry: LogRequest.Trace.Entry, room: String = "r", as user: String? = nil,
      mayRead: Bool = true
    ) -> TraceResult? {
      submit(
        .trace(
          LogRequest.Trace(
            ticket: .init(connection: 0, exchange: 0), room: room, entry: entry, user: user,
            mayRead: mayRead))
      ).first
    }

    mutating func found(_ entry: LogRequest.Trace.Entry, as user: String? = nil) -> EntryTrace? {
      if case .found(let trace) = trace(entry, as: user) { trace } else { nil }
    }

    mutating func refusal(
      _ entry: LogRequest.Trace.Entry, room: String = "r", as user: String? = nil,
      mayRead: Bool = true
    ) -> WireError? {
      guard case .refused(let error) = trace(entry, room: room, as: user, mayRead: mayRead)
      else { return nil }
      return error
    }
  }

  private static func append(_ user: String, _ id: String, receivedAt: Int64) -> LogRequest {
    LogRequest.append("r", user, id, receivedAt: receivedAt)
  }

  @Test func `each entry of a batch has the time at which it was received, and the batch's stages`()
  {
    var harness = Harness()
    _ = harness.submit(
      Self.append("ada", "1", receivedAt: 91), .append("q", "cy", "1"),
      Self.append("bo", "2", receivedAt: 95))
    let first = harness.found(.seq(1))
    #expect(first?.from == "ada")
    #expect(first?.received == 91)
    let second = harness.found(.seq(2))
    #expect(second?.from == "bo")
    #expect(second?.received == 95)
    #expect(second?.stages == CommitStages(batched: 110, committed: 111, synced: 112))
    #expect(second?.batchEntries == 3)
  }

  @Test func `members whose marks have reached the entry are named, with the time`() {
    var harness = Harness()
    _ = harness.submit(.subscribe("r", "bo"), .subscribe("r", "cy"), .subscribe("r", "dan"))
    _ = harness.submit(Self.append("ada", "1", receivedAt: 0))
    _ = harness.submit(Self.append("ada", "2", receivedAt: 0))
    _ = harness.submit(.mark(room: "r", Marks(user: "bo", read: 0, received: 1)))
    _ = harness.submit(.mark(room: "r", Marks(user: "cy", read: 0, received: 2)))
    _ = harness.submit(.mark(room: "r", Marks(user: "bo", read: 1, received: 1)))
    // Later marks do not change when the entry was passed.
    _ = harness.submit(.mark(room: "r", Marks(user: "bo", read: 2, received: 2)))
    let trace = harness.found(.seq(1))
    #expect(trace?.members == 4)
    #expect(trace?.receivedBy == [.init(user: "bo", at: 142), .init(user: "cy", at: 152)])
    #expect(trace?.readBy == [.init(user: "bo", at: 162)])
    let second = harness.found(.seq(2))
    #expect(second?.receivedBy == [.init(user: "bo", at: 172), .init(user: "cy", at: 152)])
    #expect(second?.readBy == [.init(user: "bo", at: 172)])
  }

  @Test func `no member of a room with more than fifty members is named`() {
    var harness = Harness()
    _ = harness.submit(Self.append("ada", "1", receivedAt: 0))
    for user in 1...49 { _ = harness.submit(.subscribe("r", "u\(user)")) }
    #expect(harness.found(.seq(1))?.receivedBy != nil)
    _ = harness.submit(.subscribe("r", "u50"))
    let trace = harness.found(.seq(1))
    #expect(trace?.members == 51)
    #expect(trace?.receivedBy == nil)
    #expect(trace?.readBy == nil)
  }

  @Test func `a batch that was not stored leaves no times`() {
    var harness = Harness()
    harness.base.store.failsCommits = true
    _ = harness.submit(Self.append("ada", "1", receivedAt: 0))
    #expect(harness.base.sequencer.history.records.isEmpty)
  }

  // MARK: - Rights

  @Test func `a user gets own entries by number and by id, an operator every one`() {
    var harness = Harness()
    _ = harness.submit(Self.append("ada", "1", receivedAt: 0))
    _ = harness.submit(Self.append("bo", "1", receivedAt: 0))
    #expect(harness.found(.seq(1), as: "ada")?.from == "ada")
    #expect(harness.found(.id("1"), as: "ada")?.seq == 1)
    #expect(harness.found(.id("1"), as: "bo")?.seq == 2)
    #expect(harness.refusal(.seq(2), as: "ada")?.code == .forbidden)
    #expect(harness.refusal(.id("1"), as: "cy")?.code == .noSuchEntry)
    #expect(harness.found(.seq(2))?.from == "bo")
    // Ids are unique per user; the operator gets the last one.
    #expect(harness.found(.id("1"))?.seq == 2)
    #expect(harness.refusal(.id("2"))?.code == .noSuchEntry)
    #expect(harness.refusal(.seq(3))?.code == .noSuchEntry)
    #expect(harness.refusal(.seq(0))?.code == .noSuchEntry)
  }

  @Test func `without the right to the room the answer is the same whether the entry exists`() {
    var harness = Harness()
    _ = harness.submit(Self.append("ada", "1", receivedAt: 0))
    let errors = [
      harness.refusal(.seq(1), as: "eve", mayRead: false),
      harness.refusal(.seq(2), as: "eve", mayRead: false),
    ]
    #expect(errors[0]?.code == .forbidden)
    #expect(errors[0] == errors[1])
    #expect(
      harness.refusal(.seq(1), room: "none", as: "eve", mayRead: false)?.code == .forbidden)
  }

  @Test func `an entry that is no longer in the history is told from one that never was`() {
    var harness = Harness()
    // An entry of an earlier run, which the history does not know.
    _ = harness.base.submit(.append("r", "ada", "1"))
    let results = [
      harness.trace(.seq(1)), harness.trace(.seq(1), as: "bo"), harness.trace(.id("1"), as: "ada"),
    ]
    for result in results {
      guard case .expired = result else {
        Issue.record("\(String(describing: result))")
        continue
      }
    }
    #expect(harness.refusal(.seq(2))?.code == .noSuchEntry)
  }

  @Test func `a trace of a room that cannot be read is refused, and nothing else is`() {
    var harness = Harness()
    harness.base.store.failsReads = true
    #expect(harness.refusal(.seq(1), room: "q")?.code == .unavailable)
    harness.base.store.failsReads = false
    #expect(harness.refusal(.seq(1), room: "q")?.code == .noSuchEntry)
  }

  // MARK: - The loop's part

  @Test func `a fan-out counts the sessions that were given the entry, and those that lag`() {
    let relay = SimulatedRelay(loops: 2)
    let ada = relay.connect("ada")
    let bo = relay.connect("bo")
    let cy = relay.connect("cy", loop: 1)
    for socket in [ada, bo, cy] { socket.send(.join(.init(room: "r"))) }
    relay.run()
    bo.space = 0
    ada.send(.send(.init(room: "r", id: "1", text: String(repeating: "x", count: 100))))
    relay.run()
    let at = relay.now.microseconds
    ada.send(.send(.init(room: "r", id: "2", text: "hi")))
    relay.run(forMilliseconds: 10)
    #expect(relay.shard { $0.fanOut(of: 1, inRoom: "r") }?.sessions == 2)
    let second = relay.shard { $0.fanOut(of: 2, inRoom: "r") }
    #expect(second?.sessions == 1)
    #expect(second?.lagging == 1)
    #expect((second?.at ?? 0) >= at)
    #expect(relay.shard(1) { $0.fanOut(of: 2, inRoom: "r") }?.sessions == 1)
    #expect(relay.shard(1) { $0.fanOut(of: 3, inRoom: "r") } == nil)
  }
}
