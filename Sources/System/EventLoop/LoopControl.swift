internal import Platform
internal import Synchronization

/// The thread-safe part of a loop: wakes it and stops it.
public final class LoopControl: Sendable {
  private let stopRequested = Atomic(false)
  private let event: EventDescriptor

  init() throws(SystemError) {
    event = try EventDescriptor()
  }

  var descriptor: Int32 { event.descriptor }
  var isStopping: Bool { stopRequested.load(ordering: .acquiring) }

  /// Ends `EventLoop.run` permanently at the end of its turn, after `beforeSleep`.
  public func stop() {
    stopRequested.store(true, ordering: .releasing)
    event.signal()
  }

  /// Wakes the loop for a turn, so that it calls `beforeSleep`.
  public func wake() {
    event.signal()
  }
}
