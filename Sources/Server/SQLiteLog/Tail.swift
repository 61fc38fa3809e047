internal import Relay
internal import Synchronization

/// The end of the journal that the index does not have yet, and what tells whether the index may
/// know an identity: all that the writer, the readers and the settler of a store share.
///
/// Whoever looks for an entry looks here first and in the index afterwards, in a transaction begun
/// afterwards: what is gone from here is there by then. Any thread may call; no call holds another
/// up for longer than some tens of microseconds.
final class Tail: Sendable {
  /// A stretch that is complete, and that the settler may take over.
  final class Sealed: Sendable {
    let segment: TailSegment
    init(_ segment: consuming TailSegment) { self.segment = segment }
  }

  private struct State: ~Copyable {
    /// Oldest first.
    var sealed: [Sealed] = []
    var open = TailSegment()
    /// In the order of the journal.
    var shelves: [FiledShelf] = []
    /// How often a shelf was taken away.
    var removals = 0
  }

  /// So many entries make a stretch: what a start reads back is about one, or two.
  static let segmentEntries = 1 << 18
  /// How much memory the filters take at most: enough for 22 million entries, which a start reads in
  /// less than 2 s. The oldest shelves, of which there are few, then have none, and are asked.
  static let filterLimitBytes = 64 << 20

  let segmentEntries: Int
  let filterLimitBytes: Int
  private let state: Mutex<State>
  private let unsettled = Atomic(0)
  private let everAppended = Atomic(0)
  private let hasTrims = Atomic(false)

  /// The shelves that the index has, oldest first.
  var shelves: [Shelf] { state.withLock { $0.shelves.map(\.shelf) } }

  /// How much memory the filters take.
  var filterBytes: Int {
    state.withLock { $0.shelves.reduce(0) { $0 + ($1.filter?.bytes ?? 0) } }
  }

  init(
    segmentEntries: Int = Tail.segmentEntries, filterLimitBytes: Int = Tail.filterLimitBytes
  ) {
    self.segmentEntries = segmentEntries
    self.filterLimitBytes = filterLimitBytes
    state = Mutex(State())
  }

  /// How many entries the index does not have yet.
  var count: Int { unsettled.load(ordering: .relaxed) }

  /// How many entries have come since it was made.
  var appended: Int { everAppended.load(ordering: .relaxed) }

  // MARK: - The writer

  /// Calls `body` with the open stretch, to which it appends, and seals that if it is long enough.
  /// - Returns: whether it was sealed.
  @discardableResult
  func append(_ body: (inout TailSegment) -> Void) -> Bool {
    state.withLock { state in
      let before = state.open.count
      body(&state.open)
      unsettled.add(state.open.count - before, ordering: .relaxed)
      everAppended.add(state.open.count - before, ordering: .relaxed)
      guard state.open.count >= segmentEntries else { return false }
      Self.seal(&state)
      return true
    }
  }

  /// Rooms have entries that are no longer kept.
  func noteTrim() { hasTrims.store(true, ordering: .releasing) }

  /// Whether there were trims since this was last asked.
  func takeTrims() -> Bool { hasTrims.exchange(false, ordering: .acquiring) }

  /// Hands the open stretch to the settler, however short.
  func seal() {
    state.withLock { state in
      if state.open.count > 0 { Self.seal(&state) }
    }
  }

  private static func seal(_ state: inout State) {
    state.sealed.append(Sealed(state.open))
    state.open = TailSegment()
  }

  /// Where an entry with this identity may be.
  struct Sighting {
    /// Positions of unsettled entries.
    var positions: [Int64] = []
    /// Where the index may have more.
    var shelves: [Shelf] = []
    fileprivate var removals = 0
  }

  @inline(__always)
  func sighting(of identity: EntryIdentity) -> Sighting {
    state.withLock { state in
      var sighting = Sighting()
      state.open.find(identity, into: &sighting.positions)
      for stretch in state.sealed { stretch.segment.find(identity, into: &sighting.positions) }
      let key = IdentityFilter.Key(identity)
      for filed in state.shelves where filed.filter?.mayContain(key) != false {
        sighting.shelves.append(filed.shelf)
      }
      sighting.removals = state.removals
      return sighting
    }
  }

  /// Whether what the index says about a sighting's shelves holds: none was taken away meanwhile.
  func isCurrent(_ sighting: Sighting) -> Bool {
    state.withLock { $0.removals == sighting.removals }
  }

  // MARK: - Whoever reads

  /// The last unsettled entry of a room.
  func head(of room: Int64) -> (seq: Int64, position: Int64)? {
    state.withLock { state in
      if let run = state.open.run(of: room) {
        return (run.lastSeq, state.open.position(of: run.lastSeq, in: run))
      }
      for stretch in state.sealed.reversed() {
        if let run = stretch.segment.run(of: room) {
          return (run.lastSeq, stretch.segment.position(of: run.lastSeq, in: run))
        }
      }
      return nil
    }
  }

