import Relay
import Synchronization

/// Collects the fan-outs of one entry from all loops for one request, as `MetricsGathering` does.
package final class TraceGathering: Sendable {
  let exchange: ExchangeID
  let trace: EntryTrace
  private let state: Mutex<(missing: Int, fanOuts: [(loop: Int, fanOut: FanOut)])>

  init(for exchange: ExchangeID, trace: EntryTrace, loops: Int) {
    self.exchange = exchange
    self.trace = trace
    state = Mutex((loops, []))
  }

  /// Adds what one loop knows.
  /// - Returns: whether it was the last loop.
  func add(_ fanOut: FanOut?, of loop: Int) -> Bool {
    state.withLock { state in
      if let fanOut { state.fanOuts.append((loop, fanOut)) }
      state.missing -= 1
      return state.missing == 0
    }
  }

  /// By loop.
  var fanOuts: [(loop: Int, fanOut: FanOut)] {
    state.withLock { $0.fanOuts }.sorted { $0.loop < $1.loop }
  }
}
