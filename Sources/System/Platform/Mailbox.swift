internal import Synchronization

/// A locked queue that wakes its only reader.
///
/// `post` may be called on any thread; `drain` and `wait` only on the reader's. Messages of one
/// thread arrive in the order in which they were posted, and none is lost. Unbounded: the senders
/// must be limited by other means (in the relay, at most one batch is in the log).
public final class Mailbox<Message: Sendable>: Sendable {
  private let queue = Mutex<[Message]>([])
  private let event: EventDescriptor

  /// Creates an empty mailbox with its own eventfd.
  public init() throws(SystemError) {
    event = try EventDescriptor()
  }

  /// Readable when there are messages; for epoll, level-triggered.
  public var descriptor: Int32 { event.descriptor }

  /// Appends a message; wakes the reader if the mailbox was empty.
  public func post(_ message: consuming Message) {
    let message = message
    let wasEmpty = queue.withLock { messages in
      messages.append(message)
      return messages.count == 1
    }
    // Outside the lock, so that the woken reader does not find it taken.
    if wasEmpty { event.signal() }
  }

  /// Replaces `messages` with all posted messages, in order.
  ///
  /// The arrays are swapped, so that a reader that always passes the same one allocates nothing
  /// once both have grown to the usual batch size.
  public func drain(into messages: inout [Message]) {
    // Old messages are released here and not under the lock, since their deinit is foreign code.
    messages.removeAll(keepingCapacity: true)
    // Cleared before the swap. In the other order, the wake-up of a message posted in between would
    // be lost. In this order, the worst case is a wake-up without a message.
    event.clear()
    queue.withLock { swap(&$0, &messages) }
  }

  /// Waits for messages; for a thread without an event loop.
  ///
  /// - Parameter timeoutMilliseconds: negative = no timeout.
  /// - Returns: whether there are messages. Rarely true without any.
  public func wait(timeoutMilliseconds: Int32) -> Bool {
    event.wait(timeoutMilliseconds: timeoutMilliseconds)
  }
}
