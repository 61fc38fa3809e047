import ShardWorld
import Testing
import Wire

@testable import Relay

@Suite struct `Unread entries` {
  private func unread(_ harness: inout SequencerHarness, _ user: String) -> [Unread] {
    var unread: [Unread] = []
    var after = Optional(MembershipsCursor.start)
    while let cursor = after {
      after = nil
      for case .memberships(_, _, let rooms, let next, _) in harness.submit(
        .memberships(ticket: 0, user: user, listed: [], after: cursor, limit: 256)
      ).answers[0] {
        unread += rooms.map(\.unread)
        after = next
      }
    }
    return unread
  }

  private static func react(_ room: String, _ user: String, _ id: String) -> LogRequest {
    let send = ClientMessage.Send(room: room, id: id, react: 1, emoji: "👍", isOn: true)
    return .append(
      .init(
        session: SequencerHarness.session, room: room, user: user, id: id, kind: .react,
        body: send.body, reference: send.reference, mayCreate: true))
  }

  @Test func `are counted between the user's own, which do not count`() {
    var harness = SequencerHarness()
    harness.submit(.append("dm:ada:bo", "bo", "1"), .append("dm:ada:bo", "ada", "1"))
    harness.submit(
      .append("dm:ada:bo", "bo", "2"), .append("dm:ada:bo", "bo", "3"),
      Self.react("dm:ada:bo", "bo", "4"), Self.react("dm:ada:bo", "ada", "2"),
      .append("dm:ada:bo", "bo", "5"))
    harness.submit(.append("dm:ada:bo", "ada", "3"))
    #expect(unread(&harness, "ada") == [Unread(4)])
    let marked = harness.submit(.read("dm:ada:bo", "ada", 3)).commit
    #expect(marked?.marks.map(\.unread) == [Unread(2)])
    #expect(unread(&harness, "ada") == [Unread(2)])
    harness.submit(.read("dm:ada:bo", "ada", 7))
    #expect(unread(&harness, "ada") == [Unread()])
  }

  @Test func `a user's own entries in a row cost one lookup, however many they are`() {
    var harness = SequencerHarness()
    harness.submit(.append("dm:ada:bo", "bo", "1"))
    for batch in 0..<10 {
      _ = harness.submit((0..<1000).map { .append("dm:ada:bo", "ada", "\(batch)-\($0)") })
    }
    let before = harness.store.meter.total(.runs)
    #expect(unread(&harness, "ada") == [Unread(1)])
    #expect(harness.store.meter.total(.runs) - before == 2)
    let marked = harness.submit(.read("dm:ada:bo", "ada", 1)).commit
    #expect(marked?.marks.map(\.unread) == [Unread()])
    #expect(harness.store.meter.total(.runs) - before == 3)
  }

  /// Every second entry is the user's own.
  private func alternate(_ rooms: Int, _ entries: Int) -> SequencerHarness {
    var harness = SequencerHarness()
    for room in 0..<rooms {
      let name = "dm:ada:b\(room)"
      _ = harness.submit(
        (0..<entries).flatMap {
          [.append(name, "b\(room)", "\($0)"), .append(name, "ada", "\($0)")]
        })
    }
    return harness
  }

  @Test func `are counted exactly up to the limit`() {
    let limit = Sequencer.unreadLimit
    // The mark passes two of the other's entries.
    for (entries, expected) in [
      (limit + 2, Unread(limit)), (limit + 3, Unread(limit + 1, isMore: true)),
    ] {
      var harness = alternate(1, Int(entries))
      harness.submit(.read("dm:ada:b0", "ada", 3))
      #expect(unread(&harness, "ada") == [expected])
    }
  }

  @Test func `beyond the limit the count stops, and says so`() {
    var harness = alternate(1, Int(Sequencer.unreadLimit) * 2)
    let before = harness.store.meter.total(.runs)
    #expect(unread(&harness, "ada") == [Unread(Sequencer.unreadLimit + 1, isMore: true)])
    #expect(harness.store.meter.total(.runs) - before <= Int(2 * Sequencer.unreadLimit + 3))
  }

  @Test func `of many rooms are counted slice by slice, each at a bounded cost`() {
    var harness = alternate(10, Int(Sequencer.unreadLimit) * 2)
    let one = Int(2 * Sequencer.unreadLimit + 3)
    var slices = 0
    var counted: [Unread] = []
    var after = Optional(MembershipsCursor.start)
    while let cursor = after, slices < 20 {
      after = nil
      slices += 1
      let before = harness.store.meter.total(.runs)
      for case .memberships(_, _, let rooms, let next, _) in harness.submit(
        .memberships(ticket: 0, user: "ada", listed: [], after: cursor, limit: 256)
      ).answers[0] {
        counted += rooms.map(\.unread)
        after = next
      }
      #expect(harness.store.meter.total(.runs) - before < Sequencer.unreadRunsLimit + one)
    }
    #expect(
      counted == Array(repeating: Unread(Sequencer.unreadLimit + 1, isMore: true), count: 10))
    #expect(slices > 2)
    // The marks of one batch as well: beyond the limit its counts are upper bounds.
    let before = harness.store.meter.total(.runs)
    let commit = harness.submit((0..<10).map { .read("dm:ada:b\($0)", "ada", 1) }).commit
    #expect(harness.store.meter.total(.runs) - before < Sequencer.unreadRunsLimit + one)
    #expect(commit?.marks.count == 10)
    #expect(commit?.marks.allSatisfy { $0.unread.count > Sequencer.unreadLimit } == true)
  }

  @Test func `entries cost no lookups and no rows of members, whoever sends them`() throws {
    var harness = SequencerHarness()
    let users = ["ada", "bo", "cy"]
    _ = harness.submit(users.map { .append("r", $0, "first") })
    _ = harness.submit(users.map { .append("r", $0, "second") })
    let (runs, entries, commits) = (
      harness.store.meter.total(.runs), harness.store.meter.total(.entries),
      harness.store.commits.count
    )
    for id in 0..<100 { _ = harness.submit(users.map { .append("r", $0, "\(id)") }) }
    #expect(harness.store.meter.total(.runs) == runs)
    #expect(harness.store.meter.total(.entries) == entries)
    #expect(harness.store.commits[commits...].allSatisfy { $0.members.isEmpty })
  }
}
