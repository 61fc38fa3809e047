import Testing
import Wire

@testable import Relay

private let session = SessionID(index: 1, generation: 0)

private func append(
  _ room: String, _ user: String, _ id: String, session: SessionID = session,
  mayCreate: Bool = true
) -> LogRequest {
  let send = ClientMessage.Send(room: room, id: id, text: id)
  return .append(
    .init(
      session: session, room: room, user: user, id: id, kind: .text, body: send.body,
      mayCreate: mayCreate))
}

private func subscribe(
  _ room: String, _ user: String, after: Int64? = nil, epoch: String? = nil
) -> LogRequest {
  .subscribe(
    .init(
      session: session, room: room, user: user, after: after, epoch: epoch, mayCreate: true))
}

private func read(_ room: String, _ user: String, _ seq: Int64) -> LogRequest {
  .mark(room: room, Marks(user: user, read: seq, received: seq))
}

/// A sequencer, its store and a clock.
private struct Harness {
  var store = FaultyStore()
  var sequencer: Sequencer
  var now: Int64 = 1_000_000

  init(keepEntriesPerRoom: Int64 = 0) {
    sequencer = Sequencer(
      lineage: Lineage([
        .init(number: 0, name: "oldest"), .init(number: 1, name: "old"),
        .init(number: 2, name: "new"),
      ]),
      keepEntriesPerRoom: keepEntriesPerRoom, loops: 1)
  }

  @discardableResult
  mutating func submit(_ requests: LogRequest...) -> Sequencer.Outcome { submit(requests) }

  mutating func submit(_ requests: [LogRequest]) -> Sequencer.Outcome {
    sequencer.process([(0, requests)], store: &store, now: now, framing: SimulatedSocket.framing)
  }

  @discardableResult
  mutating func submit(trimming rooms: [String]) -> Sequencer.Outcome {
    sequencer.process(
      [], trimming: rooms, store: &store, now: now, framing: SimulatedSocket.framing)
  }

  mutating func memberships(of user: String) -> [String] { slice(of: user, limit: 256).rooms }

  /// A slice of the rooms that a user belongs to, and where the next one begins.
  mutating func slice(
    of user: String, after: MembershipsCursor = .start, limit: Int
  ) -> (rooms: [String], next: MembershipsCursor?) {
    for case .memberships(_, _, let rooms, let next, _) in submit(
      .memberships(ticket: 0, user: user, listed: [], after: after, limit: limit)
    )
    .answers[0] {
      return (rooms.map(\.room), next)
    }
    return ([], nil)
  }
}

extension Sequencer.Outcome {
  fileprivate var acks: [ServerMessage.Ack] {
    answers[0].compactMap { if case .ack(_, let ack) = $0 { ack } else { nil } }
  }
  fileprivate var refusals: [WireError] {
    answers[0].compactMap { if case .refused(_, let error) = $0 { error } else { nil } }
  }
  fileprivate var joined: [ServerMessage.Joined] {
    answers[0].compactMap {
      if case .subscribed(_, let subscribed) = $0 { subscribed.joined } else { nil }
    }
  }
}

@Suite struct `A sequencer whose store fails` {
  @Test
  func `a batch that cannot be stored is refused as a whole, and numbers go on without a gap`() {
    var harness = Harness()
    #expect(harness.submit(append("r", "ada", "1")).acks.map(\.seq) == [1])
    harness.store.failsCommits = true
    let refused = harness.submit(
      append("r", "ada", "2"), append("r", "bo", "3"), append("q", "bo", "4"))
    #expect(refused.failure != nil)
    #expect(refused.acks.isEmpty)
    #expect(refused.refusals.map(\.code) == [.unavailable, .unavailable, .unavailable])
    #expect(refused.refusals.map(\.id) == ["2", "3", "4"])
    #expect(refused.refusals.allSatisfy { $0.re == "send" && $0.retryAfterMilliseconds == 1000 })
    #expect(refused.commit?.spans.isEmpty != false)
    harness.store.failsCommits = false
    harness.now += 1000
    let resent = harness.submit(
      append("r", "ada", "2"), append("r", "bo", "3"), append("q", "bo", "4"))
    #expect(resent.acks.map(\.seq) == [2, 3, 1])
    #expect(resent.acks.allSatisfy { !$0.duplicate })
  }

