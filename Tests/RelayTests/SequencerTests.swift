import ShardWorld
import Testing
import Wire

@testable import Relay

@Suite struct `A sequencer` {
  @Test func `rooms without entries come in slices like other rooms, and none is missing`() {
    var harness = SequencerHarness()
    harness.submit(.append("a", "ada", "1"), .append("b", "ada", "2"))
    _ = harness.submit((0..<5).map { .subscribe("empty\($0)", "ada") })
    var slices = [harness.slice(of: "ada", limit: 2)]
    #expect(slices[0].rooms == ["empty0", "empty1"])
    // With an entry it has a number, and is no longer among the rooms without one.
    harness.submit(.append("empty4", "ada", "3"))
    while let next = slices.last?.next, slices.count < 9 {
      slices.append(harness.slice(of: "ada", after: next, limit: 2))
    }
    #expect(slices.map(\.rooms.count) == [2, 2, 2, 1])
    #expect(Set(slices.flatMap(\.rooms)) == Set(["a", "b"] + (0..<5).map { "empty\($0)" }))
  }

  @Test func `subscribers are counted by user, up to 51, and reported when their number changes`() {
    var harness = SequencerHarness()
    #expect(harness.submit(.subscribe("r", "ada")).commit?.audiences.map(\.subscribers) == [1])
    #expect(harness.submit(.subscribe("r", "ada")).commit?.audiences.isEmpty != false)
    for user in 0..<60 { harness.submit(.subscribe("r", "u\(user)")) }
    #expect(harness.submit(.subscribe("r", "bo")).joined.map(\.subscribers) == [51])
    harness.submit(.unsubscribe(room: "r", user: "ada"))
    for user in 0..<60 { harness.submit(.unsubscribe(room: "r", user: "u\(user)")) }
    #expect(harness.submit(.subscribe("r", "eve")).commit?.audiences.map(\.subscribers) == [3])
  }

