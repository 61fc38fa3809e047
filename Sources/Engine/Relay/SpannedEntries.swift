import Wire

/// The entries of a batch as published to the loops: grouped by room, each encoded once.
struct SpannedEntries {
  private(set) var spans: [Commit.RoomSpan] = []
  private(set) var frames = Frames()
  private(set) var senders: [String] = []
  private(set) var received: [Int64] = []
  private(set) var changes: [Int] = []
  private(set) var hidden: [Int] = []

  /// Creates an empty value.
  init() {}

  /// - Parameters:
  ///   - entries: in commit order; the entries of one room have consecutive `seq`.
  ///   - groups: the index of each entry's span, from 0 on in the order of appearance.
  ///   - firstKept: the oldest `seq` that is kept in each span's room.
  ///   - receivedAt: when each entry was received.
  ///   - hidden: the entries that are shown to their sender alone, by index.
  init(
    _ entries: [StoreChanges.NewEntry], groups: [Int], firstKept: [Int64], receivedAt: [Int64],
    hidden: Set<Int> = [], _ framing: Framing
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
    received.reserveCapacity(entries.count)
    spans.reserveCapacity(firstKept.count)
    // A span's elements are not copied for each access.
    let elements = entries.span
    for index in order {
      frames.append(elements[index].entry, framing)
      if elements[index].change != nil { changes.append(senders.count) }
      if !hidden.isEmpty, hidden.contains(index) { self.hidden.append(senders.count) }
      senders.append(elements[index].entry.from)
      received.append(receivedAt[index])
    }
    for (group, first) in firstKept.enumerated() {
      let (place, last) = (order[next[group]], order[ends[group] - 1])
      precondition(
        elements[last].entry.seq - elements[place].entry.seq == ends[group] - next[group] - 1,
        "the entries of a room have consecutive numbers")
      spans.append(
        Commit.RoomSpan(
          room: elements[place].entry.room, firstSeq: elements[place].entry.seq,
          frames: next[group]..<ends[group], firstKept: first,
          lastAt: elements[last].entry.at, others: elements[place].others))
    }
  }
}
