internal import HeapModule
internal import Platform

/// Names one scheduled timer; dead once it has fired or was cancelled, and never reused.
public struct TimerID: Hashable, Sendable {
  let slot: UInt32
  let generation: UInt32
}

/// Timers in the order of their deadlines: a heap that is corrected late.
///
/// What a relay does with timers is to push them back: an idle timeout moves with every message
/// and hardly ever fires. So a deadline lives in a slot, and moving it later only writes the slot;
/// the heap finds out when the old deadline comes up, and queues the timer again: once per
/// timeout, not once per message. A hashed wheel would do the same in O(1), but rounds deadlines
/// to its tick and has to step through empty ticks; a heap knows when to wake up to the nanosecond.
/// Cancelling leaves a dead entry behind, and the heap is rebuilt once more than half is dead.
struct TimerQueue {
  private struct Slot {
    var deadline = Instant(nanoseconds: 0)
    var token: UInt64 = 0
    var generation: UInt32 = 0
    /// The entry of the heap that speaks for this slot; 0 when the slot is free.
    var entry: UInt64 = 0
    /// The deadline under which that entry stands in the heap: never later than `deadline`.
    var queued = Instant(nanoseconds: 0)
  }

  private struct Entry: Comparable {
    var deadline: Instant
    /// Counts up, so that equal deadlines fire in the order in which they were scheduled.
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

  /// How many timers are going to fire.
  var count: Int { slots.count - free.count }

  /// How many entries the heap holds, dead ones included.
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

  /// When to look again; may be too early for a timer that was moved, never too late.
  var nextDeadline: Instant? { heap.min?.deadline }

  /// Marks the end of what is due now: timers scheduled from here on wait for the next turn,
  /// or a timer that schedules itself at once would keep the loop from its descriptors.
  var mark: UInt64 { lastSequence }

  /// Takes the next timer that is due at `now` and was queued before `mark`.
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
    // Each rebuild halves the heap at least: its cost is spread over as many cancellations.
    guard heap.count > 2 * count + 64 else { return }
    heap = Heap(heap.unordered.filter { slots[Int($0.slot)].entry == $0.sequence })
  }
}
