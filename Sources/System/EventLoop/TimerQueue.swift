internal import HeapModule
internal import Platform

/// Identifies a scheduled timer; invalid once it has fired or was cancelled, and never reused.
public struct TimerID: Hashable, Sendable {
  let slot: UInt32
  let generation: UInt32
}

/// A queue of timers ordered by deadline: a heap with deferred corrections.
///
/// A relay mostly postpones timers: an idle timeout moves with every message and hardly ever fires.
/// So the deadline is stored in a slot, and postponing it only writes the slot; when the old
/// deadline is reached, the heap notices the new one and queues the timer again: once per timeout,
/// not once per message. A hashed wheel would do the same in O(1), but rounds deadlines to its tick
/// and has to step through empty ticks; a heap knows the next deadline to the nanosecond.
/// Cancelling leaves a dead entry in the heap, which is rebuilt once more than half of it is dead.
///
/// Not a `RegistrationTable` with other elements: a slot without an entry in the heap is free, and its
/// generation is not narrow, since a timer's name is kept for any time.
struct TimerQueue {
  private struct Slot {
    var deadline = Instant(nanoseconds: 0)
    var token: UInt64 = 0
    var generation: UInt32 = 0
    /// The sequence of the slot's entry in the heap; 0 if the slot is free.
    var entry: UInt64 = 0
    /// The deadline of that entry in the heap: never later than `deadline`.
    var queued = Instant(nanoseconds: 0)
  }

  private struct Entry: Comparable {
    var deadline: Instant
    /// Increases with each entry, so that equal deadlines fire in the order in which they were
    /// scheduled.
    var sequence: UInt64
    var slot: UInt32

    static func < (left: Entry, right: Entry) -> Bool {
      (left.deadline, left.sequence) < (right.deadline, right.sequence)
    }
  }

  private var slots: [Slot] = []
  private var free: [UInt32] = []
  private var heap = Heap<Entry>()
  private var lastSequence: UInt64 = 0

  /// The number of pending timers.
  var count: Int { slots.count - free.count }

  /// The number of entries in the heap, including dead ones.
  var entryCount: Int { heap.count }

  mutating func schedule(at deadline: Instant, token: UInt64) -> TimerID {
    let slot = free.popLast() ?? UInt32(slots.count)
    if slot == slots.count { slots.append(Slot()) }
    slots[Int(slot)].token = token
    enqueue(slot, at: deadline)
    return TimerID(slot: slot, generation: slots[Int(slot)].generation)
  }

  /// Moves a timer; false if it has fired or was cancelled.
  mutating func reschedule(_ timer: TimerID, at deadline: Instant) -> Bool {
    guard isAlive(timer) else { return false }
    if deadline >= slots[Int(timer.slot)].queued {
      slots[Int(timer.slot)].deadline = deadline
    } else {
      enqueue(timer.slot, at: deadline)
      dropDeadEntries()
    }
    return true
  }

  mutating func cancel(_ timer: TimerID) {
    guard isAlive(timer) else { return }
    release(timer.slot)
    dropDeadEntries()
  }

  /// The next time to check; may be too early for a timer that was moved, never too late.
  var nextDeadline: Instant? { heap.min?.deadline }

  /// Marks the end of the currently due timers: timers scheduled later wait for the next turn.
  /// Otherwise a timer that reschedules itself immediately would starve the descriptors.
  var mark: UInt64 { lastSequence }

  /// Removes and returns the next timer that is due at `now` and was queued before `mark`.
  mutating func popDue(at now: Instant, before mark: UInt64) -> (TimerID, token: UInt64)? {
    while let entry = heap.min, entry.deadline <= now, entry.sequence <= mark {
      heap.removeMin()
      let slot = slots[Int(entry.slot)]
      guard slot.entry == entry.sequence else { continue }
      if slot.deadline > now {
        enqueue(entry.slot, at: slot.deadline)
        continue
      }
      release(entry.slot)
      return (TimerID(slot: entry.slot, generation: slot.generation), slot.token)
    }
    return nil
  }

  private func isAlive(_ timer: TimerID) -> Bool {
    slots[Int(timer.slot)].generation == timer.generation && slots[Int(timer.slot)].entry != 0
  }

  private mutating func enqueue(_ slot: UInt32, at deadline: Instant) {
    lastSequence += 1
    slots[Int(slot)].deadline = deadline
    slots[Int(slot)].queued = deadline
    slots[Int(slot)].entry = lastSequence
    heap.insert(Entry(deadline: deadline, sequence: lastSequence, slot: slot))
  }

  private mutating func release(_ slot: UInt32) {
    slots[Int(slot)].entry = 0
    slots[Int(slot)].generation &+= 1
    free.append(slot)
  }

  private mutating func dropDeadEntries() {
    // Each rebuild at least halves the heap: its cost is spread over as many cancellations.
    guard heap.count > 2 * count + 64 else { return }
    heap = Heap(heap.unordered.filter { slots[Int($0.slot)].entry == $0.sequence })
  }
}
