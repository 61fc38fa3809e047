/// A room as a store has it.
package struct RetainedRoom: Sendable {
  package var number: Int64
  package var name: String
  /// The oldest `seq` that is kept.
  package var first: Int64
  package var head: Int64

  package init(number: Int64, name: String, first: Int64, head: Int64) {
    self.number = number
    self.name = name
    self.first = first
    self.head = head
  }
}

/// What the rules ask of an entry.
package struct RetainedEntry: Sendable {
  package var seq: Int64
  /// Milliseconds since 1970.
  package var at: Int64
  /// The size of what it has, as `RoomListing.bytes`.
  package var bytes: Int64

  package init(seq: Int64, at: Int64, bytes: Int64) {
    self.seq = seq
    self.at = at
    self.bytes = bytes
  }
}

/// What a `RetentionTracker` reads of a store.
package protocol RetentionSource {
  /// Returns the time of the newest entry, in milliseconds since 1970; `nil` if there is none. Asked once.
  mutating func newestEntryAt() throws(StoreFailure) -> Int64?

  /// Returns rooms whose number is greater, in ascending order; at most `limit` of them.
  mutating func retainedRooms(
    after number: Int64, limit: Int
  ) throws(StoreFailure) -> [RetainedRoom]

  /// Returns those entries of a room that can be read, in order.
  mutating func retainedEntries(
    ofRoom number: Int64, in seqs: ClosedRange<Int64>
  ) throws(StoreFailure) -> [RetainedEntry]
}

