import Relay
import WebSocket

/// `GET /metrics`: collects the metrics of all loops.
extension ConnectionLoop {
  func surveyMetrics(for exchange: HTTPExchange) {
    survey(for: exchange.id) {
      $0.snapshot()
    } answer: { loop, snapshots in
      loop.world.metrics(of: snapshots.reduce(into: LoopSnapshot()) { $0 += $1 })
    }
  }

  private func snapshot() -> LoopSnapshot {
    var snapshot = LoopSnapshot()
    snapshot.counts = counts
    snapshot.counters = shard.counters
    snapshot.gauges = [(index, shard.gauges())]
    for connection in connections.all {
      let state: LoopSnapshot.ConnectionState
      switch connection.state {
      case .canary, .gone: continue
      case .opening, .resting, .exchange:
        state = world.isShakingHands(connection.stream) ? .tlsHandshake : .http
      case .bot:
        snapshot.bots += 1
        continue
      case .open, .echo: state = .websocket
      case .closing, .lingering: state = .closing
      }
      snapshot.connections[state, default: 0] += 1
    }
    return snapshot
  }

  /// Records the latency of the acks of a batch, now that they are written. Each is recorded with
  /// that of the batch's first send: an upper bound for all of them, at the cost of one clock
  /// reading.
  func recordAcks() {
    guard let (count, since) = shard.takeAcknowledged() else { return }
    counts.ackSeconds.add(Double(max(0, world.microseconds - since)) / 1e6, times: count)
  }
}
