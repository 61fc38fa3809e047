public import Wire

/// Rooms and entries in arrays and dictionaries.
public struct MemoryStore: EntryStore, EntryReader {
  private struct Room {
    var name: String
    /// The first of these has the `seq` `first`.
    var entries: [Entry] = []
    var first: Int64 = 1
    var members: [String: MemberMarks] = [:]
    var identities: [Identity: Int64] = [:]
  }
  private struct Identity: Hashable {
    var sender: String
    var id: String
  }

  private var rooms: [Int64: Room] = [:]
  private var numbers: [String: Int64] = [:]
  private var roomsByMember: [String: Set<Int64>] = [:]

  /// An empty store.
  public init() {}

  public mutating func loadRoom(_ name: String) throws(StoreFailure) -> StoredRoom? {
    guard let number = numbers[name], let room = rooms[number] else { return nil }
    return StoredRoom(
      number: number, head: room.first + Int64(room.entries.count) - 1, first: room.first,
      lastAt: room.entries.last?.at ?? 0, members: room.members)
  }

  public mutating func nextRoomNumber() throws(StoreFailure) -> Int64 {
    Int64(numbers.count + 1)
  }

  public mutating func find(
    _ identity: EntryIdentity, room: Int64, sender: String, id: String
  ) throws(StoreFailure) -> (seq: Int64, at: Int64)? {
    guard let room = rooms[room],
      let seq = room.identities[Identity(sender: sender, id: id)]
    else { return nil }
    return (seq, room.entries[Int(seq - room.first)].at)
  }

  /// There is one epoch only, so that everything belongs to it.
  public mutating func lastSeq(
    room: Int64, throughEpoch number: Int64
  ) throws(StoreFailure) -> Int64 {
    rooms[room].map { $0.first + Int64($0.entries.count) - 1 } ?? 0
  }

  public mutating func belongings(
    of user: String
  ) throws(StoreFailure) -> [String] {
    (roomsByMember[user] ?? []).sorted().compactMap { rooms[$0]?.name }
  }

  public mutating func commit(_ changes: StoreChanges) throws(StoreFailure) {
    for (number, name) in changes.newRooms {
      rooms[number] = Room(name: name)
      numbers[name] = number
    }
    for new in changes.entries {
      let entry = new.entry
      rooms[new.room]?.entries.append(entry)
      rooms[new.room]?.identities[Identity(sender: entry.from, id: entry.id)] = entry.seq
      if rooms[new.room]?.members[entry.from] != nil {
        rooms[new.room]?.members[entry.from] = MemberMarks(read: entry.seq, received: entry.seq)
      }
    }
    for (number, user) in changes.formerMembers {
      rooms[number]?.members[user] = nil
      roomsByMember[user]?.remove(number)
    }
    for (number, user, marks, _) in changes.members {
      rooms[number]?.members[user] = marks
      roomsByMember[user, default: []].insert(number)
    }
    for (number, first) in changes.trims { trim(number, to: first) }
  }

  private mutating func trim(_ number: Int64, to first: Int64) {
    guard var room = rooms.removeValue(forKey: number) else { return }
    let count = Int(first - room.first)
    for entry in room.entries.prefix(count) {
      room.identities[Identity(sender: entry.from, id: entry.id)] = nil
    }
    room.entries.removeFirst(count)
    room.first = first
    rooms[number] = room
  }

  public mutating func bounds(
    of room: String
  ) throws(StoreFailure) -> (number: Int64, first: Int64, head: Int64)? {
    guard let stored = try loadRoom(room) else { return nil }
    return (stored.number, stored.first, stored.head)
  }

  public mutating func forEachEntry(
    ofRoom number: Int64, named name: String, in seqs: ClosedRange<Int64>, _ body: (Entry) -> Bool
  ) throws(StoreFailure) {
    guard let room = rooms[number] else { return }
    for seq in seqs where seq >= room.first && seq < room.first + Int64(room.entries.count) {
      guard body(room.entries[Int(seq - room.first)]) else { return }
    }
  }
}
