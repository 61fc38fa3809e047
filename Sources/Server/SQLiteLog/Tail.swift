internal import Relay
internal import Synchronization

/// The end of the journal that the index does not have yet, and what tells whether the index may
/// know an identity: all that the writer, the readers and the indexer of a store share.
///
/// Whoever looks for an entry looks here first and in the index afterwards, in a transaction begun
/// afterwards: what is gone from here is there by then. Any thread may call; no call holds another
/// up for longer than some tens of microseconds.
final class Tail: Sendable {
  /// A segment that is complete, and that the indexer may take over.
  final class Sealed: Sendable {
    let segment: TailSegment
    init(_ segment: consuming TailSegment) { self.segment = segment }
  }

  private struct State: ~Copyable {
    /// Oldest first.
    var sealed: [Sealed] = []
    var open = TailSegment()
    /// In the order of the journal.
    var indexSegments: [FiledSegment] = []
    /// How often a index segment was taken away.
    var removals = 0
  }

  /// So many entries make a segment: what a start reads back is about one, or two.
  static let segmentEntries = 1 << 18
  /// How much memory the filters take at most: enough for 22 million entries, which a start reads in
  /// less than 2 s. The oldest index segments, of which there are few, then have none, and are asked.
  static let filterLimitBytes = 64 << 20

  let segmentEntries: Int
  let filterLimitBytes: Int
  private let state: Mutex<State>
  private let unindexed = Atomic(0)
  private let everAppended = Atomic(0)
  private let hasTrims = Atomic(false)

  /// The index segments that the index has, oldest first.
  var indexSegments: [IndexSegment] { state.withLock { $0.indexSegments.map(\.indexSegment) } }

  /// How much memory the filters take.
  var filterBytes: Int {
    state.withLock { $0.indexSegments.reduce(0) { $0 + ($1.filter?.bytes ?? 0) } }
  }

  init(
    segmentEntries: Int = Tail.segmentEntries, filterLimitBytes: Int = Tail.filterLimitBytes
  ) {
    self.segmentEntries = segmentEntries
    self.filterLimitBytes = filterLimitBytes
    state = Mutex(State())
  }

  /// How many entries the index does not have yet.
  var count: Int { unindexed.load(ordering: .relaxed) }

  /// How many entries have come since it was made.
  var appended: Int { everAppended.load(ordering: .relaxed) }

  // MARK: - The writer

