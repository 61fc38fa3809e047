/// What one turn of the loop delivers: one buffer, in which the new entries of each room are one run
/// of bytes, so that most sockets get theirs by a single write.
struct Turn {
  /// A commit's new entries of one room that are not in the buffer yet.
  struct Staged {
    var commit: Commit
    var span: Int32
    var next: OptionalSlot<Staged>
  }

  /// The staged parts of one room, oldest first, with their number of entries and of bytes.
  struct Chain {
    fileprivate(set) var first = OptionalSlot<Staged>.none
    fileprivate var last = OptionalSlot<Staged>.none
    fileprivate(set) var count: Int32 = 0
    fileprivate var bytes = 0
  }

  /// One room's run.
  struct Slice {
    var room: Slot<Room>
    var firstSeq: Int64
    var lastSeq: Int64
    /// The index of the first entry in `ends`.
    var firstEntry: Int32
    var lower: Int32
    var upper: Int32
  }

  private var staged: [Staged] = []
  /// The rooms that have something staged.
  private(set) var rooms: [Slot<Room>] = []
  private(set) var bytes: [UInt8] = []
  private(set) var slices: [Slice] = []
  /// The start of each entry's JSON in `bytes`, and its end.
  private var payloads: [Int32] = []
  private var ends: [Int32] = []
  /// Each links to another one of the same session.
  var deliveries: [Delivery] = []

  // MARK: - Staging

  /// Stages a commit's new entries of one room.
  mutating func stage(_ commit: Commit, span: Int, of room: Slot<Room>, in chain: inout Chain) {
    let frames = commit.spans[span].frames
    let part = OptionalSlot(staged.add(Staged(commit: commit, span: Int32(span), next: .none)))
    if let last = chain.last.slot {
      staged[last].next = part
    } else {
      chain.first = part
      rooms.append(room)
    }
    chain.last = part
    chain.count += Int32(frames.count)
    chain.bytes += commit.frames.length(frames)
  }

  /// Forgets what is staged, except for the rooms that wait for a later turn.
  mutating func unstage(
    except waiting: [(room: Slot<Room>, chain: Chain)], _ all: inout Rooms
  ) {
    rooms.removeAll(keepingCapacity: true)
    guard !waiting.isEmpty else {
      staged.removeAll(keepingCapacity: true)
      return
    }
    let former = staged
    staged = []
    for (room, chain) in waiting {
      var next = chain.first.slot
      while let part = next {
        stage(former[part].commit, span: Int(former[part].span), of: room, in: &all[room].staged)
        next = former[part].next.slot
      }
    }
  }

  /// Whether the buffer has space for a room's entries.
  func hasSpace(for chain: Chain) -> Bool { bytes.count + chain.bytes <= bytesLimit }

  /// Lays a room's entries into the buffer, as one slice.
  mutating func layOut(_ chain: Chain, of room: Slot<Room>) {
    guard let first = chain.first.slot else { return }
    var slice = Slice(
      room: room, firstSeq: staged[first].commit.spans[Int(staged[first].span)].firstSeq,
      lastSeq: 0, firstEntry: Int32(ends.count), lower: Int32(bytes.count), upper: 0)
    var next: Slot<Staged>? = first
    while let place = next {
      let part = staged[place]
      let span = part.commit.spans[Int(part.span)]
      append(part.commit.frames, span.frames)
      slice.lastSeq = span.lastSeq
      next = part.next.slot
    }
    slice.upper = Int32(bytes.count)
    slices.append(slice)
  }

  private mutating func append(_ frames: Frames, _ range: Range<Int>) {
    let lower = frames.bounds[range.lowerBound].lower
    let upper = frames.bounds[range.upperBound - 1].upper
    let shift = Int32(bytes.count) - lower
    bytes.append(contentsOf: frames.bytes[Int(lower)..<Int(upper)])
    for index in range {
      payloads.append(frames.bounds[index].payload + shift)
      ends.append(frames.bounds[index].upper + shift)
    }
  }

  /// Forgets what was sent. What is staged stays for a later turn.
  mutating func clear() {
    slices.removeAll(keepingCapacity: true)
    payloads.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
    deliveries.removeAll(keepingCapacity: true)
    // A large buffer of a burst is released.
    bytes.removeAll(keepingCapacity: bytes.capacity <= Self.keptBytes)
  }

  static let keptBytes = 1_048_576
  /// The bytes that one turn lays out, and the same again for compressed copies: positions are kept
  /// as `Int32`. The subscribers of a room that does not fit catch up from the log. Tests set it.
  var bytesLimit = 268_435_456

  // MARK: - Slices

  /// Lays a slice into the buffer once more, with its long messages compressed.
  /// - Returns: the new slice; the same one if none of its messages is long.
  mutating func pack(_ place: Slot<Slice>, _ compression: Compression) -> Slot<Slice> {
    var slice = slices[place]
    let first = Int(slice.firstEntry)
    let entries = first..<first + Int(slice.lastSeq - slice.firstSeq) + 1
    func isLong(_ entry: Int) -> Bool { ends[entry] - payloads[entry] >= compression.minimumBytes }
    guard entries.contains(where: isLong) else { return place }
    var lower = Int(slice.lower)
    slice.firstEntry = Int32(ends.count)
    slice.lower = Int32(bytes.count)
    var frame: [UInt8] = []
    for entry in entries {
      let (payload, upper) = (Int(payloads[entry]), Int(ends[entry]))
      frame.removeAll(keepingCapacity: true)
      if isLong(entry) {
        let json = Array(bytes[payload..<upper])
        compression.append(json.span, &frame)
      } else {
        frame.append(contentsOf: bytes[lower..<upper])
      }
      // The JSON of these entries is not used.
      payloads.append(Int32(bytes.count))
      bytes.append(contentsOf: frame)
      ends.append(Int32(bytes.count))
      lower = upper
    }
    slice.upper = Int32(bytes.count)
    return slices.add(slice)
  }

  /// The start of the entry after `seq`.
  func lower(of slice: Slice, after seq: Int64) -> Int32 {
    seq < slice.firstSeq
      ? slice.lower : ends[Int(slice.firstEntry) + Int(seq - slice.firstSeq)]
  }

  /// The last entry of the slice that ends at or before `offset`; the one before the first if none.
  func lastSeq(of slice: Slice, endingBy offset: Int32) -> Int64 {
    var low = Int(slice.firstEntry)
    var high = low + Int(slice.lastSeq - slice.firstSeq) + 1
    while low < high {
      let middle = (low + high) / 2
      if ends[middle] <= offset { low = middle + 1 } else { high = middle }
    }
    return slice.firstSeq + Int64(low - Int(slice.firstEntry)) - 1
  }

  /// The end of an entry.
  func end(of slice: Slice, _ seq: Int64) -> Int32 {
    ends[Int(slice.firstEntry) + Int(seq - slice.firstSeq)]
  }
}
