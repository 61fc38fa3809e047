import Testing

@testable import Relay

@Suite final class `A turn` {
  private var turn = Turn()
  private var rooms = Rooms()

  private func stage(_ commit: Commit) {
    for (place, span) in commit.spans.enumerated() {
      let room = rooms.findOrInsert(span.room)
      turn.stage(commit, span: place, of: room, in: &rooms[room].staged)
    }
  }

  private func room(_ name: String) throws -> Slot<Room> {
    let room = rooms.find(name)
    return try #require(room)
  }

  private func layOut(_ room: String) throws -> Turn.Slice {
    let room = try self.room(room)
    turn.layOut(rooms[room].staged, of: room)
    return try #require(turn.slices.last)
  }

  private func seqs(_ slice: Turn.Slice) -> [Int64] {
    sequence(of: Array(turn.bytes[Int(slice.lower)..<Int(slice.upper)]))
  }

  @Test func `lays the entries of a room out as one run, over several commits`() throws {
    stage(.entries([("a", 1, 2), ("b", 7, 1)]))
    stage(.entries([("b", 8, 2), ("a", 3, 1)]))
    #expect(turn.rooms.map { rooms[$0].name } == ["a", "b"])
    let (a, b) = (try layOut("a"), try layOut("b"))
    #expect(seqs(a) == [1, 2, 3])
    #expect(seqs(b) == [7, 8, 9])
    #expect(b.firstSeq == 7)
    #expect(b.lastSeq == 9)
  }

  @Test func `knows where each entry of a run begins and ends`() throws {
    stage(.entries([("a", 4, 3)]))
    let slice = try layOut("a")
    #expect(turn.lower(of: slice, after: 3) == slice.lower)
    #expect(turn.lower(of: slice, after: 4) == turn.end(of: slice, 4))
    #expect(turn.end(of: slice, 6) == slice.upper)
    #expect(turn.lastSeq(of: slice, endingBy: slice.lower) == 3)
    #expect(turn.lastSeq(of: slice, endingBy: turn.end(of: slice, 5)) == 5)
    #expect(turn.lastSeq(of: slice, endingBy: turn.end(of: slice, 5) - 1) == 4)
  }

  @Test func `keeps the rooms that wait, in their order, for a later turn`() throws {
    stage(.entries([("a", 1, 1), ("b", 1, 1)]))
    stage(.entries([("b", 2, 1)]))
    let b = try room("b")
    let chain = rooms[b].staged
    rooms[b].staged = Turn.Chain()
    turn.unstage(except: [(b, chain)], &rooms)
    #expect(turn.rooms == [b])
    stage(.entries([("b", 3, 1)]))
    #expect(rooms[b].staged.count == 3)
    let slice = try layOut("b")
    #expect(seqs(slice) == [1, 2, 3])
  }

  @Test func `has space for a room up to its limit`() throws {
    let commit = Commit.entries([("a", 1, 2)])
    stage(commit)
    let a = try room("a")
    turn.bytesLimit = commit.frames.bytes.count
    #expect(turn.hasSpace(for: rooms[a].staged))
    turn.bytesLimit -= 1
    #expect(!turn.hasSpace(for: rooms[a].staged))
  }

  @Test func `releases a buffer that a burst has left behind`() throws {
    let large = Commit.entries([("a", 1, 20_000)])
    #expect(large.frames.bytes.count > Turn.keptBytes)
    stage(large)
    _ = try layOut("a")
    turn.clear()
    #expect(turn.bytes.capacity == 0)
  }
}
