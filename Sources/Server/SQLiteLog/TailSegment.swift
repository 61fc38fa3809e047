internal import Relay

/// A segment of the journal that is not indexed yet: the positions of each room's entries, and the
/// hash of each entry's identity.
struct TailSegment: Sendable {
  struct Record: Sendable {
    /// The entry's position in the journal.
    var position: Int64
    var identity: EntryIdentity
  }

  /// Consecutive entries of one room.
  struct Run: Sendable {
    let room: Int64
    let firstSeq: Int64
    /// Their indices in `records`.
    fileprivate(set) var records: [UInt32]
    /// The index in `sendings` of the last one's sender.
    fileprivate var sending: Int

    var lastSeq: Int64 { firstSeq + Int64(records.count) - 1 }
  }

  /// A user's last entry in a room.
  struct Sending: Sendable {
    let room: Int64
    let user: String
    fileprivate(set) var seq: Int64

    fileprivate var hash: UInt64 { Self.hash(room, user) }

    fileprivate static func hash(_ room: Int64, _ user: String) -> UInt64 {
      var hasher = Hasher()
      hasher.combine(room)
      hasher.combine(user)
      return UInt64(bitPattern: Int64(hasher.finalize()))
    }
  }

  /// In journal order.
  private(set) var records: [Record] = []
  private(set) var sendings: [Sending] = []
  private(set) var runs: [Run] = []
  private var runsByRoom = HashTable()
  private var sendingsByPlace = HashTable()
  private var recordsByIdentity = HashTable()

  var count: Int { records.count }

  /// 0 if it is empty.
  var lastPosition: Int64 { records.last?.position ?? 0 }

  /// Appends the next entry of the journal.
  @inline(__always)
  mutating func append(
    position: Int64, room: Int64, seq: Int64, identity: EntryIdentity, sender: String
  ) {
    let index = records.count
    records.append(Record(position: position, identity: identity))
    recordsByIdentity.insert(index) { UInt64(bitPattern: records[$0].identity.hash) }
    let hash = UInt64(bitPattern: room)
    if let known = runsByRoom.find(hash, where: { runs[$0].room == room }) {
      if seq == runs[known].lastSeq + 1 {
        runs[known].records.append(UInt32(index))
        record(seq, of: sender, inRun: known)
      } else if seq > runs[known].lastSeq {
        // Entries are missing, which `relay verify` reports. The ones after the gap remain
        // readable.
        addRun(room, seq, record: index, sender)
        runsByRoom.replace(known, by: runs.count - 1, hash)
      }
    } else {
      addRun(room, seq, record: index, sender)
      runsByRoom.insert(runs.count - 1) { UInt64(bitPattern: runs[$0].room) }
    }
  }

  private mutating func addRun(_ room: Int64, _ seq: Int64, record: Int, _ sender: String) {
    let sending = sending(of: sender, inRoom: room)
    sendings[sending].seq = seq
    runs.append(Run(room: room, firstSeq: seq, records: [UInt32(record)], sending: sending))
  }

  @inline(__always)
  private mutating func record(_ seq: Int64, of sender: String, inRun run: Int) {
    // Most entries have the sender of the one before them.
    if sendings[runs[run].sending].user != sender {
      runs[run].sending = sending(of: sender, inRoom: runs[run].room)
    }
    sendings[runs[run].sending].seq = seq
  }

  private mutating func sending(of sender: String, inRoom room: Int64) -> Int {
    if let known = find(sender, inRoom: room) { return known }
    sendings.append(Sending(room: room, user: sender, seq: 0))
    sendingsByPlace.insert(sendings.count - 1) { sendings[$0].hash }
    return sendings.count - 1
  }

  private func find(_ sender: String, inRoom room: Int64) -> Int? {
    sendingsByPlace.find(Sending.hash(room, sender)) {
      sendings[$0].room == room && sendings[$0].user == sender
    }
  }

  /// Returns the room's last run in this segment; `nil` if it has none.
  func run(of room: Int64) -> Run? {
    runsByRoom.find(UInt64(bitPattern: room)) { runs[$0].room == room }.map { runs[$0] }
  }

  /// Appends the positions of all entries with this identity.
  @inline(__always)
  func find(_ identity: EntryIdentity, into positions: inout [Int64]) {
    _ = recordsByIdentity.find(UInt64(bitPattern: identity.hash)) {
      if records[$0].identity == identity { positions.append(records[$0].position) }
      return false
    }
  }

  /// Returns a sender's last entry in a room.
  func lastSeq(of sender: String, inRoom room: Int64) -> Int64? {
    find(sender, inRoom: room).map { sendings[$0].seq }
  }

  func position(of seq: Int64, in run: Run) -> Int64 {
    records[Int(run.records[Int(seq - run.firstSeq)])].position
  }
}
