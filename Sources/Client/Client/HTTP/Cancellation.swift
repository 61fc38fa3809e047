package import Platform

/// Ends the work of another thread, which waits for its descriptor among others. Any thread may cancel.
package final class Cancellation: Sendable {
  private let event: EventDescriptor

  package init() throws(SystemError) { event = try EventDescriptor() }

  /// Readable from the cancellation on.
  var descriptor: Int32 { event.descriptor }

  package func cancel() { event.signal() }

  /// Waits for a time.
  /// - Returns: Whether the work was cancelled.
  func wait(milliseconds: Int) -> Bool {
    event.wait(timeoutMilliseconds: Int32(clamping: milliseconds))
  }
}
