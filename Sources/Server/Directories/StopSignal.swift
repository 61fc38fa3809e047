internal import Platform
internal import Synchronization

/// Ends a thread's waits permanently. Any thread may raise it.
final class StopSignal: Sendable {
  private let flag = Atomic(false)
  private let event: EventDescriptor

  init() throws(SystemError) { event = try EventDescriptor() }

  /// Becomes readable when the signal is raised.
  var descriptor: Int32 { event.descriptor }

  var isRaised: Bool { flag.load(ordering: .acquiring) }

  func raise() {
    flag.store(true, ordering: .releasing)
    event.signal()
  }

  /// Sleeps for a duration, or until the signal is raised.
  func wait(milliseconds: Int64) {
    _ = event.wait(timeoutMilliseconds: Int32(clamping: max(0, milliseconds)))
  }

  /// Sleeps until a time of the wall clock, or until the signal is raised. If that clock is set
  /// forward, the sleep is shorter; if it is set back, the sleep does not become longer.
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
