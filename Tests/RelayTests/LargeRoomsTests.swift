import Mixing
import ShardWorld
import Testing
import Wire

@testable import Relay

@Suite struct `Rooms with many members` {
  private let limit = SequencedRoom.unstoredMembersLimit

  @Test func `a room without entries is stored as soon as 500 users belong to it`() {
    var harness = SequencerHarness()
    let joined = harness.submit((0..<limit).map { .subscribe("r", "u\($0)") })
    #expect(joined.joined.count == limit)
    #expect(harness.store.commits.isEmpty)
    for user in limit..<limit + 3 { harness.submit(.subscribe("r", "u\(user)")) }
    #expect(harness.store.commits.map(\.members.count) == [limit + 1, 1, 1])
    #expect(harness.store.commits.map(\.newRooms.count) == [1, 0, 0])
    #expect(harness.submit(.append("r", "u0", "1")).acks.map(\.seq) == [1])
    #expect(harness.store.commits.last?.members.isEmpty == true)
    #expect(harness.memberships(of: "u7") == ["r"])
  }

  @Test func `the last of many to leave a room without entries takes nobody else's membership`() {
    var harness = SequencerHarness()
    _ = harness.submit((0...limit).map { .subscribe("r", "u\($0)") })
    let left = harness.submit((0...limit).map { .unsubscribe(room: "r", user: "u\($0)") })
    #expect(left.commit?.membershipChanges.isEmpty == true)
    #expect(harness.memberships(of: "u7") == ["r"])
  }

  @Test func `a room that could not be stored is stored by a later join`() {
    var harness = SequencerHarness()
    harness.store.failsCommits = true
    let joined = harness.submit((0...limit).map { .subscribe("r", "u\($0)") })
    #expect(joined.joined.count == limit + 1)
    harness.store.failsCommits = false
    harness.submit(.subscribe("r", "late"))
    #expect(harness.store.commits.last?.members.count == limit + 2)
  }

  @Test func `a join of a room with many members reads its own membership`() {
    var harness = SequencerHarness()
    _ = harness.submit((0..<2000).map { .append("r", "u\($0)", "1") })
    harness.forgetRooms()
    let joined = harness.submit(.subscribe("r", "u7")).joined
    #expect(joined.map(\.read) == [8])
    #expect(joined.first?.members == nil)
    let room = harness.sequencer.indices["r"].map { harness.sequencer.rooms[$0] }
    #expect(room?.memberCount == 2000)
    #expect(room?.members.keys.sorted() == ["u1999", "u7"])
  }

  @Test(arguments: UInt64(0)..<100)
  func `a room whose members are read one by one answers as one that has them all`(
    _ seed: UInt64
  ) {
    var random = SplitMix64(seed: seed)
    var (whole, parts) = (SequencerHarness(), SequencerHarness())
    parts.store.base = MemoryStore(membersLimit: 2)
    parts.store.base.epoch = 2
    for step in 0..<60 {
      let requests = (0..<Int.random(in: 1...4, using: &random)).map { index in
        Self.request("\(step)-\(index)", &random)
      }
      let fails = Int.random(in: 0..<8, using: &random) == 0
      let forgets = Int.random(in: 0..<4, using: &random) == 0
      var outcomes: [String] = []
      for var harness in [whole, parts] {
        harness.store.failsCommits = fails
        outcomes.append(Self.seen(harness.submit(requests)))
        if forgets { harness.forgetRooms() }
        if outcomes.count == 1 { whole = harness } else { parts = harness }
      }
      #expect(outcomes[0] == outcomes[1], "step \(step): \(requests)")
      if outcomes[0] != outcomes[1] { return }
    }
  }

  private static func request(_ id: String, _ random: inout SplitMix64) -> LogRequest {
    let room = ["r", "s"].randomElement(using: &random) ?? ""
    let user = "u\(Int.random(in: 0..<6, using: &random))"
    return switch Int.random(in: 0..<9, using: &random) {
    case 0...2: .append(room, user, id)
    case 3: .subscribe(room, user)
    case 4: .unsubscribe(room: room, user: user)
    case 5: .read(room, user, Int64.random(in: 0..<40, using: &random))
    case 6: .forget(room: room, user: user)
    case 7: .typing(room: room, user: user, on: true)
    default:
      .memberships(ticket: 0, user: user, listed: ["r"], after: .start, limit: 10)
    }
  }

  /// What clients can see of an outcome, but for the lists of members.
  private static func seen(_ outcome: Sequencer.Outcome) -> String {
    let answers = outcome.answers[0].map { answer -> String in
      guard case .subscribed(_, var subscribed) = answer else { return "\(answer)" }
      subscribed.joined.members = nil
      return "\(subscribed)"
    }
    let commit = outcome.commit
    return """
      \(answers)
      \(commit?.marks ?? [])
      \(commit?.membershipChanges ?? [])
      \(commit?.typing ?? [])
      \(commit?.audiences ?? [])
      """
  }
}

extension SequencerHarness {
  /// Makes the sequencer read all rooms without subscribers again.
  fileprivate mutating func forgetRooms() {
    for room in sequencer.rooms.indices where sequencer.rooms[room].number != nil {
      sequencer.rooms[room].isStale = true
    }
  }
}
