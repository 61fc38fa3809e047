/// Names a descriptor that a loop watches, for as long as it is registered.
///
/// It carries a generation since the kernel hands out the numbers of closed descriptors again:
/// an event for a registration that has ended is dropped, even if the number lives on.
public struct Registration: Hashable, Sendable {
  let index: UInt32
  let generation: UInt32

  init(index: UInt32, generation: UInt32) {
    self.index = index
    self.generation = generation
  }

  /// What goes through the kernel and comes back with the event.
  var key: UInt64 { UInt64(generation) << 32 | UInt64(index) }

  init(key: UInt64) {
    index = UInt32(truncatingIfNeeded: key)
    generation = UInt32(truncatingIfNeeded: key >> 32)
  }
}
