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

    var lastSeq: Int64 { firstSeq + Int64(records.count) - 1 }
  }

  /// In journal order.
  private(set) var records: [Record] = []
  /// The sender of each record.
  private(set) var senders: [String] = []
  private(set) var runs: [Run] = []
  private var runsByRoom = HashTable()
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
    senders.append(sender)
    recordsByIdentity.insert(index) { UInt64(bitPattern: records[$0].identity.hash) }
    let hash = UInt64(bitPattern: room)
    if let known = runsByRoom.find(hash, where: { runs[$0].room == room }) {
      if seq == runs[known].lastSeq + 1 {
        runs[known].records.append(UInt32(index))
      } else if seq > runs[known].lastSeq {
        // Entries are missing, which `relay verify` reports. The ones after the gap remain
        // readable.
        runs.append(Run(room: room, firstSeq: seq, records: [UInt32(index)]))
        runsByRoom.replace(known, by: runs.count - 1, hash)
      }
    } else {
      runs.append(Run(room: room, firstSeq: seq, records: [UInt32(index)]))
      runsByRoom.insert(runs.count - 1) { UInt64(bitPattern: runs[$0].room) }
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

  /// Adds each sender's last entry in a room.
  func addSenders(inRoom room: Int64, to senders: inout [String: Int64]) {
    guard let run = run(of: room) else { return }
    for (index, record) in run.records.enumerated() {
      senders[self.senders[Int(record)]] = run.firstSeq + Int64(index)
    }
  }

  /// Returns a sender's last entry in a room.
  func lastSeq(of sender: String, inRoom room: Int64) -> Int64? {
    guard let run = run(of: room) else { return nil }
    return run.records.lastIndex { senders[Int($0)] == sender }.map { run.firstSeq + Int64($0) }
  }

  func position(of seq: Int64, in run: Run) -> Int64 {
    records[Int(run.records[Int(seq - run.firstSeq)])].position
  }
}
