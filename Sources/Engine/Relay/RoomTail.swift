import DequeModule

/// The last entries of a room that one loop keeps in memory: spans of commits, oldest first,
/// without a gap up to the room's head.
struct RoomTail {
  private struct Span {
    var commit: Commit
    var place: Int32
    var firstSeq: Int64
    var lastSeq: Int64

    var frames: Range<Int> { commit.spans[Int(place)].frames }
  }

  private var spans = Deque<Span>()

  var isEmpty: Bool { spans.isEmpty }

  /// The JSON of the last entry.
  var lastEntry: ArraySlice<UInt8>? {
    spans.last.map { $0.commit.frames.payload($0.frames.upperBound - 1) }
  }

  /// - Parameter place: the index of the room's span in the commit.
  mutating func append(_ commit: Commit, span place: Int) {
    let span = commit.spans[place]
    spans.append(
      Span(
        commit: commit, place: Int32(place), firstSeq: span.firstSeq, lastSeq: span.lastSeq))
  }

  /// Removes the oldest span if it starts at `seq`.
  /// - Returns: whether it did; not if the span has been removed before.
  mutating func removeFirst(startingAt seq: Int64) -> Bool {
    guard spans.first?.firstSeq == seq else { return false }
    spans.removeFirst()
    return true
  }

  /// Removes all entries up to `seq`, and those that share a span with them.
  mutating func removeAll(through seq: Int64) {
    while let oldest = spans.first, oldest.firstSeq <= seq { spans.removeFirst() }
  }

  /// Whether the tail has all entries after `cursor`.
  func reaches(backTo cursor: Int64) -> Bool {
    spans.first.map { $0.firstSeq <= cursor + 1 } ?? false
  }

  /// Appends the frames after `cursor` to an outbox, and moves the cursor.
  /// - Parameters:
  ///   - through: the last one.
  ///   - queued: the bytes of the outbox that were not written yet.
  ///   - limit: the bytes that may be queued; a single frame may exceed them.
  /// - Returns: whether all of them were appended.
  func append(
    after cursor: inout Int64, through last: Int64, to outbox: inout [UInt8], queued: Int,
    limit: Int
  ) -> Bool {
    var queued = queued
    for span in spans[firstIndex(endingAfter: cursor)...] {
      for seq in max(cursor + 1, span.firstSeq)...span.lastSeq {
        if seq > last { return true }
        let frames = span.commit.frames
        let bounds = frames.bounds[span.frames.lowerBound + Int(seq - span.firstSeq)]
        let frame = Int(bounds.lower)..<Int(bounds.upper)
        if queued > 0, queued + frame.count > limit { return false }
        outbox.append(contentsOf: frames.bytes[frame])
        queued += frame.count
        cursor = seq
      }
    }
    return true
  }

  private func firstIndex(endingAfter seq: Int64) -> Int {
    var low = 0
    var high = spans.count
    while low < high {
      let middle = (low + high) / 2
      if spans[middle].lastSeq <= seq { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
