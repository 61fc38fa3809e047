import Mixing
import ShardWorld
import Testing
import Wire

@testable import Relay

@Suite struct `The marks of senders` {
  private func marks(_ harness: inout SequencerHarness, _ user: String) -> Marks? {
    harness.submit(.subscribe("r", "reader")).joined.first?.members?.first { $0.user == user }
  }

  @Test func `stay where they were if the batch of the send is refused`() {
    var harness = SequencerHarness()
    harness.submit(.append("r", "ada", "1"))
    harness.store.failsCommits = true
    #expect(harness.submit(.append("r", "ada", "2")).refusals.map(\.code) == [.unavailable])
    harness.store.failsCommits = false
    #expect(marks(&harness, "ada") == Marks(user: "ada", read: 1, received: 1))
    harness.now += Refusal.retryAfterMilliseconds
    harness.submit(.append("r", "bo", "1"), .append("r", "ada", "2"))
    #expect(marks(&harness, "ada") == Marks(user: "ada", read: 1, received: 1))
  }

  @Test func `a membership whose batch was refused begins where its join was answered`() {
    var harness = SequencerHarness()
    harness.submit(.append("r", "ada", "1"))
    harness.store.failsCommits = true
    let joined = harness.submit(.subscribe("r", "bo")).joined
    #expect(joined.map(\.read) == [1])
    harness.store.failsCommits = false
    harness.submit(.append("r", "ada", "2"))
    #expect(marks(&harness, "bo") == Marks(user: "bo", read: 1, received: 1))
  }

  /// What the marks and counts should be, by the plain rule.
  private struct Model {
    var senders: [String] = []
    var contents: [Bool] = []
    var marks: [String: MemberMarks] = [:]

    mutating func append(_ user: String, isContent: Bool) {
      var own = marks[user] ?? MemberMarks(read: head, received: head)
      let last = Int64(senders.lastIndex { $0 != user }.map { $0 + 1 } ?? 0)
      senders.append(user)
      contents.append(isContent)
      if own.read >= last { own.read = head }
      if own.received >= last { own.received = head }
      marks[user] = own
    }

    mutating func mark(_ user: String, read: Int64, received: Int64) {
      guard var own = marks[user] else { return }
      own.read = max(own.read, min(read, head))
      own.received = max(own.received, min(received, head), own.read)
      marks[user] = own
    }

    var head: Int64 { Int64(senders.count) }

    func unread(_ user: String) -> Int64? {
      marks[user].map { own in
        Int64(
          senders.indices.count {
            $0 >= Int(own.read) && senders[$0] != user && contents[$0]
          })
      }
    }
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `and unread counts follow the rule, over restarts and refused batches`(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var harness = SequencerHarness()
    var model = Model()
    let users = ["ada", "bo", "cy"]
    for step in 0..<120 {
      var next = model
      var requests: [LogRequest] = []
      for place in 0..<Int.random(in: 1...4, using: &random) {
        let user = users[Int.random(in: 0..<3, using: &random)]
        let seq = Int64.random(in: 0...next.head + 2, using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0...3:
          requests.append(.append("r", user, "\(step)-\(place)"))
          next.append(user, isContent: true)
        case 4 where next.head > 0:
          let send = ClientMessage.Send(
            room: "r", id: "\(step)-\(place)", react: 1, emoji: "👍", isOn: place % 2 == 0)
          requests.append(
            .append(
              .init(
                session: SequencerHarness.session, room: "r", user: user, id: send.id,
                kind: .react, body: send.body, reference: send.reference, mayCreate: true)))
          next.append(user, isContent: false)
        case 5:
          requests.append(.mark(room: "r", Marks(user: user, read: seq, received: seq)))
          next.mark(user, read: seq, received: seq)
        default:
          requests.append(.mark(room: "r", Marks(user: user, read: 0, received: seq)))
          next.mark(user, read: 0, received: seq)
        }
      }
      // Only sends: a mark of a refused batch is tried again.
      let isRefused =
        model.head > 0 && Int.random(in: 0..<6, using: &random) == 0
        && requests.allSatisfy { if case .append = $0 { true } else { false } }
      harness.store.failsCommits = isRefused
      _ = harness.submit(requests)
      harness.store.failsCommits = false
      harness.now += Refusal.retryAfterMilliseconds
      if !isRefused { model = next }
      if Int.random(in: 0..<8, using: &random) == 0 {
        let store = harness.store
        harness = SequencerHarness()
        harness.store = store
      }
      for user in users {
        var row: LogAnswer.Membership?
        for case .memberships(_, _, let rooms, _, _) in harness.submit(
          .memberships(ticket: 0, user: user, listed: [], after: .start, limit: 9)
        ).answers[0] {
          row = rooms.first
        }
        #expect(row?.read == model.marks[user]?.read, "\(user) in step \(step)")
        #expect(row?.unread.count == model.unread(user), "\(user) in step \(step)")
      }
    }
  }
}
