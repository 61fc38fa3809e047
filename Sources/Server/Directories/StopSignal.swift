internal import Platform
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

  /// Sleeps until the system's clock says so, or until it is raised. That clock may be set
  /// meanwhile, forward or back: this never sleeps for longer than it was to at first.
  func wait(until wall: Int64) {
    let first = wall - WallClock.milliseconds
    let end = ContinuousClock.now + .milliseconds(first)
    while !isRaised {
      let left = wall - WallClock.milliseconds
      guard left > 0, ContinuousClock.now < end else { return }
      wait(milliseconds: min(left, 30_000))
    }
  }
}
