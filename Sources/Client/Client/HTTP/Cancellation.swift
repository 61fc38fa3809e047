package import Platform
internal import Synchronization

/// Ends the work of another thread, which waits for its descriptor among others. Any thread may cancel.
package final class Cancellation: Sendable {
  private let event: EventDescriptor
  private let isLeft = Atomic(false)

  package init() throws(SystemError) { event = try EventDescriptor() }

  /// Readable from the cancellation on.
  var descriptor: Int32 { event.descriptor }

  package func cancel() { event.signal() }

  /// Ends the work so that it can go on later.
  package func leave() {
    isLeft.store(true, ordering: .releasing)
    cancel()
  }

  /// Whether what the work has done is of use.
  package var leavesWork: Bool { isLeft.load(ordering: .acquiring) }

  /// Waits for a time.
  /// - Returns: Whether the work was cancelled.
  func wait(milliseconds: Int) -> Bool {
    event.wait(timeoutMilliseconds: Int32(clamping: milliseconds))
  }
}
