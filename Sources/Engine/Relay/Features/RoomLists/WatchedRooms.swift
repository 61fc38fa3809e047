/// The rooms in the lists of those users on one loop who have requested `rooms`: each list in the
/// order of activity, the latest first.
struct WatchedRooms: ~Copyable {
  var users = Slab(vacant: UserWatch(user: ""))
  private var slots: [String: Slot<UserWatch>] = [:]
  var rooms = Slab(vacant: WatchedRoom(watch: Slot(0), room: Slot(0), place: 0))
  /// For each room of the loop the lists that have it, by the slot of the room.
  private var watchers: [[Slot<WatchedRoom>]] = []

  func find(_ user: String) -> Slot<UserWatch>? { slots[user] }

  mutating func findOrInsert(_ user: String) -> Slot<UserWatch> {
    if let slot = slots[user] { return slot }
    let slot = users.insert(UserWatch(user: user))
    slots[user] = slot
    return slot
  }

  /// Removes a user whose rooms have been removed.
  mutating func remove(_ watch: Slot<UserWatch>) {
    slots[users[watch].user] = nil
    users.remove(watch)
  }

  /// The element of a room in a user's list.
  func find(_ user: String, _ room: Slot<Room>) -> Slot<WatchedRoom>? {
    slots[user].flatMap { users[$0].rooms[room] }
  }

  /// The lists that have a room.
  func watchers(of room: Slot<Room>) -> [Slot<WatchedRoom>] {
    Int(room.place) < watchers.count ? watchers[Int(room.place)] : []
  }

  /// Adds a room at the front of a user's list and to the watchers of the room.
  mutating func insert(_ room: Slot<Room>, on watch: Slot<UserWatch>) -> Slot<WatchedRoom> {
    let index = Int(room.place)
    if index >= watchers.count {
      watchers.append(contentsOf: repeatElement([], count: index + 1 - watchers.count))
    }
    let node = rooms.insert(
      WatchedRoom(watch: watch, room: room, place: Int32(watchers[index].count)))
    watchers[index].append(node)
    users[watch].rooms[room] = node
    linkAtFront(node)
    return node
  }

  mutating func remove(_ node: Slot<WatchedRoom>) {
    unlink(node)
    let room = rooms[node].room
    users[rooms[node].watch].rooms[room] = nil
    // The last watcher of the room takes the place.
    let last = watchers[Int(room.place)].removeLast()
    if last != node {
      watchers[Int(room.place)][Int(rooms[node].place)] = last
      rooms[last].place = rooms[node].place
    }
    rooms.remove(node)
  }

  // MARK: - The order of activity

  mutating func moveToFront(_ node: Slot<WatchedRoom>) {
    if users[rooms[node].watch].newest.slot == node { return }
    unlink(node)
    linkAtFront(node)
  }

  private mutating func linkAtFront(_ node: Slot<WatchedRoom>) {
    let watch = rooms[node].watch
    let newest = users[watch].newest
    rooms[node].newer = .none
    rooms[node].older = newest
    if let newest = newest.slot { rooms[newest].newer = OptionalSlot(node) }
    users[watch].newest = OptionalSlot(node)
    users[watch].stamp += 1
    rooms[node].stamp = users[watch].stamp
  }

  private mutating func unlink(_ node: Slot<WatchedRoom>) {
    let (watch, newer, older) = (rooms[node].watch, rooms[node].newer, rooms[node].older)
    if let newer = newer.slot {
      rooms[newer].older = older
    } else {
      users[watch].newest = older
    }
    if let older = older.slot { rooms[older].newer = newer }
  }

  /// Puts a list that has just been loaded into order: the latest first, rooms of the same time by
  /// name.
  /// - Parameter name: returns the name of a room.
  mutating func sort(_ watch: Slot<UserWatch>, name: (Slot<Room>) -> String) {
    var nodes = users[watch].rooms.values.map {
      (slot: $0, at: rooms[$0].lastAt, name: name(rooms[$0].room))
    }
    nodes.sort { $0.at != $1.at ? $0.at < $1.at : $0.name > $1.name }
    users[watch].newest = .none
    for node in nodes { linkAtFront(node.slot) }
  }

  /// Returns where the list continues after a cursor whose paging no longer exists: after its room
  /// if that has not moved, otherwise by time. Beyond the bound, rooms are listed again rather than
  /// not at all.
  func place(
    after room: Slot<Room>?, lastAt: Int64, _ watch: Slot<UserWatch>, scanLimit: Int
  ) -> OptionalSlot<WatchedRoom> {
    if let room, let node = users[watch].rooms[room], rooms[node].lastAt == lastAt {
      return rooms[node].older
    }
    var next = users[watch].newest
    var scanned = 0
    while let node = next.slot, rooms[node].lastAt > lastAt, scanned < scanLimit {
      next = rooms[node].older
      scanned += 1
    }
    return next
  }

  var isLoose: Bool { slots.isLoose }

  mutating func shrink() {
    rooms.shrink()
    slots.shrinkIfLoose()
    let used = (watchers.lastIndex { !$0.isEmpty } ?? -1) + 1
    if used <= watchers.count / 2 { watchers = Array(watchers[..<used]) }
  }
}
