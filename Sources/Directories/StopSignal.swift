internal import Mailbox
internal import Synchronization

/// Ends a thread's waits, once and for all. Any thread may raise it.
final class StopSignal: Sendable {
  private let flag = Atomic(false)
  private let event: EventDescriptor

  init() throws(SystemError) { event = try EventDescriptor() }

  /// Readable once it is raised.
  var descriptor: Int32 { event.descriptor }

  var isRaised: Bool { flag.load(ordering: .acquiring) }

  func raise() {
    flag.store(true, ordering: .releasing)
    event.signal()
  }

  /// Sleeps for so long, or until it is raised.
  func wait(milliseconds: Int64) {
    _ = event.wait(timeoutMilliseconds: Int32(clamping: max(0, milliseconds)))
  }

  /// Sleeps until the system's clock says so, or until it is raised.
  func wait(until wall: Int64) {
    while !isRaised {
      let left = wall - WallClock.milliseconds
      guard left > 0 else { return }
      // The clock may be set meanwhile, and the machine may sleep.
      wait(milliseconds: min(left, 30_000))
    }
  }
}
