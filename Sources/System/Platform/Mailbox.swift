internal import Synchronization

/// A locked queue that wakes its one reader.
///
/// `post` may be called on any thread; `drain` and `wait` on the reader's only. What one thread
/// posts arrives in the order in which it was posted, and nothing is lost. Unbounded: who posts
/// must be held back by something else (the relay: one batch in the log at most).
public final class Mailbox<Message: Sendable>: Sendable {
  private let queue = Mutex<[Message]>([])
  private let event: EventDescriptor

  /// An empty mailbox with an eventfd of its own.
  public init() throws(SystemError) {
    event = try EventDescriptor()
  }

  /// Readable when there is something to drain; for epoll, level-triggered.
  public var descriptor: Int32 { event.descriptor }

  /// Adds one message; wakes the reader if the mailbox was empty.
  public func post(_ message: consuming Message) {
    let message = message
    let wasEmpty = queue.withLock { messages in
      messages.append(message)
      return messages.count == 1
    }
    // Outside the lock: the reader wakes at this write, and should not find the lock taken.
    if wasEmpty { event.signal() }
  }

  /// Replaces `messages` with everything posted, in order.
  ///
  /// The arrays change places, so that a reader that passes the same one each time allocates
  /// nothing once both have grown to the usual batch.
  public func drain(into messages: inout [Message]) {
    // Old messages are let go here, not under the lock: their deinit is other people's code.
    messages.removeAll(keepingCapacity: true)
    // Cleared before the swap. The other way round, a message posted in between would have
    // its wake-up erased. This way the worst is a wake-up that finds nothing.
    event.clear()
    queue.withLock { swap(&$0, &messages) }
  }

  /// Sleeps until there is something to drain; for a thread that has no event loop.
  ///
  /// - Parameter timeoutMilliseconds: negative waits for ever.
  /// - Returns: whether there is. Rarely true with nothing to drain.
  public func wait(timeoutMilliseconds: Int32) -> Bool {
    event.wait(timeoutMilliseconds: timeoutMilliseconds)
  }
}
