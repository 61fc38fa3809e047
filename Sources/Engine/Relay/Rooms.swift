/// The rooms that one loop knows, by name and by slot: those with subscribers, with entries in
/// memory, or in a user's list.
struct Rooms: ~Copyable {
  private var table = Slab(vacant: Room(name: ""))
  private var byName: [String: Slot<Room>] = [:]

  subscript(slot: Slot<Room>) -> Room {
    @inline(__always) unsafeAddress { unsafe UnsafePointer(table.address(of: slot)) }
    @inline(__always) unsafeMutableAddress { unsafe table.address(of: slot) }
  }

  var slots: [Slot<Room>] { table.slots }
  var count: Int { table.count }

  func contains(_ slot: Slot<Room>) -> Bool { table.contains(slot) }
  func contains(_ handle: Handle<Room>) -> Bool { table.contains(handle) }
  func handle(_ slot: Slot<Room>) -> Handle<Room> { table.handle(slot) }

  func find(_ name: String) -> Slot<Room>? { byName[name] }

  mutating func findOrInsert(_ name: String) -> Slot<Room> {
    if let slot = byName[name] { return slot }
    let slot = table.insert(Room(name: name))
    byName[name] = slot
    return slot
  }

  /// Forgets the entries of a room, and the room if nothing refers to it.
  mutating func forget(_ slot: Slot<Room>) {
    table[slot].head = 0
    table[slot].firstKept = 1
    table[slot].tail = RoomTail()
    table[slot].last = []
    table[slot].staged = Turn.Chain()
    releaseIfUnused(slot)
  }

  var isLoose: Bool { byName.isLoose }

  mutating func shrink() {
    table.shrink()
    byName.shrinkIfLoose()
  }

  /// Removes a room that nothing refers to.
  mutating func releaseIfUnused(_ slot: Slot<Room>) {
    guard table[slot].isUnused else { return }
    byName[table[slot].name] = nil
    table.remove(slot)
  }
}
