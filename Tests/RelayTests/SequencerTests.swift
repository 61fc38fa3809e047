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

private func enter(
  _ room: String, _ user: String, after: Int64? = nil, epoch: String? = nil
) -> LogRequest {
  .enter(
    .init(
      session: session, room: room, user: user, after: after, epoch: epoch, mayCreate: true))
}

private func read(_ room: String, _ user: String, _ seq: Int64) -> LogRequest {
  .mark(room: room, Marks(user: user, read: seq, received: seq))
}

/// A sequencer, its store and a clock.
private struct Desk {
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

  mutating func belongings(of user: String) -> [String] { slice(of: user, limit: 256).rooms }

  /// A slice of the rooms that a user belongs to, and where the next one begins.
  mutating func slice(
    of user: String, after: BelongingsCursor = .start, limit: Int
  ) -> (rooms: [String], next: BelongingsCursor?) {
    for case .belongings(_, _, let rooms, let next, _) in submit(
      .belongings(ticket: 0, user: user, listed: [], after: after, limit: limit)
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
    answers[0].compactMap { if case .entered(_, let entered) = $0 { entered.joined } else { nil } }
  }
}

@Suite struct `A sequencer whose store fails` {
  @Test
  func `a batch that cannot be stored is refused as a whole, and numbers go on without a gap`() {
    var desk = Desk()
    #expect(desk.submit(append("r", "ada", "1")).acks.map(\.seq) == [1])
    desk.store.failsCommits = true
    let refused = desk.submit(
      append("r", "ada", "2"), append("r", "bo", "3"), append("q", "bo", "4"))
    #expect(refused.failure != nil)
    #expect(refused.acks.isEmpty)
    #expect(refused.refusals.map(\.code) == [.unavailable, .unavailable, .unavailable])
    #expect(refused.refusals.map(\.id) == ["2", "3", "4"])
    #expect(refused.refusals.allSatisfy { $0.re == "send" && $0.retryAfterMilliseconds == 1000 })
    #expect(refused.commit?.spans.isEmpty != false)
    desk.store.failsCommits = false
    desk.now += 1000
    let resent = desk.submit(
      append("r", "ada", "2"), append("r", "bo", "3"), append("q", "bo", "4"))
    #expect(resent.acks.map(\.seq) == [2, 3, 1])
    #expect(resent.acks.allSatisfy { !$0.duplicate })
  }

  @Test(arguments: [false, true])
  func `behind a refused send the session's others to the room are refused until its time`(
    _ byReading: Bool
  ) {
    var desk = Desk()
    if byReading { desk.store.failsReads = true } else { desk.store.failsCommits = true }
    #expect(desk.submit(append("r", "ada", "1")).refusals.count == 1)
    desk.store.failsReads = false
    desk.store.failsCommits = false
    desk.now += 400
    let other = SessionID(index: 2, generation: 0)
    let outcome = desk.submit(
      append("r", "ada", "2"), append("q", "ada", "3"), append("r", "bo", "4", session: other))
    #expect(outcome.refusals.map(\.id) == ["2"])
    #expect(outcome.refusals.map(\.retryAfterMilliseconds) == [600])
    #expect(outcome.acks.map(\.id) == ["3", "4"])
    desk.now += 600
    #expect(
      desk.submit(append("r", "ada", "1"), append("r", "ada", "2")).acks.map(\.seq) == [2, 3])
  }

  @Test func `what a refused batch has not changed is not held against what refers to it`() {
    var desk = Desk()
    desk.submit(append("r", "ada", "1"))
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
    desk.store.failsCommits = true
    // The deletion is not there, so that the reaction must not be told that its target is gone.
    #expect(desk.submit(both()).refusals.map(\.code) == [.unavailable, .unavailable])
    desk.store.failsCommits = false
    desk.now += 1000
    #expect(desk.submit(both()).refusals.map(\.code) == [.noSuchEntry])
  }

