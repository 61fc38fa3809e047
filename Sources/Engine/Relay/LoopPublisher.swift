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

extension [LoopPublisher] {
  /// Sends the commit to every loop, answers to the loops that asked, and completes their submits.
  /// - Parameter submitters: the loops that may submit again afterwards.
  package func post(_ outcome: Sequencer.Outcome, completing submitters: Set<Int>) {
    for (loop, publisher) in enumerated() {
      let answers = outcome.answers[loop]
      let completesSubmit = submitters.contains(loop)
      guard outcome.commit != nil || !answers.isEmpty || completesSubmit else { continue }
      publisher.post(
        LogDelivery(commit: outcome.commit, answers: answers, completesSubmit: completesSubmit))
    }
  }
}
