import Testing
import Wire

@testable import Relay

@Suite struct `The tail of a room` {
  /// Entries 11 to 20, in commits of 3, 3 and 4.
  private func tail() -> RoomTail {
    var tail = RoomTail()
    for (first, count) in [(11, 3), (14, 3), (17, 4)] {
      tail.append(.entries([("r", Int64(first), count)]), span: 0)
    }
    return tail
  }

  private func frames(
    after seq: Int64, through last: Int64 = .max, queued: Int = 0, limit: Int = .max
  ) -> (seqs: [Int64], cursor: Int64, isComplete: Bool) {
    var cursor = seq
    var outbox: [UInt8] = []
    let isComplete = tail().append(
      after: &cursor, through: last, to: &outbox, queued: queued, limit: limit)
    return (sequence(of: outbox), cursor, isComplete)
  }

  @Test func `ends with the last entry that is wanted`() {
    let frames = frames(after: 12, through: 15)
    #expect(frames.seqs == [13, 14, 15])
    #expect(frames.cursor == 15 && frames.isComplete)
  }

  @Test func `reaches back to its first entry`() {
    #expect(tail().reaches(backTo: 10))
    #expect(!tail().reaches(backTo: 9))
    #expect(!RoomTail().reaches(backTo: 0))
  }

  @Test(arguments: 10...19) func `gives every entry after a cursor at any position`(
    after seq: Int
  ) {
    let (seqs, cursor, isComplete) = frames(after: Int64(seq))
    #expect(seqs == Array(Int64(seq + 1)...20))
    #expect(cursor == 20)
    #expect(isComplete)
  }

  @Test func `gives nothing at its head`() {
    let (seqs, cursor, isComplete) = frames(after: 20)
    #expect(seqs.isEmpty)
    #expect(cursor == 20)
    #expect(isComplete)
  }

  @Test func `stops before the limit is exceeded, and leaves the cursor there`() {
    let one = Commit.entries([("r", 11, 1)]).frames.bytes.count
    let (seqs, cursor, isComplete) = frames(after: 10, limit: 4 * one + 1)
    #expect(seqs == [11, 12, 13, 14])
    #expect(cursor == 14)
    #expect(!isComplete)
  }

  @Test func `gives one entry that is larger than the limit to an empty queue only`() {
    #expect(frames(after: 10, limit: 1).seqs == [11])
    #expect(frames(after: 10, queued: 1, limit: 2).seqs.isEmpty)
  }

  @Test func `knows its last entry`() throws {
    let json = try #require(tail().lastEntry)
    #expect(try Entry(decoding: Array(json).span).seq == 20)
  }

  @Test func `loses a span that its commit takes with it, once`() {
    var tail = tail()
    let removed = [14, 11, 11].map { tail.removeFirst(startingAt: $0) }
    #expect(removed == [false, true, false])
    #expect(tail.reaches(backTo: 13))
    #expect(!tail.reaches(backTo: 12))
  }

  @Test func `loses whole spans with a redacted entry`() {
    var tail = tail()
    tail.removeAll(through: 14)
    #expect(tail.reaches(backTo: 16))
    #expect(!tail.reaches(backTo: 15))
    tail.removeAll(through: 20)
    #expect(tail.isEmpty)
  }
}

@Suite struct `Recent commits` {
  @Test func `give up the oldest as long as they exceed their limit`() {
    let one = Commit.entries([("r", 1, 1)]).frames.bytes.count
    var recent = RecentCommits(limitBytes: 2 * one)
    for seq in 1...4 {
      recent.append(RecentCommits.Element(commit: .entries([("r", Int64(seq), 1)]), rooms: []))
    }
    #expect(recent.bytes == 4 * one)
    let popped = (1...3).map { _ in recent.popExcess()?.commit.spans.first?.firstSeq }
    #expect(popped == [1, 2, nil])
    #expect(recent.bytes == 2 * one)
  }
}