  /// Calls `body` with the open segment, to which it appends, and seals that if it is long enough.
  /// - Returns: whether it was sealed.
  @discardableResult
  func append(_ body: (inout TailSegment) -> Void) -> Bool {
    state.withLock { state in
      let before = state.open.count
      body(&state.open)
      unindexed.add(state.open.count - before, ordering: .relaxed)
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

  /// Hands the open segment to the indexer, however short.
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
  struct Lookup {
    /// Positions of unindexed entries.
    var positions: [Int64] = []
    /// Where the index may have more.
    var indexSegments: [IndexSegment] = []
    fileprivate var removals = 0
  }

  @inline(__always)
  func lookup(of identity: EntryIdentity) -> Lookup {
    state.withLock { state in
      var lookup = Lookup()
      state.open.find(identity, into: &lookup.positions)
      for sealed in state.sealed { sealed.segment.find(identity, into: &lookup.positions) }
      let key = IdentityFilter.Key(identity)
      for filed in state.indexSegments where filed.filter?.mayContain(key) != false {
        lookup.indexSegments.append(filed.indexSegment)
      }
      lookup.removals = state.removals
      return lookup
    }
  }

  /// Whether what the index says about a lookup's index segments holds: none was taken away meanwhile.
  func isCurrent(_ lookup: Lookup) -> Bool {
    state.withLock { $0.removals == lookup.removals }
  }

  // MARK: - Whoever reads

  /// The last unindexed entry of a room.
  func head(of room: Int64) -> (seq: Int64, position: Int64)? {
    state.withLock { state in
      if let run = state.open.run(of: room) {
        return (run.lastSeq, state.open.position(of: run.lastSeq, in: run))
      }
      for sealed in state.sealed.reversed() {
        if let run = sealed.segment.run(of: room) {
          return (run.lastSeq, sealed.segment.position(of: run.lastSeq, in: run))
        }
      }
      return nil
    }
  }

  /// The places of a room's unindexed entries with these `seq`, in their order.
  func places(ofRoom room: Int64, in seqs: ClosedRange<Int64>) -> [Place] {
    state.withLock { state in
      var places: [Place] = []
      for sealed in state.sealed { Self.add(sealed.segment, room, seqs, to: &places) }
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

  /// Each sender's last unindexed entry in a room.
  func senders(inRoom room: Int64) -> [String: Int64] {
    var senders: [String: Int64] = [:]
    for sealed in state.withLock({ $0.sealed }) {
      sealed.segment.addSenders(inRoom: room, to: &senders)
    }
    // The open one is not copied: the writer would have to make another copy of it.
    state.withLock { $0.open.addSenders(inRoom: room, to: &senders) }
    return senders
  }

  /// A sender's last unindexed entry in a room.
  func lastSeq(of sender: String, inRoom room: Int64) -> Int64? {
    state.withLock { state in
      if let seq = state.open.lastSeq(of: sender, inRoom: room) { return seq }
      for sealed in state.sealed.reversed() {
        if let seq = sealed.segment.lastSeq(of: sender, inRoom: room) { return seq }
      }
      return nil
    }
  }

  // MARK: - The indexer

  /// The oldest segment that waits to be indexed.
  var firstSealed: Sealed? { state.withLock { $0.sealed.first } }

  /// Takes note of what the index has, and lets go of the segment.
  func indexed(_ sealed: Sealed, as indexSegment: IndexSegment) {
    var filter = newFilter(entries: indexSegment.entries)
    if filter != nil {
      for record in sealed.segment.records {
        filter?.insert(IdentityFilter.Key(record.identity))
      }
    }
    state.withLock { state in
      precondition(state.sealed.first === sealed, "segments are indexed in order")
      state.indexSegments.append(FiledSegment(indexSegment: indexSegment, filter: filter))
      state.sealed.removeFirst()
      unindexed.subtract(sealed.segment.count, ordering: .relaxed)
      limitFilters(&state)
    }
  }

  /// An empty filter for a index segment with so many entries; `nil` where there is no memory for it.
  /// - Parameter position: younger index segments begin with this one, and have theirs first.
  func newFilter(entries: Int, before position: Int64 = .max) -> IdentityFilter? {
    let younger = state.withLock { state in
      state.indexSegments.reduce(0) {
        $0 + ($1.indexSegment.base >= position ? $1.filter?.bytes ?? 0 : 0)
      }
    }
    guard younger + IdentityFilter.bytes(entries: entries) <= filterLimitBytes else { return nil }
    return IdentityFilter(entries: entries)
  }

  /// Takes note of a index segment that the index has had before this process.
  func note(_ filed: FiledSegment) {
    state.withLock { state in
      let place = state.indexSegments.partitioningIndex {
        $0.indexSegment.base > filed.indexSegment.base
      }
      state.indexSegments.insert(filed, at: place)
      limitFilters(&state)
    }
  }

  /// The index has one index segment, or none, in place of these. What it had may be deleted from now on.
  func replace(_ numbers: [Int64], by filed: FiledSegment?) {
    state.withLock { state in
      let place = state.indexSegments.firstIndex { numbers.contains($0.indexSegment.number) }
      state.indexSegments.removeAll { numbers.contains($0.indexSegment.number) }
      if let filed { state.indexSegments.insert(filed, at: place ?? state.indexSegments.count) }
      state.removals += 1
      limitFilters(&state)
    }
  }

  /// Drops the filters of the oldest index segments as long as there are too many.
  private func limitFilters(_ state: inout State) {
    var bytes = state.indexSegments.reduce(0) { $0 + ($1.filter?.bytes ?? 0) }
    for index in state.indexSegments.indices where bytes > filterLimitBytes {
      bytes -= state.indexSegments[index].filter?.bytes ?? 0
      state.indexSegments[index].filter = nil
    }
  }

  /// Begins anew, since there is no index after all.
  func reset() {
    state.withLock { $0 = State() }
    unindexed.store(0, ordering: .relaxed)
  }
}

/// Where an entry of a known room lies in the journal.
struct Place: Equatable, Sendable {
  var seq: Int64
  var position: Int64
}
