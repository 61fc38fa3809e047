internal import Relay
internal import Synchronization

/// The unindexed end of the journal, with filters that tell whether the index may have an identity:
/// the state that a store's writer, readers and indexer share.
///
/// A lookup asks the tail first, then the index in a transaction begun after that: entries that
/// have left the tail are in the index by then. Thread-safe; no call blocks another for longer than
/// some tens of microseconds.
final class Tail: Sendable {
  /// A complete segment, ready for the indexer.
  final class Sealed: Sendable {
    let segment: TailSegment
    init(_ segment: consuming TailSegment) { self.segment = segment }
  }

  private struct State: ~Copyable {
    /// Oldest first.
    var sealed: [Sealed] = []
    var open = TailSegment()
    /// In journal order.
    var indexSegments: [FilteredSegment] = []
    /// How often an index segment was removed.
    var removals = 0
  }

  /// The number of entries in a segment; startup reads back one or two segments.
  static let segmentEntries = 1 << 18
  /// The memory limit of all filters: enough for 22 million entries, which startup reads in less
  /// than 2 s. Beyond it, the oldest index segments, of which there are few, have no filter and are
  /// always queried.
  static let filterLimitBytes = 64 << 20

  let segmentEntries: Int
  let filterLimitBytes: Int
  private let state: Mutex<State>
  private let unindexed = Atomic(0)
  private let everAppended = Atomic(0)
  private let hasTrims = Atomic(false)

  /// The segments of the index, oldest first.
  var indexSegments: [IndexSegment] { state.withLock { $0.indexSegments.map(\.indexSegment) } }

  /// The memory that the filters take.
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

  /// The number of unindexed entries.
  var count: Int { unindexed.load(ordering: .relaxed) }

  /// The number of entries appended since this object was created.
  var appended: Int { everAppended.load(ordering: .relaxed) }

  // MARK: - The writer

  /// Calls `body` to append to the open segment, and seals it if it is long enough.
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

  /// Records that rooms have entries that are no longer kept.
  func recordTrim() { hasTrims.store(true, ordering: .releasing) }

  /// Returns whether there were trims since the last call.
  func takeTrims() -> Bool { hasTrims.exchange(false, ordering: .acquiring) }

  /// Seals the open segment, however short, for the indexer.
  func seal() {
    state.withLock { state in
      if state.open.count > 0 { Self.seal(&state) }
    }
  }

  private static func seal(_ state: inout State) {
    state.sealed.append(Sealed(state.open))
    state.open = TailSegment()
  }

  /// Where an entry with a given identity may be.
  struct Lookup {
    /// Positions of unindexed entries.
    var positions: [Int64] = []
    /// Segments of the index that may have more.
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
      for filtered in state.indexSegments where filtered.filter?.mayContain(key) != false {
        lookup.indexSegments.append(filtered.indexSegment)
      }
      lookup.removals = state.removals
      return lookup
    }
  }

  /// Returns whether the lookup's index segments can still be relied on: none was removed since.
  func isCurrent(_ lookup: Lookup) -> Bool {
    state.withLock { $0.removals == lookup.removals }
  }

  // MARK: - Readers

  /// Returns the last unindexed entry of a room.
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

  /// Returns the places of a room's unindexed entries with these `seq`, in order.
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

  /// Returns a sender's last unindexed entry in a room.
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

  /// Replaces a segment by its index segment after it was indexed.
  func indexed(_ sealed: Sealed, as indexSegment: IndexSegment) {
    var filter = newFilter(entries: indexSegment.entries)
    if filter != nil {
      for record in sealed.segment.records {
        filter?.insert(IdentityFilter.Key(record.identity))
      }
    }
    state.withLock { state in
      precondition(state.sealed.first === sealed, "segments are indexed in order")
      state.indexSegments.append(FilteredSegment(indexSegment: indexSegment, filter: filter))
      state.sealed.removeFirst()
      unindexed.subtract(sealed.segment.count, ordering: .relaxed)
      limitFilters(&state)
    }
  }

  /// Returns an empty filter for an index segment of this size; `nil` if it exceeds the memory
  /// limit.
  /// - Parameter position: index segments from here on are younger, and their filters take
  ///   precedence.
  func newFilter(entries: Int, before position: Int64 = .max) -> IdentityFilter? {
    let younger = state.withLock { state in
      state.indexSegments.reduce(0) {
        $0 + ($1.indexSegment.base >= position ? $1.filter?.bytes ?? 0 : 0)
      }
    }
    guard younger + IdentityFilter.bytes(entries: entries) <= filterLimitBytes else { return nil }
    return IdentityFilter(entries: entries)
  }

  /// Adds an index segment that the index had before this process started.
  func add(_ filtered: FilteredSegment) {
    state.withLock { state in
      let place = state.indexSegments.partitioningIndex {
        $0.indexSegment.base > filtered.indexSegment.base
      }
      state.indexSegments.insert(filtered, at: place)
      limitFilters(&state)
    }
  }

  /// Replaces index segments by one, or by none. Their rows may be deleted from now on.
  func replace(_ numbers: [Int64], by filtered: FilteredSegment?) {
    state.withLock { state in
      let place = state.indexSegments.firstIndex { numbers.contains($0.indexSegment.number) }
      state.indexSegments.removeAll { numbers.contains($0.indexSegment.number) }
      if let filtered {
        state.indexSegments.insert(filtered, at: place ?? state.indexSegments.count)
      }
      state.removals += 1
      limitFilters(&state)
    }
  }

  /// Drops the filters of the oldest index segments until the rest fits the memory limit.
  private func limitFilters(_ state: inout State) {
    var bytes = state.indexSegments.reduce(0) { $0 + ($1.filter?.bytes ?? 0) }
    for index in state.indexSegments.indices where bytes > filterLimitBytes {
      bytes -= state.indexSegments[index].filter?.bytes ?? 0
      state.indexSegments[index].filter = nil
    }
  }

  /// Starts over, when the index turns out to be unusable.
  func reset() {
    state.withLock { $0 = State() }
    unindexed.store(0, ordering: .relaxed)
  }
}

/// The position in the journal of an entry of a known room.
struct Place: Equatable, Sendable {
  var seq: Int64
  var position: Int64
}
