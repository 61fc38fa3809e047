/// The rooms that one loop knows, by name and by slot: those with subscribers, with entries in
/// memory, or in a user's list.
struct Rooms {
  private var table = Slab(vacant: Room(name: ""))
  private var slots: [String: Slot<Room>] = [:]

  subscript(slot: Slot<Room>) -> Room {
    @inline(__always) _read { yield table[slot] }
    @inline(__always) _modify { yield &table[slot] }
  }

  var all: some Sequence<Room> { table.all }
  var count: Int { table.count }

  func contains(_ slot: Slot<Room>) -> Bool { table.contains(slot) }
  func contains(_ handle: Handle<Room>) -> Bool { table.contains(handle) }
  func handle(_ slot: Slot<Room>) -> Handle<Room> { table.handle(slot) }

  func find(_ name: String) -> Slot<Room>? { slots[name] }

  mutating func findOrInsert(_ name: String) -> Slot<Room> {
    if let slot = slots[name] { return slot }
    let slot = table.insert(Room(name: name))
    slots[name] = slot
    return slot
  }

  /// Removes a room that nothing refers to.
  mutating func releaseIfUnused(_ slot: Slot<Room>) {
    guard table[slot].isUnused else { return }
    slots[table[slot].name] = nil
    table.remove(slot)
  }
}
