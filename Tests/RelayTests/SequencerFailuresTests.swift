import ShardWorld
import Testing
import Wire

@testable import Relay

@Suite struct `A sequencer whose store fails` {
  @Test
  func `a batch that cannot be stored is refused as a whole, and numbers continue without a gap`() {
    var harness = SequencerHarness()
    #expect(harness.submit(.append("r", "ada", "1")).acks.map(\.seq) == [1])
    harness.store.failsCommits = true
    let refused = harness.submit(
      .append("r", "ada", "2"), .append("r", "bo", "3"), .append("q", "bo", "4"))
    #expect(refused.failure != nil)
    #expect(refused.acks.isEmpty)
    #expect(refused.refusals.map(\.code) == [.unavailable, .unavailable, .unavailable])
    #expect(refused.refusals.map(\.id) == ["2", "3", "4"])
    #expect(refused.refusals.allSatisfy { $0.re == .send && $0.retryAfterMilliseconds == 1000 })
    #expect(refused.commit?.spans.isEmpty != false)
    harness.store.failsCommits = false
    harness.now += 1000
    let resent = harness.submit(
      .append("r", "ada", "2"), .append("r", "bo", "3"), .append("q", "bo", "4"))
    #expect(resent.acks.map(\.seq) == [2, 3, 1])
    #expect(resent.acks.allSatisfy { !$0.duplicate })
  }