  @Test func `a clock that is put back does not prolong a hold`() {
    var desk = Desk()
    desk.store.failsCommits = true
    desk.submit(append("r", "ada", "1"))
    desk.store.failsCommits = false
    desk.now -= 3_600_000
    #expect(desk.submit(append("r", "ada", "1")).acks.map(\.seq) == [1])
  }

  @Test func `a duplicate of what is stored is acknowledged though the batch is refused`() {
    var desk = Desk()
    desk.submit(append("r", "ada", "1"))
    desk.store.failsCommits = true
    let outcome = desk.submit(
      append("r", "ada", "1"), append("r", "bo", "2"), append("r", "bo", "2"))
    #expect(outcome.acks.map(\.seq) == [1])
    #expect(outcome.acks.allSatisfy { $0.duplicate })
    #expect(outcome.refusals.map(\.id) == ["2", "2"])
  }

  @Test func `a join goes through while the log cannot write, and its membership is stored later`()
  {
    var desk = Desk()
    desk.submit(append("r", "ada", "1"))
    desk.store.failsCommits = true
    let joined = desk.submit(enter("r", "bo", after: 0)).joined
    #expect(joined.map(\.head) == [1])
    #expect(joined.first?.members?.map(\.user) == ["ada", "bo"])
    desk.store.failsCommits = false
    let commit = desk.submit(append("q", "ada", "2")).commit
    #expect(commit?.memberships.map(\.user).contains("bo") == true)
    #expect(desk.belongings(of: "bo") == ["r"])
  }

  @Test func `marks that could not be stored are tried again, and never go back`() throws {
    var desk = Desk()
    desk.submit(append("r", "ada", "1"), append("r", "ada", "2"), append("r", "ada", "3"))
    desk.submit(enter("r", "bo"))
    desk.store.failsCommits = true
    desk.submit(read("r", "bo", 1))
    desk.submit(read("r", "bo", 3))
    desk.store.failsReads = true
    // Neither may be written, nor the room be read: the retry has to wait for both.
    desk.submit(read("r", "bo", 2))
    desk.store.failsReads = false
    desk.store.failsCommits = false
    let commit = try #require(desk.submit().commit)
    #expect(commit.marks.map(\.marks) == [Marks(user: "bo", read: 3, received: 3)])
    #expect(try desk.store.memory.loadRoom("r")?.members["bo"]?.read == 3)
  }

  @Test
  func `a forget that could not be stored is tried again, though the user came in that batch`() {
    var desk = Desk()
    desk.submit(append("r", "ada", "1"), enter("r", "bo"))
    desk.store.failsCommits = true
    desk.submit(.exit(room: "r", user: "bo"), .forget(room: "r", user: "bo"))
    desk.submit(enter("r", "eve"), .exit(room: "r", user: "eve"), .forget(room: "r", user: "eve"))
    desk.store.failsCommits = false
    desk.submit()
    #expect(desk.belongings(of: "bo") == [])
    #expect(desk.belongings(of: "eve") == [])
    #expect(desk.belongings(of: "ada") == ["r"])
  }

  @Test func `a room that would have been made by a refused send is as it was before`() {
    var desk = Desk()
    desk.submit(enter("r", "ada"))
    #expect(desk.belongings(of: "ada") == ["r"])
    desk.store.failsCommits = true
    let outcome = desk.submit(enter("r", "bo"), append("r", "eve", "1"), append("q", "eve", "2"))
    #expect(outcome.commit?.memberships.map(\.user) == ["bo"])
    desk.store.failsCommits = false
    #expect(desk.belongings(of: "ada") == ["r"])
    #expect(desk.belongings(of: "bo") == ["r"])
    #expect(desk.belongings(of: "eve") == [])
    // Nobody is in q, and nothing: it does not exist.
    desk.now += 5000
    let asked = desk.submit(append("q", "bo", "3", mayCreate: false))
    #expect(asked.refusals.map(\.code) == [.noSuchRoom])
  }

