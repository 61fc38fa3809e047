/// Identifies a descriptor while it is registered with a loop.
///
/// It contains a generation, since the kernel reuses the numbers of closed descriptors: an event
/// for a registration that has ended is dropped, even if its number is in use again.
public struct Registration: Hashable, Sendable {
  let index: UInt32
  /// Narrow, because it distinguishes only the registrations of a slot within one turn.
  let generation: UInt16

  init(index: UInt32, generation: UInt16) {
    self.index = index
    self.generation = generation
  }

  /// The value passed to the kernel and returned with each event.
  var key: UInt64 { UInt64(generation) << 32 | UInt64(index) }

  init(key: UInt64) {
    index = UInt32(truncatingIfNeeded: key)
    generation = UInt16(truncatingIfNeeded: key >> 32)
  }
}
