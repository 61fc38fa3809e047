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

  /// Where the index keeps the identities of one settled stretch.
  struct Shelf: Sendable {
    let number: Int64
    /// Identities are kept in 2^`bucketBits` buckets.
    let bucketBits: Int64
    /// The position before the first.
    let base: Int64
  }

  private struct State: ~Copyable {
    /// Oldest first.
    var sealed: [Sealed] = []
    var open = TailSegment()
    var filter: IdentityFilter
    var shelves: [Shelf] = []
  }

  /// So many entries make a stretch: what a start reads back is about one, or two.
  static let segmentEntries = 1 << 18
  /// How many filter entries are made at once.
  private static let filterSlice = 512

  let segmentEntries: Int
  private let state: Mutex<State>
  private let unsettled = Atomic(0)

  /// How many shelves the index has.
  var shelfCount: Int { state.withLock { $0.shelves.count } }

  init(segmentEntries: Int = Tail.segmentEntries) {
    self.segmentEntries = segmentEntries
    state = Mutex(State(filter: IdentityFilter()))
  }

  /// How many entries the index does not have yet.
  var count: Int { unsettled.load(ordering: .relaxed) }

  // MARK: - The writer

  /// Calls `body` with the open stretch, to which it appends, and seals that if it is long enough.
  /// - Returns: whether it was sealed.
  @discardableResult
  func append(_ body: (inout TailSegment) -> Void) -> Bool {
    state.withLock { state in
      let before = state.open.count
      body(&state.open)
      unsettled.add(state.open.count - before, ordering: .relaxed)
      guard state.open.count >= segmentEntries else { return false }
      Self.seal(&state)
      return true
    }
  }

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
  }

  @inline(__always)
  func sighting(of identity: EntryIdentity) -> Sighting {
    state.withLock { state in
      var sighting = Sighting()
      state.open.find(identity, into: &sighting.positions)
      for stretch in state.sealed { stretch.segment.find(identity, into: &sighting.positions) }
      if state.filter.mayContain(IdentityFilter.Key(identity)) { sighting.shelves = state.shelves }
      return sighting
    }
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

  /// Takes note of what the index has: first what may be asked for, then lets go of the stretch.
  func settled(_ stretch: Sealed, as shelf: Shelf) {
    note(shelf, stretch.segment.records.map { IdentityFilter.Key($0.identity) })
    state.withLock { state in
      precondition(state.sealed.first === stretch, "stretches are settled in their order")
      state.sealed.removeFirst()
      unsettled.subtract(stretch.segment.count, ordering: .relaxed)
    }
  }

  /// The index no longer has these.
  func forget(_ shelves: [Int64]) {
    if shelves.isEmpty { return }
    state.withLock { $0.shelves.removeAll { shelves.contains($0.number) } }
  }

  /// Begins anew, since there is no index after all.
  func reset() {
    state.withLock { $0 = State(filter: IdentityFilter()) }
    unsettled.store(0, ordering: .relaxed)
  }

  /// Takes note of identities that the index has.
  func note(_ shelf: Shelf, _ keys: [IdentityFilter.Key]) {
    state.withLock { $0.shelves.append(shelf) }
    var rest = keys[...]
    while !rest.isEmpty {
      if let blocks = state.withLock({ $0.filter.blocksWanted }) {
        // Made outside: the pages of a large one take milliseconds to come.
        let generation = IdentityFilter.Generation(blocks: blocks)
        state.withLock { $0.filter.add(generation) }
      }
      let taken = state.withLock { state in
        rest.prefix(Self.filterSlice).prefix { state.filter.insert($0) }.count
      }
      rest = rest.dropFirst(taken)
    }
  }
}

/// Where an entry of a known room lies in the journal.
struct Place: Equatable, Sendable {
  var seq: Int64
  var position: Int64
}