  /// The places of a room's unsettled entries with these `seq`, in their order.
  func places(ofRoom room: Int64, in seqs: ClosedRange<Int64>) -> [Place] {
    state.withLock { state in
      var places: [Place] = []
      for stretch in state.sealed { Self.add(stretch.segment, room, seqs, to: &places) }
      Self.add(state.open, room, seqs, to: &places)
      return places
    }
  }

  private static func add(
    _ segment: TailSegment, _ room: Int64, _ seqs: ClosedRange<Int64>, to places: inout [Place]
  ) {
    guard let run = segment.run(of: room), run.firstSeq <= seqs.upperBound,
      run.lastSeq >= seqs.lowerBound
    else { return }
    let wanted = max(run.firstSeq, seqs.lowerBound)...min(run.lastSeq, seqs.upperBound)
    for seq in wanted {
      places.append(Place(seq: seq, position: segment.position(of: seq, in: run)))
    }
  }

  /// Each sender's last unsettled entry in a room.
  func senders(inRoom room: Int64) -> [String: Int64] {
    var senders: [String: Int64] = [:]
    for stretch in state.withLock({ $0.sealed }) {
      stretch.segment.addSenders(inRoom: room, to: &senders)
    }
    // The open one is not copied: the writer would have to make another copy of it.
    state.withLock { $0.open.addSenders(inRoom: room, to: &senders) }
    return senders
  }

  /// A sender's last unsettled entry in a room.
  func lastSeq(of sender: String, inRoom room: Int64) -> Int64? {
    state.withLock { state in
      if let seq = state.open.lastSeq(of: sender, inRoom: room) { return seq }
      for stretch in state.sealed.reversed() {
        if let seq = stretch.segment.lastSeq(of: sender, inRoom: room) { return seq }
      }
      return nil
    }
  }

  // MARK: - The settler

  /// The oldest stretch that waits to be settled.
  var firstSealed: Sealed? { state.withLock { $0.sealed.first } }

  /// Takes note of what the index has, and lets go of the stretch.
  func settled(_ stretch: Sealed, as shelf: Shelf) {
    var filter = newFilter(entries: shelf.entries)
    if filter != nil {
      for record in stretch.segment.records {
        filter?.insert(IdentityFilter.Key(record.identity))
      }
    }
    state.withLock { state in
      precondition(state.sealed.first === stretch, "stretches are settled in their order")
      state.shelves.append(FiledShelf(shelf: shelf, filter: filter))
      state.sealed.removeFirst()
      unsettled.subtract(stretch.segment.count, ordering: .relaxed)
      limitFilters(&state)
    }
  }

  /// An empty filter for a shelf with so many entries; `nil` where there is no memory for it.
  /// - Parameter position: younger shelves begin with this one, and have theirs first.
  func newFilter(entries: Int, before position: Int64 = .max) -> IdentityFilter? {
    let younger = state.withLock { state in
      state.shelves.reduce(0) { $0 + ($1.shelf.base >= position ? $1.filter?.bytes ?? 0 : 0) }
    }
    guard younger + IdentityFilter.bytes(entries: entries) <= filterLimitBytes else { return nil }
    return IdentityFilter(entries: entries)
  }

  /// Takes note of a shelf that the index has had before this process.
  func note(_ filed: FiledShelf) {
    state.withLock { state in
      let place = state.shelves.partitioningIndex { $0.shelf.base > filed.shelf.base }
      state.shelves.insert(filed, at: place)
      limitFilters(&state)
    }
  }

  /// The index has one shelf, or none, in place of these. What it had may be deleted from now on.
  func replace(_ numbers: [Int64], by filed: FiledShelf?) {
    state.withLock { state in
      let place = state.shelves.firstIndex { numbers.contains($0.shelf.number) }
      state.shelves.removeAll { numbers.contains($0.shelf.number) }
      if let filed { state.shelves.insert(filed, at: place ?? state.shelves.count) }
      state.removals += 1
      limitFilters(&state)
    }
  }

  /// Drops the filters of the oldest shelves as long as there are too many.
  private func limitFilters(_ state: inout State) {
    var bytes = state.shelves.reduce(0) { $0 + ($1.filter?.bytes ?? 0) }
    for index in state.shelves.indices where bytes > filterLimitBytes {
      bytes -= state.shelves[index].filter?.bytes ?? 0
      state.shelves[index].filter = nil
    }
  }

  /// Begins anew, since there is no index after all.
  func reset() {
    state.withLock { $0 = State() }
    unsettled.store(0, ordering: .relaxed)
  }
}

/// Where an entry of a known room lies in the journal.
struct Place: Equatable, Sendable {
  var seq: Int64
  var position: Int64
}