/// Finds the entries that are no longer kept, in steps of bounded cost, beside the writer of a log.
///
/// Every entry is read at most twice: when it is added to the size of its room, and when it goes. So a
/// pass over rooms in which nothing happens reads no entry.
package struct RetentionTracker {
  /// How many rooms are looked up at once, and examined by one step at most.
  private static let roomsAtOnce = 1000
  /// The number of entries that one step reads.
  private static let readAtOnce: Int64 = 4096
  /// The number of rooms that one batch trims.
  private static let trimsAtOnce = 64
  /// Sizes are added up again after this time, before an entry goes because of them: texts that were
  /// deleted have become shorter since.
  static let recountMilliseconds: Int64 = 3_600_000

  /// What is known of a room.
  private struct Known {
    /// The entries whose sizes are in `bytes`: those from `first` on, up to `through`.
    var first: Int64
    var through: Int64
    var bytes: Int64 = 0
    /// In milliseconds of the monotonic clock.
    var countedAt: Int64
    /// The time of `first`, or of the first entry after it that can be read; `nil` = not read.
    var oldestAt: Int64?
  }

  package private(set) var retention: Retention
  private var clock: RetentionClock?
  private var known: [Int64: Known] = [:]
  /// The rooms that the current pass still has to examine, the next one last.
  private var waiting: [RetainedRoom] = []
  /// Where its next rooms begin; `nil` if there are no more.
  private var after: Int64?
  /// Milliseconds since 1970, and of the monotonic clock.
  private var (now, monotonic): (Int64, Int64) = (0, 0)
  private var readsLeft: Int64 = 0
  private var trimsLeft: Int64 = 0

  /// What the last complete pass found: the number of commits before it, and when the next entry goes
  /// by its age.
  private var passed: (version: Int, due: Int64)?
  private var (version, due): (Int, Int64) = (0, .max)

  package init(_ retention: Retention) { self.retention = retention }

  /// Whether the wall clock is ahead of the time by which ages are judged.
  package var doubtsClock: Bool { retention.removesByAge && clock?.doubts ?? false }

  package mutating func replace(by retention: Retention) {
    self.retention = retention
    known = [:]
    forgetPass()
  }

  /// Makes the next pass examine all rooms: not everything was trimmed that has to be.
  package mutating func forgetPass() { passed = nil }

  /// Begins a pass.
  /// - Parameters:
  ///   - version: grows with each entry of the log.
  ///   - wall: milliseconds since 1970.
  ///   - monotonic: milliseconds of the monotonic clock.
  /// - Returns: whether there may be something to do.
  package mutating func beginPass(
    version: Int, wall: Int64, monotonic: Int64, _ source: inout some RetentionSource
  ) throws(StoreFailure) -> Bool {
    if clock == nil {
      clock = RetentionClock(wall: wall, monotonic: monotonic, newest: try source.newestEntryAt())
    }
    now = clock?.now(wall: wall, monotonic: monotonic) ?? wall
    self.monotonic = monotonic
    if let passed, passed.version == version, now < passed.due { return false }
    (waiting, after, self.version, due) = ([], 0, version, .max)
    return true
  }

  /// Does a part of the pass.
  /// - Returns: what to trim in one batch, possibly nothing; `nil` at the end of the pass. Trims that
  ///   fail are found again by the next pass, after `forgetPass`.
  package mutating func step(
    _ source: inout some RetentionSource
  ) throws(StoreFailure) -> [RoomTrim]? {
    if waiting.isEmpty {
      guard let after else {
        passed = (version, due)
        return nil
      }
      let rooms = try source.retainedRooms(after: after, limit: Self.roomsAtOnce)
      self.after = rooms.count == Self.roomsAtOnce ? rooms.last?.number : nil
      waiting = rooms.reversed()
    }
    (readsLeft, trimsLeft) = (Self.readAtOnce, Retention.trimmedAtOnce)
    var trims: [RoomTrim] = []
    while trims.count < Self.trimsAtOnce, readsLeft > 0, trimsLeft > 0,
      var room = waiting.popLast()
    {
      guard room.first <= room.head, let rule = retention.rule(for: room.name) else { continue }
      let first = try advance(room, rule, &source)
      if first.seq > room.first {
        trims.append(RoomTrim(room: room.name, first: first.seq, head: room.head))
        trimsLeft -= first.seq - room.first
      }
      if !first.isFinal {
        room.first = first.seq
        waiting.append(room)
      }
    }
    return trims
  }

  /// Returns the first entry of a room that is kept, as far as this step gets.
  private mutating func advance(
    _ room: RetainedRoom, _ rule: Retention.Rule, _ source: inout some RetentionSource
  ) throws(StoreFailure) -> (seq: Int64, isFinal: Bool) {
    let fewest = max(room.first, room.head - (rule.entries ?? .max - 1) + 1)
    let bounded = min(fewest, room.first + trimsLeft)
    guard rule.bytes != nil || rule.milliseconds != nil else {
      return (bounded, bounded == fewest)
    }
    let fresh = Known(first: room.first, through: room.first - 1, countedAt: monotonic)
    var state = known[room.number] ?? fresh
    if state.first != room.first || state.through > room.head { state = fresh }
    defer { known[room.number] = state }
    if let limit = rule.bytes {
      guard try count(room, &state, &source) else { return (room.first, false) }
      if state.bytes > limit, monotonic - state.countedAt >= Self.recountMilliseconds {
        state = fresh
        guard try count(room, &state, &source) else { return (room.first, false) }
      }
    } else if bounded > state.first {
      // Entries that go by their number need not be read.
      (state.first, state.oldestAt) = (bounded, nil)
      return (bounded, bounded == fewest && bounded > room.head)
    }
    return try removeOldest(of: room, rule, fewest: fewest, &state, &source)
  }

  /// Adds the sizes of new entries.
  /// - Returns: whether all are added.
  private mutating func count(
    _ room: RetainedRoom, _ state: inout Known, _ source: inout some RetentionSource
  ) throws(StoreFailure) -> Bool {
    while state.through < room.head, readsLeft > 0 {
      let last = min(room.head, state.through + readsLeft)
      for entry in try source.retainedEntries(ofRoom: room.number, in: state.through + 1...last) {
        state.bytes += entry.bytes
      }
      readsLeft -= last - state.through
      state.through = last
    }
    return state.through == room.head
  }

  /// How many entries are read at once: a page of those that go, or of which only the first stays.
  private static let pageEntries: Int64 = 64

  private mutating func removeOldest(
    of room: RetainedRoom, _ rule: Retention.Rule, fewest: Int64, _ state: inout Known,
    _ source: inout some RetentionSource
  ) throws(StoreFailure) -> (seq: Int64, isFinal: Bool) {
    let end = min(room.head, room.first + trimsLeft - 1)
    func isOver(_ seq: Int64, at: Int64?) -> Bool {
      if seq < fewest { return true }
      if let limit = rule.bytes, state.bytes > limit, at != nil { return true }
      return rule.milliseconds.map { age in at.map { $0 + age <= now } ?? false } ?? false
    }
    var next = state.first
    if let at = state.oldestAt, !isOver(next, at: at) { return finish(rule, state) }
    while next <= end {
      guard readsLeft > 0 else {
        // What cannot be read is examined again by the next pass.
        return (state.first, state.first == room.first && next - room.first >= Self.readAtOnce)
      }
      let last = min(end, next + min(Self.pageEntries, readsLeft) - 1)
      var page = try source.retainedEntries(ofRoom: room.number, in: next...last)[...]
      readsLeft -= last - next + 1
      while next <= last {
        let entry = page.first?.seq == next ? page.popFirst() : nil
        if isOver(next, at: entry?.at) {
          // Those before it that cannot be read go with it.
          (state.first, state.oldestAt) = (next + 1, nil)
          state.bytes -= entry?.bytes ?? 0
        } else if let entry {
          state.oldestAt = entry.at
          return finish(rule, state)
        }
        next += 1
      }
    }
    return (state.first, state.first == room.first || state.first > room.head)
  }

  /// Records when the oldest entry that a room keeps goes by its age.
  private mutating func finish(
    _ rule: Retention.Rule, _ state: Known
  ) -> (seq: Int64, isFinal: Bool) {
    if let age = rule.milliseconds, let at = state.oldestAt { due = min(due, at + age) }
    return (state.first, true)
  }
}
