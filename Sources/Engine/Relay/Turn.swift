/// What one turn of the loop delivers: one buffer, in which the new entries of each room are one run
/// of bytes, so that most sockets get theirs by a single write.
struct Turn {
  /// A commit's part that is waiting to be laid into the buffer.
  struct Staged {
    var commit: Commit
    var span: Int32
    var next: Link<Staged>
  }

  /// One room's run.
  struct Slice {
    var room: Slot<Room>
    var firstSeq: Int64
    var lastSeq: Int64
    /// Of the first entry in `ends`.
    var firstEntry: Int32
    var lower: Int32
    var upper: Int32
  }

  var staged: [Staged] = []
  /// Rooms that have something staged.
  var rooms: [Slot<Room>] = []
  var bytes: [UInt8] = []
  var slices: [Slice] = []
  /// Where each entry's JSON begins in `bytes`, and where it ends.
  var payloads: [Int32] = []
  var ends: [Int32] = []
  /// Chained by session.
  var deliveries: [Delivery] = []

  /// Forgets what has gone out; what is staged waits for a later turn.
  mutating func clear() {
    slices.removeAll(keepingCapacity: true)
    payloads.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
    deliveries.removeAll(keepingCapacity: true)
    // A burst must not leave its buffer behind.
    bytes.removeAll(keepingCapacity: bytes.capacity <= Self.keptBytes)
  }

  static let keptBytes = 1_048_576
  /// So much is laid out in one turn, and once more where it is compressed: places are kept as `Int32`.
  /// The subscribers of a room that does not fit catch up from the log. Tests set it.
  var bytesLimit = 268_435_456

  /// Lays a slice into the buffer once more, its long messages compressed.
  /// - Returns: where the slice is; the same one if none of its messages is long.
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
      // Nobody asks for the JSON of these.
      payloads.append(Int32(bytes.count))
      bytes.append(contentsOf: frame)
      ends.append(Int32(bytes.count))
      lower = upper
    }
    slice.upper = Int32(bytes.count)
    return slices.add(slice)
  }

  /// Where the entry after `seq` begins.
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

  func end(of slice: Slice, _ seq: Int64) -> Int32 {
    ends[Int(slice.firstEntry) + Int(seq - slice.firstSeq)]
  }
}
