internal import Synchronization

/// Publishes to one event loop. Several threads of the log post to it, one at a time.
package final class LoopPublisher: Sendable {
  private let loop: Int
  private let publish: @Sendable (Int, LogDelivery) -> Void
  private let lock = Mutex(())

  package init(loop: Int, publish: @escaping @Sendable (Int, LogDelivery) -> Void) {
    self.loop = loop
    self.publish = publish
  }

  package func post(_ delivery: LogDelivery) {
    lock.withLock { _ in publish(loop, delivery) }
  }
}

extension [LoopPublisher] {
  /// Sends the commit to every loop, answers to the loops that asked, and completes their submits.
  /// - Parameter submitters: the loops that may submit again afterwards.
  package func post(_ outcome: Sequencer.Outcome, completing submitters: Set<Int>) {
    for (loop, delivery) in outcome.deliveries(completing: submitters) {
      self[loop].post(delivery)
    }
  }
}

extension Sequencer.Outcome {
  /// Returns what each loop is sent: the commit, its answers, and the completion of its submit.
  /// - Parameter submitters: the loops that may submit again afterwards.
  package func deliveries(
    completing submitters: Set<Int>
  ) -> [(loop: Int, delivery: LogDelivery)] {
    answers.enumerated().compactMap { loop, answers in
      let completesSubmit = submitters.contains(loop)
      guard commit != nil || !answers.isEmpty || completesSubmit else { return nil }
      return (
        loop, LogDelivery(commit: commit, answers: answers, completesSubmit: completesSubmit)
      )
    }
  }
}