  @Test(arguments: [false, true])
  func
    `after a refused send the session's further sends to the room are refused until the hold ends`(
      _ byReading: Bool
    )
  {
    var harness = SequencerHarness()
    if byReading { harness.store.failsReads = true } else { harness.store.failsCommits = true }
    #expect(harness.submit(.append("r", "ada", "1")).refusals.count == 1)
    harness.store.failsReads = false
    harness.store.failsCommits = false
    harness.now += 400
    let other = SessionID(index: 2, generation: 0)
    let outcome = harness.submit(
      .append("r", "ada", "2"), .append("q", "ada", "3"), .append("r", "bo", "4", session: other))
    #expect(outcome.refusals.map(\.id) == ["2"])
    #expect(outcome.refusals.map(\.retryAfterMilliseconds) == [600])
    #expect(outcome.acks.map(\.id) == ["3", "4"])
    harness.now += 600
    #expect(
      harness.submit(.append("r", "ada", "1"), .append("r", "ada", "2")).acks.map(\.seq) == [2, 3])
  }

  @Test func `a request that awaits an answer gets one, also if its room cannot be read`() {
    let origin = LogRequest.Origin(session: SequencerHarness.session, re: .typing, ref: "1")
    let requests: [LogRequest] = [
      .typing(room: "r", user: "ada", on: true, from: origin),
      .mark(room: "r", Marks(user: "ada", read: 1, received: 1), from: origin),
      .forget(room: "r", user: "ada", from: origin),
    ]
    for request in requests {
      var harness = SequencerHarness()
      harness.store.failsReads = true
      let answers = harness.submit(request).answers[0]
      #expect(answers.count == 1)
    }
  }

  @Test func `a reference is not refused because of a change that the batch failed to store`() {
    var harness = SequencerHarness()
    harness.submit(.append("r", "ada", "1"))
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
    // The deletion is not stored, so the reaction must not be told that its target is deleted.
    #expect(harness.submit(both()).refusals.map(\.code) == [.unavailable, .unavailable])
    harness.store.failsCommits = false
    harness.now += 1000
    #expect(harness.submit(both()).refusals.map(\.code) == [.noSuchEntry])
  }

  @Test func `a clock that is set back does not prolong a hold`() {
    var harness = SequencerHarness()
    harness.store.failsCommits = true
    harness.submit(.append("r", "ada", "1"))
    harness.store.failsCommits = false
    harness.now -= 3_600_000
    #expect(harness.submit(.append("r", "ada", "1")).acks.map(\.seq) == [1])
  }

  @Test func `a duplicate of a stored entry is acknowledged although the batch is refused`() {
    var harness = SequencerHarness()
    harness.submit(.append("r", "ada", "1"))
    harness.store.failsCommits = true
    let outcome = harness.submit(
      .append("r", "ada", "1"), .append("r", "bo", "2"), .append("r", "bo", "2"))
    #expect(outcome.acks.map(\.seq) == [1])
    #expect(outcome.acks.allSatisfy { $0.duplicate })
    #expect(outcome.refusals.map(\.id) == ["2", "2"])
  }

  @Test func `an id has no other content if the batch with the first is refused`() {
    var harness = SequencerHarness()
    harness.store.failsCommits = true
    let refused = harness.submit(
      .append("r", "ada", "1"), .append("r", "ada", "1", text: "other"))
    #expect(refused.refusals.map(\.code) == [.unavailable, .unavailable])
    harness.store.failsCommits = false
    harness.now += 1000
    let stored = harness.submit(
      .append("r", "ada", "1", text: "other"), .append("r", "ada", "1"))
    #expect(stored.acks.map(\.seq) == [1])
    #expect(stored.refusals.map(\.code) == [.idConflict])
    #expect(harness.store.commits.last?.entries.first?.entry.text == "other")
  }

  @Test func `other content is not acknowledged because of a deletion that is not stored`() {
    var harness = SequencerHarness()
    harness.submit(.append("r", "ada", "1"))
    harness.store.failsCommits = true
    let requests: [LogRequest] = [
      .append(ClientMessage.Send(room: "r", id: "2", delete: 1), "ada"),
      .append("r", "ada", "1", text: "other"), .append("r", "ada", "1"),
    ]
    let refused = harness.submit(requests)
    #expect(refused.refusals.map(\.code) == [.unavailable, .unavailable])
    #expect(refused.acks.map(\.seq) == [1])
    harness.store.failsCommits = false
    harness.now += 1000
    #expect(harness.submit(requests).acks.map(\.seq) == [2, 1, 1])
  }

  @Test(arguments: [("newest", 1), ("new", 2)])
  func `a node that cannot follow the others does not call lost what it does not know`(
    _ epoch: String, _ after: Int64
  ) {
    var harness = SequencerHarness()
    harness.submit(.append("r", "ada", "1"))
    harness.store.mayHaveMore = true
    harness.store.failsCommits = true
    // Another node has begun an epoch, or has stored an entry.
    let ahead = harness.submit(
      .append("r", "ada", "2"), .subscribe("r", "bo", after: after, epoch: epoch))
    #expect(ahead.joined.isEmpty)
    #expect(ahead.refusals.map(\.re) == [.send, .join])
    #expect(ahead.refusals.map(\.code) == [.unavailable, .unavailable])
    // What it knows to be in the log it can still serve.
    let level = harness.submit(
      .append("r", "ada", "2"), .subscribe("r", "bo", after: 1, epoch: "new"))
    #expect(level.joined.map(\.resume) == [.ok])
  }

  @Test func `a join succeeds while the log cannot write, and its membership is stored later`() {
    var harness = SequencerHarness()
    harness.submit(.append("r", "ada", "1"))
    harness.store.failsCommits = true
    let joined = harness.submit(.subscribe("r", "bo", after: 0)).joined
    #expect(joined.map(\.head) == [1])
    #expect(joined.first?.members?.map(\.user) == ["ada", "bo"])
    harness.store.failsCommits = false
    let commit = harness.submit(.append("q", "ada", "2")).commit
    #expect(commit?.membershipChanges.map(\.user).contains("bo") == true)
    #expect(harness.memberships(of: "bo") == ["r"])
  }

  @Test func `marks that could not be stored are tried again, and never go back`() throws {
    var harness = SequencerHarness()
    harness.submit(.subscribe("r", "bo"))
    harness.submit(.append("r", "ada", "1"), .append("r", "ada", "2"), .append("r", "ada", "3"))
    harness.store.failsCommits = true
    harness.submit(.read("r", "bo", 1))
    harness.submit(.read("r", "bo", 3))
    harness.store.failsReads = true
    // Neither the marks can be written nor the room read: the retry waits for both.
    harness.submit(.read("r", "bo", 2))
    harness.store.failsReads = false
    harness.store.failsCommits = false
    let commit = try #require(harness.submit().commit)
    #expect(commit.marks.map(\.marks) == [Marks(user: "bo", read: 3, received: 3)])
    #expect(try harness.store.base.loadRoom("r")?.members["bo"]?.read == 3)
  }

  @Test
  func
    `a forget that could not be stored is tried again, even of a user that joined in that batch`()
  {
    var harness = SequencerHarness()
    harness.submit(.append("r", "ada", "1"), .subscribe("r", "bo"))
    harness.store.failsCommits = true
    harness.submit(.unsubscribe(room: "r", user: "bo"), .forget(room: "r", user: "bo"))
    harness.submit(
      .subscribe("r", "eve"), .unsubscribe(room: "r", user: "eve"), .forget(room: "r", user: "eve"))
    harness.store.failsCommits = false
    harness.submit()
    #expect(harness.memberships(of: "bo") == [])
    #expect(harness.memberships(of: "eve") == [])
    #expect(harness.memberships(of: "ada") == ["r"])
  }

  @Test func `a room that a refused send would have created does not exist`() {
    var harness = SequencerHarness()
    harness.submit(.subscribe("r", "ada"))
    #expect(harness.memberships(of: "ada") == ["r"])
    harness.store.failsCommits = true
    let outcome = harness.submit(
      .subscribe("r", "bo"), .append("r", "eve", "1"), .append("q", "eve", "2"))
    #expect(outcome.commit?.membershipChanges.map(\.user) == ["bo"])
    harness.store.failsCommits = false
    #expect(harness.memberships(of: "ada") == ["r"])
    #expect(harness.memberships(of: "bo") == ["r"])
    #expect(harness.memberships(of: "eve") == [])
    // q has no members and no entries: it does not exist.
    harness.now += 5000
    let asked = harness.submit(.append("q", "bo", "3", mayCreate: false))
    #expect(asked.refusals.map(\.code) == [.noSuchRoom])
  }

  @Test func `rooms that were created and left do not stay in memory while the store fails`() {
    var harness = SequencerHarness()
    harness.submit(.append("r", "ada", "1"), .append("s", "ada", "1"))
    // The change to be tried again names its room, which is not the first.
    harness.submit(.subscribe("x", "cy"), .unsubscribe(room: "x", user: "cy"))
    harness.store.failsCommits = true
    harness.submit(.subscribe("s", "bo"), .unsubscribe(room: "s", user: "bo"))
    #expect(harness.sequencer.retries.count == 1)
    for round in 0..<3 {
      _ = harness.submit(
        (0...Sequencer.idleRoomLimit).flatMap {
          [
            .subscribe("\(round)-\($0)", "ada"), .unsubscribe(room: "\(round)-\($0)", user: "ada"),
          ]
        })
    }
    harness.submit()
    #expect(harness.sequencer.indices.count < 10)
    #expect(harness.sequencer.rooms.count < 10)
    #expect(harness.sequencer.unstored.isEmpty)
    harness.store.failsCommits = false
    #expect(harness.memberships(of: "bo") == ["s"])
    #expect(harness.sequencer.retries.count == 0)
  }

  @Test func `refused sends are remembered for one second`() {
    func id(_ index: Int, _ generation: Int) -> SessionID {
      SessionID(index: Int32(index), generation: UInt32(generation))
    }
    var harness = SequencerHarness()
    harness.store.failsCommits = true
    for second in 0..<10 {
      harness.now += 1001
      _ = harness.submit((0..<5000).map { .append("r", "ada", "\($0)", session: id($0, second)) })
    }
    #expect(harness.sequencer.holds.count <= 2 * 5000)
    // Those of the last second are remembered.
    harness.store.failsCommits = false
    let refused = harness.submit(.append("r", "ada", "1", session: id(7, 9)))
    #expect(refused.refusals.map(\.code) == [.unavailable])
  }
}
