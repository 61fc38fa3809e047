internal import Platform
internal import Synchronization

/// The part of a loop that other threads may hold: it wakes the loop and ends it.
public final class LoopControl: Sendable {
  private let stopRequested = Atomic(false)
  private let event: EventDescriptor

  init() throws(SystemError) {
    event = try EventDescriptor()
  }

  var descriptor: Int32 { event.descriptor }
  var isStopping: Bool { stopRequested.load(ordering: .acquiring) }

  /// Ends `EventLoop.run` at the end of its turn, after `beforeSleep`; for good.
  public func stop() {
    stopRequested.store(true, ordering: .releasing)
    event.signal()
  }

  /// Makes the loop take a turn, and so call `beforeSleep`.
  public func wake() {
    event.signal()
  }
}
