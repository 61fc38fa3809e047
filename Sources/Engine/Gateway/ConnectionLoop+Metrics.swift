import Relay
import WebSocket

/// `GET /metrics`: collects the metrics of all loops.
extension ConnectionLoop {
  func gatherMetrics(for exchange: HTTPExchange) {
    let gathering = MetricsGathering(for: exchange.id, loops: context.loopCount)
    for loop in 0..<context.loopCount { world.post(.countsWanted(gathering), to: loop) }
  }

  func addCounts(to gathering: MetricsGathering) {
    if gathering.add(snapshot()) {
      world.post(.countsGathered(gathering), to: gathering.exchange.loop)
    }
  }

  func answerMetrics(_ gathering: MetricsGathering) {
    guard let exchange = exchange(gathering.exchange) else { return }
    exchange.finish(world.metrics(of: gathering.sum))
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