  @Test(arguments: [false, true])
  func `behind a refused send the session's others to the room are refused until its time`(
    _ byReading: Bool
  ) {
    var harness = Harness()
    if byReading { harness.store.failsReads = true } else { harness.store.failsCommits = true }
    #expect(harness.submit(append("r", "ada", "1")).refusals.count == 1)
    harness.store.failsReads = false
    harness.store.failsCommits = false
    harness.now += 400
    let other = SessionID(index: 2, generation: 0)
    let outcome = harness.submit(
      append("r", "ada", "2"), append("q", "ada", "3"), append("r", "bo", "4", session: other))
    #expect(outcome.refusals.map(\.id) == ["2"])
    #expect(outcome.refusals.map(\.retryAfterMilliseconds) == [600])
    #expect(outcome.acks.map(\.id) == ["3", "4"])
    harness.now += 600
    #expect(
      harness.submit(append("r", "ada", "1"), append("r", "ada", "2")).acks.map(\.seq) == [2, 3])
  }

  @Test func `what a refused batch has not changed is not held against what refers to it`() {
    var harness = Harness()
    harness.submit(append("r", "ada", "1"))
    let (delete, react) = (
      ClientMessage.Send(room: "r", id: "2", delete: 1),
      ClientMessage.Send(room: "r", id: "3", react: 1, emoji: "👍", isOn: true)
    )
    func both() -> [LogRequest] {
      [(delete, "ada"), (react, "bo")].map { send, user in
        .append(
          .init(
            session: SessionID(index: user == "bo" ? 2 : 1, generation: 0), room: "r", user: user,
            id: send.id, kind: send.kind, body: send.body, reference: send.reference,
            mayCreate: true))
      }
    }
    harness.store.failsCommits = true
    // The deletion is not there, so that the reaction must not be told that its target is gone.
    #expect(harness.submit(both()).refusals.map(\.code) == [.unavailable, .unavailable])
    harness.store.failsCommits = false
    harness.now += 1000
    #expect(harness.submit(both()).refusals.map(\.code) == [.noSuchEntry])
  }

  @Test func `a clock that is put back does not prolong a hold`() {
    var harness = Harness()
    harness.store.failsCommits = true
    harness.submit(append("r", "ada", "1"))
    harness.store.failsCommits = false
    harness.now -= 3_600_000
    #expect(harness.submit(append("r", "ada", "1")).acks.map(\.seq) == [1])
  }

  @Test func `a duplicate of what is stored is acknowledged though the batch is refused`() {
    var harness = Harness()
    harness.submit(append("r", "ada", "1"))
    harness.store.failsCommits = true
    let outcome = harness.submit(
      append("r", "ada", "1"), append("r", "bo", "2"), append("r", "bo", "2"))
    #expect(outcome.acks.map(\.seq) == [1])
    #expect(outcome.acks.allSatisfy { $0.duplicate })
    #expect(outcome.refusals.map(\.id) == ["2", "2"])
  }

  @Test func `a join goes through while the log cannot write, and its membership is stored later`()
  {
    var harness = Harness()
    harness.submit(append("r", "ada", "1"))
    harness.store.failsCommits = true
    let joined = harness.submit(subscribe("r", "bo", after: 0)).joined
    #expect(joined.map(\.head) == [1])
    #expect(joined.first?.members?.map(\.user) == ["ada", "bo"])
    harness.store.failsCommits = false
    let commit = harness.submit(append("q", "ada", "2")).commit
    #expect(commit?.membershipChanges.map(\.user).contains("bo") == true)
    #expect(harness.memberships(of: "bo") == ["r"])
  }

  @Test func `marks that could not be stored are tried again, and never go back`() throws {
    var harness = Harness()
    harness.submit(append("r", "ada", "1"), append("r", "ada", "2"), append("r", "ada", "3"))
    harness.submit(subscribe("r", "bo"))
    harness.store.failsCommits = true
    harness.submit(read("r", "bo", 1))
    harness.submit(read("r", "bo", 3))
    harness.store.failsReads = true
    // Neither may be written, nor the room be read: the retry has to wait for both.
    harness.submit(read("r", "bo", 2))
    harness.store.failsReads = false
    harness.store.failsCommits = false
    let commit = try #require(harness.submit().commit)
    #expect(commit.marks.map(\.marks) == [Marks(user: "bo", read: 3, received: 3)])
    #expect(try harness.store.memory.loadRoom("r")?.members["bo"]?.read == 3)
  }

  @Test
  func `a forget that could not be stored is tried again, though the user came in that batch`() {
    var harness = Harness()
    harness.submit(append("r", "ada", "1"), subscribe("r", "bo"))
    harness.store.failsCommits = true
    harness.submit(.unsubscribe(room: "r", user: "bo"), .forget(room: "r", user: "bo"))
    harness.submit(
      subscribe("r", "eve"), .unsubscribe(room: "r", user: "eve"), .forget(room: "r", user: "eve"))
    harness.store.failsCommits = false
    harness.submit()
    #expect(harness.memberships(of: "bo") == [])
    #expect(harness.memberships(of: "eve") == [])
    #expect(harness.memberships(of: "ada") == ["r"])
  }

  @Test func `a room that would have been made by a refused send is as it was before`() {
    var harness = Harness()
    harness.submit(subscribe("r", "ada"))
    #expect(harness.memberships(of: "ada") == ["r"])
    harness.store.failsCommits = true
    let outcome = harness.submit(
      subscribe("r", "bo"), append("r", "eve", "1"), append("q", "eve", "2"))
    #expect(outcome.commit?.membershipChanges.map(\.user) == ["bo"])
    harness.store.failsCommits = false
    #expect(harness.memberships(of: "ada") == ["r"])
    #expect(harness.memberships(of: "bo") == ["r"])
    #expect(harness.memberships(of: "eve") == [])
    // Nobody is in q, and nothing: it does not exist.
    harness.now += 5000
    let asked = harness.submit(append("q", "bo", "3", mayCreate: false))
    #expect(asked.refusals.map(\.code) == [.noSuchRoom])
  }

  @Test func `rooms without an entry come in slices as others do, and none is missed`() {
    var harness = Harness()
    harness.submit(append("a", "ada", "1"), append("b", "ada", "2"))
    _ = harness.submit((0..<5).map { subscribe("empty\($0)", "ada") })
    var slices = [harness.slice(of: "ada", limit: 2)]
    #expect(slices[0].rooms == ["empty0", "empty1"])
    // This one has a number, and is no more among those that are still to come without one.
    harness.submit(append("empty4", "ada", "3"))
    while let next = slices.last?.next, slices.count < 9 {
      slices.append(harness.slice(of: "ada", after: next, limit: 2))
    }
    #expect(slices.map(\.rooms.count) == [2, 2, 2, 1])
    #expect(Set(slices.flatMap(\.rooms)) == Set(["a", "b"] + (0..<5).map { "empty\($0)" }))
  }

  @Test func `subscribers are counted by user, up to 51, and told when the number changes`() {
    var harness = Harness()
    #expect(harness.submit(subscribe("r", "ada")).commit?.audiences.map(\.subscribers) == [1])
    #expect(harness.submit(subscribe("r", "ada")).commit?.audiences.isEmpty != false)
    for user in 0..<60 { harness.submit(subscribe("r", "u\(user)")) }
    #expect(harness.submit(subscribe("r", "bo")).joined.map(\.subscribers) == [51])
    harness.submit(.unsubscribe(room: "r", user: "ada"))
    for user in 0..<60 { harness.submit(.unsubscribe(room: "r", user: "u\(user)")) }
    #expect(harness.submit(subscribe("r", "eve")).commit?.audiences.map(\.subscribers) == [3])
  }

  @Test func `a room without entries is forgotten with its last subscriber`() {
    var harness = Harness()
    harness.submit(subscribe("r", "ada"), subscribe("r", "bo"))
    harness.submit(.unsubscribe(room: "r", user: "ada"))
    #expect(harness.memberships(of: "ada") == ["r"])
    let commit = harness.submit(.unsubscribe(room: "r", user: "bo")).commit
    #expect(commit?.membershipChanges.map(\.user) == ["ada", "bo"])
    #expect(commit?.membershipChanges.allSatisfy { !$0.belongs } == true)
    #expect(harness.memberships(of: "ada") == [])
    #expect(
      harness.submit(append("r", "ada", "1", mayCreate: false)).refusals.map(\.code) == [
        .noSuchRoom
      ])
    #expect(harness.store.commits.isEmpty)
  }

  @Test func `rooms that came and went do not stay in memory`() {
    var harness = Harness()
    _ = harness.submit(
      (0...Sequencer.idleRoomLimit).flatMap {
        [subscribe("r\($0)", "ada"), .unsubscribe(room: "r\($0)", user: "ada")]
      })
    harness.submit()
    #expect(harness.sequencer.rooms.count < 10)
  }

  @Test func `nor do they while nothing can be stored`() {
    var harness = Harness()
    harness.submit(append("r", "ada", "1"), append("s", "ada", "1"))
    // What is to be tried again names its room, which is not the first.
    harness.submit(subscribe("x", "cy"), .unsubscribe(room: "x", user: "cy"))
    harness.store.failsCommits = true
    harness.submit(subscribe("s", "bo"), .unsubscribe(room: "s", user: "bo"))
    #expect(harness.sequencer.membersToRetry.count == 1)
    for round in 0..<3 {
      _ = harness.submit(
        (0...Sequencer.idleRoomLimit).flatMap {
          [
            subscribe("\(round)-\($0)", "ada"), .unsubscribe(room: "\(round)-\($0)", user: "ada"),
          ]
        })
    }
    harness.submit()
    #expect(harness.sequencer.rooms.count < 10)
    #expect(harness.sequencer.indices.count == harness.sequencer.rooms.count)
    #expect(harness.sequencer.unstored.isEmpty)
    harness.store.failsCommits = false
    #expect(harness.memberships(of: "bo") == ["s"])
    #expect(harness.sequencer.membersToRetry.isEmpty)
  }

  @Test func `that sends were refused is remembered for a second only`() {
    func id(_ index: Int, _ generation: Int) -> SessionID {
      SessionID(index: Int32(index), generation: UInt32(generation))
    }
    var harness = Harness()
    harness.store.failsCommits = true
    for second in 0..<10 {
      harness.now += 1001
      _ = harness.submit((0..<5000).map { append("r", "ada", "\($0)", session: id($0, second)) })
    }
    #expect(harness.sequencer.holds.count <= Sequencer.holdLimit + 5000)
    // Of the last second they are.
    harness.store.failsCommits = false
    let refused = harness.submit(append("r", "ada", "1", session: id(7, 9)))
    #expect(refused.refusals.map(\.code) == [.unavailable])
  }

  @Test func `rooms that nobody sends to are held to what is kept, with not an entry more`() {
    var harness = Harness()
    for id in 1...30 {
      harness.submit(append("r", "ada", "\(id)"), append("s", "ada", "\(id)"))
    }
    let store = harness.store
    harness = Harness(keepEntriesPerRoom: 10)
    harness.store = store
    harness.submit()
    #expect(harness.store.commits.last?.trims.isEmpty == true)
    harness.submit(trimming: ["r", "none"])
    #expect(harness.store.commits.last?.trims.map(\.first) == [21])
    #expect(harness.submit(subscribe("r", "bo", after: 0)).joined.map(\.first) == [21])
    // What is as it should be costs no commit.
    let commits = harness.store.commits.count
    harness.submit(trimming: ["r"])
    #expect(harness.store.commits.count == commits)
  }

  @Test func `a dm belongs to both once it has an entry`() {
    var harness = Harness()
    harness.submit(subscribe("dm:ada:bo", "ada"))
    #expect(harness.memberships(of: "bo") == [])
    harness.submit(append("dm:ada:bo", "ada", "1"))
    #expect(harness.memberships(of: "bo") == ["dm:ada:bo"])
    harness.submit(.forget(room: "dm:ada:bo", user: "bo"))
    #expect(harness.memberships(of: "bo") == [])
    harness.submit(append("dm:ada:bo", "ada", "2"))
    #expect(harness.memberships(of: "bo") == ["dm:ada:bo"])
  }

  @Test func `of the relay's own rooms little is kept, and nobody belongs to them`() {
    var harness = Harness()
    let outcome = harness.submit(subscribe("sys:canary", "ada"), append("sys:canary", "ada", "0"))
    #expect(outcome.acks.map(\.seq) == [1])
    #expect(outcome.commit?.membershipChanges.isEmpty == true)
    for id in 1...100 { harness.submit(append("sys:canary", "ada", "\(id)")) }
    #expect(harness.memberships(of: "ada") == [])
    let joined = harness.submit(subscribe("sys:canary", "ada", after: 0)).joined.first
    #expect(joined?.head == 101)
    #expect((85...86).contains(joined?.first ?? 0))
    #expect(harness.submit(append("r", "ada", "1")).commit?.membershipChanges.map(\.room) == ["r"])
  }

  @Test func `a join in the batch that trims its room is told what is gone`() {
    var harness = Harness(keepEntriesPerRoom: 10)
    for id in 1...11 { harness.submit(append("r", "ada", "\(id)")) }
    let joined = harness.submit(subscribe("r", "bo", after: 0), append("r", "ada", "12")).joined
      .first
    #expect(joined?.first == 3)
    #expect(joined?.after == 2)
    #expect(joined?.resume == .truncated)
  }

  /// Of ten entries the first five are of the old epoch; those before `first` are gone.
  @Test(arguments: [
    (nil as Int64?, nil as String?, 1 as Int64, 10 as Int64, ServerMessage.Resume.ok),
    (0, nil, 1, 0, .ok), (10, "new", 1, 10, .ok), (4, "new", 1, 4, .ok),
    (11, "new", 1, 10, .diverged),
    (11, nil, 1, 10, .diverged), (3, "old", 1, 3, .ok), (5, "old", 1, 5, .ok),
    (6, "old", 1, 5, .diverged), (3, "other", 1, 0, .reset), (0, "other", 1, 0, .reset),
    (0, "new", 4, 3, .truncated), (2, "old", 4, 3, .truncated), (3, "old", 4, 3, .ok),
    (9, "old", 8, 7, .reset), (1, "old", 8, 7, .truncated), (5, "old", 8, 7, .truncated),
    (6, "old", 8, 7, .reset), (6, "old", 6, 5, .diverged), (nil, "other", 8, 10, .ok),
    // Of that epoch and those before it nothing is kept: nobody knows where it ended.
    (0, "oldest", 8, 7, .truncated), (6, "oldest", 8, 7, .truncated), (7, "oldest", 8, 7, .ok),
    (8, "oldest", 8, 7, .reset), (11, "oldest", 8, 7, .reset),
    (0, "oldest", 1, 0, .ok), (1, "oldest", 1, 0, .diverged),
  ])
  func `a client resumes where its entries and the log's still agree`(
    _ after: Int64?, _ epoch: String?, _ first: Int64, _ expected: Int64,
    _ resume: ServerMessage.Resume
  ) throws {
    var harness = Harness()
    for id in 1...10 { harness.submit(append("r", "ada", "\(id)")) }
    harness.store.lastSeqs = [0: 0, 1: 5]
    if first > 1 {
      var changes = StoreChanges()
      changes.trims = [(1, first)]
      try harness.store.commit(changes)
      let store = harness.store
      harness = Harness()
      harness.store = store
    }
    let joined = try #require(
      harness.submit(subscribe("r", "bo", after: after, epoch: epoch)).joined.first)
    #expect(joined.after == expected)
    #expect(joined.resume == resume)
    #expect(joined.epoch == "new")
    #expect(joined.head == 10)
    #expect(joined.first == first)
  }
}
