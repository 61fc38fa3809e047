import Relay
import WebSocket

/// `GET /metrics`: collects the metrics of all loops.
extension ConnectionLoop {
  /// - Parameter openMetrics: whether the answer is in the format that has exemplars.
  func surveyMetrics(openMetrics: Bool, for exchange: HTTPExchange) {
    survey(for: exchange.id) {
      $0.snapshot()
    } answer: { loop, snapshots in
      loop.world.metrics(
        of: snapshots.reduce(into: LoopSnapshot()) { $0 += $1 }, openMetrics: openMetrics)
    }
  }

  /// Keeps the figures of all loops, if it is time to.
  func takeSample() {
    // One loop does it for all.
    guard index == 0, context.sampleMilliseconds > 0, !isShuttingDown,
      now.monotonic - sampledAt >= context.sampleMilliseconds
    else { return }
    sampledAt = now.monotonic
    // No request waits for it.
    survey(for: ExchangeID(loop: index, stream: 0, serial: 0)) {
      $0.snapshot()
    } answer: { loop, snapshots in
      loop.world.keepSample(of: snapshots.reduce(into: LoopSnapshot()) { $0 += $1 })
      return nil
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
    guard let (count, since, trace) = shard.takeAcknowledged() else { return }
    let seconds = Double(max(0, world.microseconds - since)) / 1e6
    counts.ackSeconds.add(seconds, times: count)
    if let trace { counts.ackSeconds.record(.init(value: seconds, trace: trace, at: now.wall)) }
  }
}
