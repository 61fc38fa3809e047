internal import Cluster
internal import Platform
internal import Relay

/// The loop of the log's writing thread: processes batches, and follows the other nodes, until the
/// log stops.
struct PostgresWriter: Sendable {
  var publishers: [LoopPublisher]
  var listener: FeedListener
  /// For the reader.
  var progress: ShownProgress
  var budgets: Budgets<String>
  var spending: SpendingLedger
  var report: @Sendable (String) -> Void

  func run(
    _ tasks: WorkQueue<NodeTask>, store: PostgresStore, node: consuming LogNode<PostgresStore>
  ) {
    var node = node
    var outage = Outage(
      "Writing", path: "the log", check: "PostgreSQL and the network between",
      meanwhile: "Clients are told to retry", report: report)
    while let taken = tasks.takeAll() {
      listener.recordTaken()
      let result = node.process(taken)
      if let reason = result.reasonToStartAgain {
        listener.identify(node: store.state.node)
        report("\(reason). Clients are told to join again.")
      }
      for (loop, delivery) in result.deliveries { publishers[loop].post(delivery) }
      let now = Int64(Instant.now().nanoseconds / 1_000_000)
      for told in result.spending { spending.apply(told, to: budgets, now: now) }
      progress.record(node.lineage, position: store.state.shownPosition)
      if let failure = result.failure {
        outage.update(failure)
      } else {
        if result.hasCommitted { outage.update(nil) }
        // A node that has just started asks for them.
        if node.hasPresencesToTell { listener.follow() }
      }
    }
  }
}
