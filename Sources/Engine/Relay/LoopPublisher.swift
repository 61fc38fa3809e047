internal import Synchronization

/// Publishes to one event loop. Several threads of the log post to it, one at a time.
package final class LoopPublisher: Sendable {
  private let loop: Int
  private let publish: @Sendable (Int, LogDelivery) -> Void
  private let turn = Mutex(())

  package init(loop: Int, publish: @escaping @Sendable (Int, LogDelivery) -> Void) {
    self.loop = loop
    self.publish = publish
  }

  package func post(_ delivery: LogDelivery) {
    turn.withLock { _ in publish(loop, delivery) }
  }
}