  @Test func `a room without entries is forgotten with its last subscriber`() {
    var harness = SequencerHarness()
    harness.submit(.subscribe("r", "ada"), .subscribe("r", "bo"))
    harness.submit(.unsubscribe(room: "r", user: "ada"))
    #expect(harness.memberships(of: "ada") == ["r"])
    let commit = harness.submit(.unsubscribe(room: "r", user: "bo")).commit
    #expect(commit?.membershipChanges.map(\.user) == ["ada", "bo"])
    #expect(commit?.membershipChanges.allSatisfy { !$0.belongs } == true)
    #expect(harness.memberships(of: "ada") == [])
    #expect(
      harness.submit(.append("r", "ada", "1", mayCreate: false)).refusals.map(\.code) == [
        .noSuchRoom
      ])
    #expect(harness.store.commits.isEmpty)
  }

  @Test func `rooms that were created and left do not stay in memory`() {
    var harness = SequencerHarness()
    _ = harness.submit(
      (0...Sequencer.idleRoomLimit).flatMap {
        [.subscribe("r\($0)", "ada"), .unsubscribe(room: "r\($0)", user: "ada")]
      })
    harness.submit()
    #expect(harness.sequencer.indices.isEmpty)
    #expect(harness.sequencer.rooms.isEmpty)
  }

  @Test
  func
    `rooms that many users leave after a peak do not stay in memory, and stored ones stay at first`()
  {
    var harness = SequencerHarness()
    harness.submit(.append("stored", "ada", "1"))
    let count = 3072
    _ = harness.submit((0..<count).map { .subscribe("r\($0)", "ada") })
    #expect(harness.sequencer.rooms.count == count + 1)
    for room in 0..<count { harness.submit(.unsubscribe(room: "r\(room)", user: "ada")) }
    harness.submit()
    #expect(harness.sequencer.indices.keys.sorted() == ["stored"])
    _ = harness.submit((0..<count).map { .subscribe("again\($0)", "ada") })
    #expect(harness.sequencer.rooms.count == count + 1)
    #expect(harness.submit(.append("stored", "ada", "2")).acks.map(\.seq) == [2])
  }

  @Test func `stored rooms that all have left after a peak do not stay in memory`() {
    var harness = SequencerHarness()
    let limit = Sequencer.idleRoomLimit
    let count = limit + 10_000
    _ = harness.submit((0..<count).map { .append("r\($0)", "ada", "1") })
    _ = harness.submit((0..<count).map { .subscribe("r\($0)", "ada") })
    harness.submit()
    #expect(harness.sequencer.indices.count == count)
    _ = harness.submit((0..<count).map { .unsubscribe(room: "r\($0)", user: "ada") })
    var forgotten: [Int] = []
    while harness.sequencer.indices.count > limit {
      let before = harness.sequencer.indices.count
      harness.submit()
      forgotten.append(before - harness.sequencer.indices.count)
    }
    #expect(harness.sequencer.indices.count == limit)
    #expect(forgotten == [4096, 4096, 1808])
    #expect(harness.submit(.append("r0", "ada", "2")).acks.map(\.seq) == [2])
  }

  @Test func `a room without new entries is trimmed as retention has found`() {
    var harness = SequencerHarness()
    for id in 1...30 {
      harness.submit(.append("r", "ada", "\(id)"), .append("s", "ada", "\(id)"))
    }
    let store = harness.store
    harness = SequencerHarness(keepEntriesPerRoom: 10)
    harness.store = store
    harness.submit()
    #expect(harness.store.commits.last?.trims.isEmpty == true)
    let trims = ["r", "none"].map { RoomTrim(room: $0, first: 21, head: 30) }
    harness.submit(trimming: trims)
    #expect(harness.store.commits.last?.trims.map(\.first) == [21])
    #expect(harness.submit(.subscribe("r", "bo", after: 0)).joined.map(\.first) == [21])
    // A room that needs no trimming costs no commit.
    let commits = harness.store.commits.count
    harness.submit(trimming: trims)
    #expect(harness.store.commits.count == commits)
  }

  @Test func `both users are members of a direct room once it has an entry`() {
    var harness = SequencerHarness()
    harness.submit(.subscribe("dm:ada:bo", "ada"))
    #expect(harness.memberships(of: "bo") == [])
    harness.submit(.append("dm:ada:bo", "ada", "1"))
    #expect(harness.memberships(of: "bo") == ["dm:ada:bo"])
    harness.submit(.forget(room: "dm:ada:bo", user: "bo"))
    #expect(harness.memberships(of: "bo") == [])
    harness.submit(.append("dm:ada:bo", "ada", "2"))
    #expect(harness.memberships(of: "bo") == ["dm:ada:bo"])
  }

  @Test func `a room of the relay's own keeps few entries and has no members`() {
    var harness = SequencerHarness()
    let outcome = harness.submit(.subscribe("sys:canary", "ada"), .append("sys:canary", "ada", "0"))
    #expect(outcome.acks.map(\.seq) == [1])
    #expect(outcome.commit?.membershipChanges.isEmpty == true)
    for id in 1...100 { harness.submit(.append("sys:canary", "ada", "\(id)")) }
    #expect(harness.memberships(of: "ada") == [])
    let joined = harness.submit(.subscribe("sys:canary", "ada", after: 0)).joined.first
    #expect(joined?.head == 101)
    #expect((85...86).contains(joined?.first ?? 0))
    #expect(harness.submit(.append("r", "ada", "1")).commit?.membershipChanges.map(\.room) == ["r"])
  }

  @Test func `of two sends with one id in one batch the second is compared with the first`() {
    var sequencer = Sequencer(
      lineage: Lineage([.init(number: 1, name: "new")]), retention: Retention(), loops: 2)
    var store = MemoryStore()
    let outcome = sequencer.process(
      [
        (0, [.append("r", "ada", "1", text: "one"), .append("r", "ada", "1", text: "two")]),
        (1, [.append("r", "ada", "1", text: "three"), .append("r", "ada", "1", text: "one")]),
      ], store: &store, now: 1, framing: SimulatedSocket.framing)
    var answers: [[String]] = [[], []]
    for (loop, told) in outcome.answers.enumerated() {
      for answer in told {
        switch answer {
        case .ack(_, let ack): answers[loop].append("\(ack.seq) \(ack.duplicate)")
        case .refused(_, let error):
          answers[loop].append("\(error.code.rawValue) \(error.seq ?? 0)")
        default: answers[loop].append("\(answer)")
        }
      }
    }
    #expect(answers == [["1 false", "id_conflict 1"], ["1 true", "id_conflict 1"]])
    #expect(outcome.commit?.frames.count == 1)
  }

  @Test func `a join in the batch that trims its room reports the missing entries`() {
    var harness = SequencerHarness(keepEntriesPerRoom: 10)
    for id in 1...11 { harness.submit(.append("r", "ada", "\(id)")) }
    let joined = harness.submit(.subscribe("r", "bo", after: 0), .append("r", "ada", "12")).joined
      .first
    #expect(joined?.first == 3)
    #expect(joined?.after == 2)
    #expect(joined?.resume == .truncated)
  }

  /// The first five of ten entries belong to the old epoch; those before `first` are not kept.

  @Test(arguments: [
    (nil as Int64?, nil as String?, 1 as Int64, 10 as Int64, ServerMessage.Resume.ok),
    (0, nil, 1, 0, .ok), (10, "new", 1, 10, .ok), (4, "new", 1, 4, .ok),
    (11, "new", 1, 10, .diverged),
    (11, nil, 1, 10, .diverged), (3, "old", 1, 3, .ok), (5, "old", 1, 5, .ok),
    (6, "old", 1, 5, .diverged), (3, "other", 1, 0, .reset), (0, "other", 1, 0, .reset),
    (0, "new", 4, 3, .truncated), (2, "old", 4, 3, .truncated), (3, "old", 4, 3, .ok),
    (9, "old", 8, 7, .reset), (1, "old", 8, 7, .truncated), (5, "old", 8, 7, .truncated),
    (6, "old", 8, 7, .truncated), (6, "old", 6, 5, .reset), (nil, "other", 8, 10, .ok),
    // No entry of that epoch or of an earlier one is kept, so its last seq is unknown.
    (0, "oldest", 8, 7, .truncated), (6, "oldest", 8, 7, .truncated), (7, "oldest", 8, 7, .ok),
    (8, "oldest", 8, 7, .reset), (11, "oldest", 8, 7, .reset),
    (0, "oldest", 1, 0, .ok), (1, "oldest", 1, 0, .diverged),
  ])
  func `a client resumes where its entries and those of the log still agree`(
    _ after: Int64?, _ epoch: String?, _ first: Int64, _ expected: Int64,
    _ resume: ServerMessage.Resume
  ) throws {
    var harness = SequencerHarness()
    for id in 1...10 {
      harness.store.base.epoch = id <= 5 ? 1 : 2
      harness.submit(.append("r", "ada", "\(id)"))
    }
    if first > 1 {
      var changes = StoreChanges()
      changes.trims = [(1, first)]
      try harness.store.commit(changes)
      let store = harness.store
      harness = SequencerHarness()
      harness.store = store
    }
    let joined = try #require(
      harness.submit(.subscribe("r", "bo", after: after, epoch: epoch)).joined.first)
    #expect(joined.after == expected)
    #expect(joined.resume == resume)
    #expect(joined.epoch == "new")
    #expect(joined.head == 10)
    #expect(joined.first == first)
  }

  @Test func `when a user came is stored with another change, and when one left at once`() {
    var harness = SequencerHarness()
    harness.store.keepsCommits = true
    func came(_ user: String) -> LogRequest { .presence(user: user, from: .offline, to: .online) }
    func submit(_ request: LogRequest, defers: Bool = true) -> [String]? {
      let commits = harness.store.commits.count
      _ = harness.submit([request], defersArrivals: defers)
      guard harness.store.commits.count > commits else { return nil }
      return harness.store.commits.last?.seen.map(\.user).sorted()
    }
    #expect(submit(came("ada")) == nil)
    #expect(submit(came("bo")) == nil)
    #expect(harness.sequencer.hasUnstoredSeen)
    #expect(submit(.append("r", "cy", "1")) == ["ada", "bo"])
    #expect(!harness.sequencer.hasUnstoredSeen)
    #expect(submit(came("cy")) == nil)
    #expect(submit(.presence(user: "ada", from: .online, to: .offline)) == ["ada", "cy"])
    #expect(submit(came("di")) == nil)
    #expect(submit(.typing(room: "r", user: "cy", on: true), defers: false) == ["di"])
    harness.store.failsCommits = true
    #expect(submit(came("ed"), defers: false) == nil)
    harness.store.failsCommits = false
    #expect(submit(.append("r", "cy", "2")) == ["ed"])
  }

  @Test func `a batch stores for a limited number of users when they came`() {
    var harness = SequencerHarness()
    harness.store.keepsCommits = true
    let users = (0...UnstoredSeen.perBatch).map { "u\($0)" }
    _ = harness.submit(users.map { .presence(user: $0, from: .offline, to: .online) })
    #expect(harness.store.commits.last?.seen.count == UnstoredSeen.perBatch)
    #expect(harness.sequencer.hasUnstoredSeen)
    harness.submit(.append("r", "ada", "1"))
    #expect(harness.store.commits.last?.seen.count == 1)
    #expect(Set(harness.store.commits.flatMap { $0.seen.map(\.user) }) == Set(users))
    #expect(!harness.sequencer.hasUnstoredSeen)
  }
}
