public import Wire

/// The fast path for entries that have been checked before.
extension Oracle {
  /// Consecutive entries that are expected at a receiver's cursor and are byte for byte equal to
  /// entries that another receiver was given without a violation.
  struct KnownRun {
    var receiver: Int
    /// An index into the receiver's cursors, which are few and rarely move.
    var cursor: Int
    var room: Int
    /// The number of the first entry.
    var first: Int64
    var count: Int
    /// The total size of their frames.
    var bytes: Int
  }

  /// The limit of all tapes together.
  private static let tapeBytes = 64 << 20
  private static let tapeLongestBytes = 1 << 20
  private static let tapeShortestBytes = 4 << 10

  static func tapeLimit(rooms: Int) -> Int {
    max(tapeShortestBytes, min(tapeLongestBytes, tapeBytes / max(1, rooms)))
  }

  /// Checks whether complete frames at the front of `input` are known; changes nothing.
  ///
  /// - Returns: `nil` if the frames must be decoded and passed to `delivered`.
  func known(_ input: Span<UInt8>, to receiver: Int) -> KnownRun? {
    // Where a number can have several entries, it is recorded who holds which.
    if mayFork { return nil }
    let likely = Int(likelyCursors[receiver])
    if likely < cursors[receiver].count {
      if let run = known(input, receiver, likely) { return run }
      if cursors[receiver].count == 1 { return nil }
    }
    guard let room = finder.room(ofFrame: input), let index = cursor(of: receiver, in: room)
    else { return nil }
    return known(input, receiver, index)
  }

  private func known(_ input: Span<UInt8>, _ receiver: Int, _ cursor: Int) -> KnownRun? {
    guard let next = cursors[receiver][cursor].next else { return nil }
    let room = cursors[receiver][cursor].room
    let run = tapes[room].run(in: input, from: next)
    guard run.frames > 0 else { return nil }
    return KnownRun(
      receiver: receiver, cursor: cursor, room: room, first: next, count: run.frames,
      bytes: run.bytes)
  }

  /// Advances the cursor over a run, as `delivered` would have done one by one.
  mutating func pass(_ run: KnownRun) {
    deliveries += run.count
    cursors[run.receiver][run.cursor].next = run.first + Int64(run.count)
    likelyCursors[run.receiver] = Int32(run.cursor)
  }

  /// Returns the intended times of a run's entries.
  func intended(of run: KnownRun) -> ArraySlice<UInt64> {
    tapes[run.room].intended(from: run.first, count: run.count)
  }

  /// Returns the text with which a report shows an entry of the fast path.
  func shown(_ room: Int, _ seq: Int64) -> [UInt8] {
    if let payload = tapes[room].payload(seq) { return Array(payload) }
    guard let slot = ledgers[room][seq] else { return [] }
    return Array("(\(naming.id(of: slot.send)) as seq \(seq) of \(naming.rooms[room]))".utf8)
  }

  /// Handles a delivered entry like `delivered`, and stores it for comparison if it is good.
  public mutating func delivered(
    _ entry: Entry, to receiver: Int, payload: Span<UInt8>
  ) -> UInt64? {
    guard let judged = judge(entry, receiver) else { return nil }
    if judged.isGood, !mayFork, let intended = judged.intended {
      tapes[judged.room].append(
        payload, seq: entry.seq, intended: intended, limitBytes: tapeLimitBytes)
    }
    return judged.intended
  }
}
