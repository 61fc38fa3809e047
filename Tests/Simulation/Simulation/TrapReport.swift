internal import Glibc
internal import Synchronization

/// Says which seed a thread was playing when the relay trapped, which ends the process: nothing can be
/// said of it afterwards.
///
/// A trap is raised by an instruction of Swift's own code, never within an allocation, so that the
/// handler may make a string.
enum TrapReport {
  private final class Slot: Sendable {
    let thread = Atomic<UInt>(0)
    let seed = Atomic<UInt64>(0)
    let isSQLite = Atomic(false)
  }

  /// More threads than these are not told apart.
  private static let slots = (0..<64).map { _ in Slot() }

  static func install() {
    // Made now, and not in the handler.
    _ = slots.count
    for number in [SIGILL, SIGTRAP] {
      signal(number) { number in
        TrapReport.tell()
        // The instruction traps once more, and now for good.
        signal(number, SIG_DFL)
      }
    }
  }

  /// This thread plays a seed from now on.
  static func begin(_ seed: UInt64, _ store: StoreKind) {
    let this = UInt(pthread_self())
    for slot in slots {
      let (taken, owner) = slot.thread.compareExchange(
        expected: 0, desired: this, ordering: .relaxed)
      guard taken || owner == this else { continue }
      slot.seed.store(seed, ordering: .relaxed)
      slot.isSQLite.store(store == .sqlite, ordering: .relaxed)
      return
    }
  }

  private static func tell() {
    let this = UInt(pthread_self())
    for slot in slots where slot.thread.load(ordering: .relaxed) == this {
      let store: StoreKind = slot.isSQLite.load(ordering: .relaxed) ? .sqlite : .memory
      let seed = slot.seed.load(ordering: .relaxed)
      let text = """
        seed \(seed), \(store.rawValue): the relay trapped, which ends its process
          again, step by step: simulate --store \(store.rawValue) --seed \(seed) --trace

        """
      let bytes = Array(text.utf8)
      _ = unsafe write(STDOUT_FILENO, bytes, bytes.count)
    }
  }
}

extension Simulation {
  /// From now on a trap names the seed that was being played, on standard output.
  public static func reportTraps() { TrapReport.install() }
}
