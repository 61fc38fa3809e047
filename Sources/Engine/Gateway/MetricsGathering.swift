import Synchronization

/// A round through the loops: each adds what it has, and the last one tells who asked. So nothing is
/// locked or shared where messages are served.
package final class MetricsGathering: Sendable {
  /// Who asked: a loop, and an exchange there.
  let loop: Int
  let connection: Int
  let exchange: UInt64
  private let state: Mutex<(missing: Int, sum: LoopSnapshot)>

  init(loop: Int, connection: Int, exchange: UInt64, loops: Int) {
    self.loop = loop
    self.connection = connection
    self.exchange = exchange
    state = Mutex((loops, LoopSnapshot()))
  }

  /// - Returns: whether this was the last.
  func add(_ snapshot: LoopSnapshot) -> Bool {
    state.withLock { state in
      state.sum += snapshot
      state.missing -= 1
      return state.missing == 0
    }
  }

  var sum: LoopSnapshot { state.withLock { $0.sum } }
}
