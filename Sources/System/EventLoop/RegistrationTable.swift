/// The registered descriptors of a loop, each in a slot with a generation.
///
/// Not a `Slab` of Relay: the generation is in the padding of the slot, which takes 16 bytes, so that an
/// event reads one line of the cache.
struct RegistrationTable {
  struct Slot {
    var descriptor: Int32 = -1
    var generation: UInt16 = 0
    var interest: Interest = []
    /// Deregistered from epoll, since the kernel would report its end in every turn.
    var isQuiet = false
    var token: UInt64 = 0
  }

  private var slots: [Slot] = []
  private var free: [UInt32] = []

  var count: Int { slots.count - free.count }

  /// The slot of a live registration.
  subscript(registration: Registration) -> Slot? {
    get {
      guard registration.index < slots.count else { return nil }
      let slot = slots[Int(registration.index)]
      return slot.generation == registration.generation && slot.descriptor >= 0 ? slot : nil
    }
  }

  mutating func insert(_ descriptor: Int32, interest: Interest, token: UInt64) -> Registration {
    let index = free.popLast() ?? UInt32(slots.count)
    if index == slots.count { slots.append(Slot()) }
    slots[Int(index)].descriptor = descriptor
    slots[Int(index)].token = token
    slots[Int(index)].interest = interest
    slots[Int(index)].isQuiet = false
    return Registration(index: index, generation: slots[Int(index)].generation)
  }

  mutating func update(_ registration: Registration, interest: Interest, isQuiet: Bool) {
    precondition(self[registration] != nil, "this registration has ended")
    slots[Int(registration.index)].interest = interest
    slots[Int(registration.index)].isQuiet = isQuiet
  }

  mutating func remove(_ registration: Registration) {
    precondition(self[registration] != nil, "this registration has ended")
    slots[Int(registration.index)].descriptor = -1
    slots[Int(registration.index)].generation &+= 1
    free.append(registration.index)
  }
}
