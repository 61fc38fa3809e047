internal import Glibc
internal import Synchronization

/// Reports the seed that a thread was running when the relay trapped, which ends the process.
///
/// A trap is raised by an instruction of Swift's own code, never within an allocation, so the
/// handler may create a string.
enum TrapReport {
  private final class Slot: Sendable {
    let thread = Atomic<UInt>(0)
    let seed = Atomic<UInt64>(0)
    /// An index of `StoreKind.allCases`.
    let store = Atomic(0)
  }

  /// The slots of threads; further threads are not distinguished.
  private static let slots = (0..<64).map { _ in Slot() }

  static func install() {
    // Initializes the slots now instead of in the handler.
    _ = slots.count
    for number in [SIGILL, SIGTRAP] {
      signal(number) { number in
        TrapReport.tell()
        // The instruction traps again, and this time ends the process.
        signal(number, SIG_DFL)
      }
    }
  }

  /// Records that this thread runs a seed from now on.
  static func begin(_ seed: UInt64, _ store: StoreKind) {
    let this = UInt(pthread_self())
    for slot in slots {
      let (taken, owner) = slot.thread.compareExchange(
        expected: 0, desired: this, ordering: .relaxed)
      guard taken || owner == this else { continue }
      slot.seed.store(seed, ordering: .relaxed)
      slot.store.store(
        StoreKind.allCases.firstIndex(of: store) ?? 0, ordering: .relaxed)
      return
    }
  }

  private static func tell() {
    let this = UInt(pthread_self())
    for slot in slots where slot.thread.load(ordering: .relaxed) == this {
      let store = StoreKind.allCases[slot.store.load(ordering: .relaxed)]
      let seed = slot.seed.load(ordering: .relaxed)
      let text = """
        seed \(seed), \(store.rawValue): the relay trapped, which ends its process
          repeat step by step: simulate --store \(store.rawValue) --seed \(seed) --trace

        """
      let bytes = Array(text.utf8)
      _ = unsafe write(STDOUT_FILENO, bytes, bytes.count)
    }
  }
}

extension Simulation {
  /// Installs a handler that reports the current seed on standard output when the process traps.
  public static func reportTraps() { TrapReport.install() }
}