  @Test func `rooms without an entry come in slices as others do, and none is missed`() {
    var desk = Desk()
    desk.submit(append("a", "ada", "1"), append("b", "ada", "2"))
    _ = desk.submit((0..<5).map { enter("empty\($0)", "ada") })
    var slices = [desk.slice(of: "ada", limit: 2)]
    #expect(slices[0].rooms == ["empty0", "empty1"])
    // This one has a number, and is no more among those that are still to come without one.
    desk.submit(append("empty4", "ada", "3"))
    while let next = slices.last?.next, slices.count < 9 {
      slices.append(desk.slice(of: "ada", after: next, limit: 2))
    }
    #expect(slices.map(\.rooms.count) == [2, 2, 2, 1])
    #expect(Set(slices.flatMap(\.rooms)) == Set(["a", "b"] + (0..<5).map { "empty\($0)" }))
  }

  @Test func `subscribers are counted by user, up to 51, and told when the number changes`() {
    var desk = Desk()
    #expect(desk.submit(enter("r", "ada")).commit?.audiences.map(\.subscribers) == [1])
    #expect(desk.submit(enter("r", "ada")).commit?.audiences.isEmpty != false)
    for user in 0..<60 { desk.submit(enter("r", "u\(user)")) }
    #expect(desk.submit(enter("r", "bo")).joined.map(\.subscribers) == [51])
    desk.submit(.exit(room: "r", user: "ada"))
    for user in 0..<60 { desk.submit(.exit(room: "r", user: "u\(user)")) }
    #expect(desk.submit(enter("r", "eve")).commit?.audiences.map(\.subscribers) == [3])
  }

