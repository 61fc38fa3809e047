/// The rooms in memory that are no longer needed.
extension Sequencer {
  /// How many rooms a batch looks at, however many there are.
  private static let sweptRooms = 4096

  /// Returns the index of a new room.
  mutating func add(_ room: SequencedRoom) -> Int {
    let index: Int
    if let free = vacant.popLast() {
      index = free
      rooms[index] = room
    } else {
      index = rooms.count
      rooms.append(room)
    }
    indices[room.name] = index
    return index
  }

  /// Vacates the rooms that have been abandoned, and some of those without subscribers if there are
  /// more than `idleRoomLimit`. To be called between batches, since a batch refers to rooms by index.
  mutating func forgetRooms() {
    for room in abandonedRooms where rooms[room].isUnneeded { vacate(room) }
    abandonedRooms.removeAll()
    var looks = Self.sweptRooms
    while indices.count - subscribedRooms > Self.idleRoomLimit, looks > 0 {
      if sweep >= rooms.count { sweep = 0 }
      if rooms[sweep].isIdle { vacate(sweep) }
      sweep += 1
      looks -= 1
    }
    if rooms.count > Self.idleRoomLimit, indices.count < rooms.count / 4 { closeGaps() }
  }

  private mutating func vacate(_ room: Int) {
    indices[rooms[room].name] = nil
    if let number = rooms[room].number { governed[number] = nil }
    rooms[room] = SequencedRoom.vacant
    vacant.append(room)
  }

  /// Frees the memory of vacant rooms: at least three quarters of all, so that the rest is moved
  /// rarely.
  private mutating func closeGaps() {
    rooms = rooms.filter { !$0.isVacant }
    indices = Dictionary(uniqueKeysWithValues: rooms.enumerated().map { ($1.name, $0) })
    (vacant, sweep) = ([], 0)
  }
}

extension SequencedRoom {
  fileprivate static let vacant = SequencedRoom(name: "")

  fileprivate var isVacant: Bool { name.isEmpty }

  /// Whether neither the store nor a user needs it.
  fileprivate var isUnneeded: Bool {
    !isVacant && number == nil && members.isEmpty && subscribers.isEmpty
  }

  /// Whether it can be read from the store again. The store does not know a room without entries.
  fileprivate var isIdle: Bool {
    !isVacant && subscribers.isEmpty && (number != nil || members.isEmpty)
  }
}
