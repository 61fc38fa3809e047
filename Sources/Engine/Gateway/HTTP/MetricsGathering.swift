import Synchronization

/// Collects the metrics of all loops for one request: each loop adds its own, and the last one
/// notifies the loop that asked. This way the loops neither lock nor share anything when they serve
/// messages.
package final class MetricsGathering: Sendable {
  let exchange: ExchangeID
  private let state: Mutex<(missing: Int, sum: LoopSnapshot)>

  init(for exchange: ExchangeID, loops: Int) {
    self.exchange = exchange
    state = Mutex((loops, LoopSnapshot()))
  }

  /// Adds the metrics of one loop.
  /// - Returns: whether it was the last loop.
  func add(_ snapshot: LoopSnapshot) -> Bool {
    state.withLock { state in
      state.sum += snapshot
      state.missing -= 1
      return state.missing == 0
    }
  }

  var sum: LoopSnapshot { state.withLock { $0.sum } }
}