  @Test func `a room without entries is forgotten with its last subscriber`() {
    var desk = Desk()
    desk.submit(enter("r", "ada"), enter("r", "bo"))
    desk.submit(.exit(room: "r", user: "ada"))
    #expect(desk.belongings(of: "ada") == ["r"])
    let commit = desk.submit(.exit(room: "r", user: "bo")).commit
    #expect(commit?.memberships.map(\.user) == ["ada", "bo"])
    #expect(commit?.memberships.allSatisfy { !$0.belongs } == true)
    #expect(desk.belongings(of: "ada") == [])
    #expect(
      desk.submit(append("r", "ada", "1", mayCreate: false)).refusals.map(\.code) == [.noSuchRoom])
    #expect(desk.store.commits.isEmpty)
  }

  @Test func `rooms that came and went do not stay in memory`() {
    var desk = Desk()
    _ = desk.submit(
      (0...Sequencer.idleRoomLimit).flatMap {
        [enter("r\($0)", "ada"), .exit(room: "r\($0)", user: "ada")]
      })
    desk.submit()
    #expect(desk.sequencer.rooms.count < 10)
  }

  @Test func `nor do they while nothing can be stored`() {
    var desk = Desk()
    desk.submit(append("r", "ada", "1"), append("s", "ada", "1"))
    // What is to be tried again names its room, which is not the first.
    desk.submit(enter("x", "cy"), .exit(room: "x", user: "cy"))
    desk.store.failsCommits = true
    desk.submit(enter("s", "bo"), .exit(room: "s", user: "bo"))
    #expect(desk.sequencer.membersToRetry.count == 1)
    for round in 0..<3 {
      _ = desk.submit(
        (0...Sequencer.idleRoomLimit).flatMap {
          [
            enter("\(round)-\($0)", "ada"), .exit(room: "\(round)-\($0)", user: "ada"),
          ]
        })
    }
    desk.submit()
    #expect(desk.sequencer.rooms.count < 10)
    #expect(desk.sequencer.indices.count == desk.sequencer.rooms.count)
    #expect(desk.sequencer.unstored.isEmpty)
    desk.store.failsCommits = false
    #expect(desk.belongings(of: "bo") == ["s"])
    #expect(desk.sequencer.membersToRetry.isEmpty)
  }

  @Test func `that sends were refused is remembered for a second only`() {
    func id(_ index: Int, _ generation: Int) -> SessionID {
      SessionID(index: Int32(index), generation: UInt32(generation))
    }
    var desk = Desk()
    desk.store.failsCommits = true
    for second in 0..<10 {
      desk.now += 1001
      _ = desk.submit((0..<5000).map { append("r", "ada", "\($0)", session: id($0, second)) })
    }
    #expect(desk.sequencer.holds.count <= Sequencer.holdLimit + 5000)
    // Of the last second they are.
    desk.store.failsCommits = false
    let refused = desk.submit(append("r", "ada", "1", session: id(7, 9)))
    #expect(refused.refusals.map(\.code) == [.unavailable])
  }

  @Test func `rooms that nobody sends to are held to what is kept, with not an entry more`() {
    var desk = Desk()
    for id in 1...30 {
      desk.submit(append("r", "ada", "\(id)"), append("s", "ada", "\(id)"))
    }
    let store = desk.store
    desk = Desk(keepEntriesPerRoom: 10)
    desk.store = store
    desk.submit()
    #expect(desk.store.commits.last?.trims.isEmpty == true)
    desk.submit(trimming: ["r", "none"])
    #expect(desk.store.commits.last?.trims.map(\.first) == [21])
    #expect(desk.submit(enter("r", "bo", after: 0)).joined.map(\.first) == [21])
    // What is as it should be costs no commit.
    let commits = desk.store.commits.count
    desk.submit(trimming: ["r"])
    #expect(desk.store.commits.count == commits)
  }

  @Test func `a dm belongs to both once it has an entry`() {
    var desk = Desk()
    desk.submit(enter("dm:ada:bo", "ada"))
    #expect(desk.belongings(of: "bo") == [])
    desk.submit(append("dm:ada:bo", "ada", "1"))
    #expect(desk.belongings(of: "bo") == ["dm:ada:bo"])
    desk.submit(.forget(room: "dm:ada:bo", user: "bo"))
    #expect(desk.belongings(of: "bo") == [])
    desk.submit(append("dm:ada:bo", "ada", "2"))
    #expect(desk.belongings(of: "bo") == ["dm:ada:bo"])
  }

  @Test func `of the relay's own rooms little is kept, and nobody belongs to them`() {
    var desk = Desk()
    let outcome = desk.submit(enter("sys:canary", "ada"), append("sys:canary", "ada", "0"))
    #expect(outcome.acks.map(\.seq) == [1])
    #expect(outcome.commit?.memberships.isEmpty == true)
    for id in 1...100 { desk.submit(append("sys:canary", "ada", "\(id)")) }
    #expect(desk.belongings(of: "ada") == [])
    let joined = desk.submit(enter("sys:canary", "ada", after: 0)).joined.first
    #expect(joined?.head == 101)
    #expect((85...86).contains(joined?.first ?? 0))
    #expect(desk.submit(append("r", "ada", "1")).commit?.memberships.map(\.room) == ["r"])
  }

  @Test func `a join in the batch that trims its room is told what is gone`() {
    var desk = Desk(keepEntriesPerRoom: 10)
    for id in 1...11 { desk.submit(append("r", "ada", "\(id)")) }
    let joined = desk.submit(enter("r", "bo", after: 0), append("r", "ada", "12")).joined.first
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
    var desk = Desk()
    for id in 1...10 { desk.submit(append("r", "ada", "\(id)")) }
    desk.store.lastSeqs = [0: 0, 1: 5]
    if first > 1 {
      var changes = StoreChanges()
      changes.trims = [(1, first)]
      try desk.store.commit(changes)
      let store = desk.store
      desk = Desk()
      desk.store = store
    }
    let joined = try #require(
      desk.submit(enter("r", "bo", after: after, epoch: epoch)).joined.first)
    #expect(joined.after == expected)
    #expect(joined.resume == resume)
    #expect(joined.epoch == "new")
    #expect(joined.head == 10)
    #expect(joined.first == first)
  }
}
