import Wire

/// A batch's entries as every loop gets them: room by room, each encoded once.
struct SpannedEntries {
  private(set) var spans: [Commit.RoomSpan] = []
  private(set) var frames = Frames()
  private(set) var senders: [String] = []
  private(set) var changes: [Int] = []

  /// None.
  init() {}

  /// - Parameters:
  ///   - entries: in commit order; those of one room with consecutive `seq`.
  ///   - groups: which span each of them belongs to, from 0 on in the order of appearance.
  ///   - firstKept: of each span's room, the oldest `seq` that is kept.
  init(
    _ entries: [StoreChanges.NewEntry], groups: [Int], firstKept: [Int64], _ framing: Framing
  ) {
    var ends = Array(repeating: 0, count: firstKept.count)
    for group in groups { ends[group] += 1 }
    for group in ends.indices.dropFirst() { ends[group] += ends[group - 1] }
    var order = Array(repeating: 0, count: entries.count)
    var next = ends
    for index in entries.indices.reversed() {
      next[groups[index]] -= 1
      order[next[groups[index]]] = index
    }
    frames.reserve(
      frames: entries.count, bytes: entries.reduce(0) { $0 + $1.entry.body.count + 192 })
    senders.reserveCapacity(entries.count)
    spans.reserveCapacity(firstKept.count)
    for index in order {
      frames.append(entries[index].entry, framing)
      if entries[index].change != nil { changes.append(senders.count) }
      senders.append(entries[index].entry.from)
    }
    for (group, first) in firstKept.enumerated() {
      let entry = entries[order[next[group]]].entry
      spans.append(
        Commit.RoomSpan(
          room: entry.room, firstSeq: entry.seq, frames: next[group]..<ends[group],
          firstKept: first, lastAt: entries[order[ends[group] - 1]].entry.at))
    }
  }
}
