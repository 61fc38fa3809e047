import EventLoop
import Mailbox
import Relay
import TLS
import WebSocket

/// `GET /metrics`: the counts of all loops.
extension ConnectionLoop {
  func gatherMetrics(for exchange: HTTPExchange, _ index: Int) {
    let gathering = MetricsGathering(
      loop: self.index, connection: index, exchange: exchange.serial,
      loops: context.mailboxes.count)
    for mailbox in context.mailboxes { mailbox.post(.countsWanted(gathering)) }
  }

  func addCounts(to gathering: MetricsGathering) {
    if gathering.add(snapshot()) {
      context.mailboxes[gathering.loop].post(.countsGathered(gathering))
    }
  }

  func answerMetrics(_ gathering: MetricsGathering) {
    guard exchange(gathering.exchange, at: gathering.connection) != nil else { return }
    let metrics = Metrics(
      loops: gathering.sum, admission: context.admission, violations: context.violations,
      log: context.log.statistics(), process: ProcessStatistics(startedAt: context.startedAt),
      configuredBots: context.configuration.bots.count, now: now.wall)
    finish(
      gathering.connection,
      HTTPResponse(
        status: 200, contentType: MetricsText.contentType, body: Array(metrics.text.utf8)))
  }

  private func snapshot() -> LoopSnapshot {
    var snapshot = LoopSnapshot()
    snapshot.counts = counts
    snapshot.counters = shard.counters
    snapshot.gauges = [(index, shard.gauges())]
    for connection in connections {
      let state: LoopSnapshot.ConnectionState
      switch connection.phase {
      case .free, .canary: continue
      case .handshake, .exchange:
        state = connection.tls?.session.state == .handshaking ? .tlsHandshake : .http
      case .open:
        if connection.bot != nil {
          snapshot.bots += 1
          continue
        }
        state = .websocket
      case .closing, .lingering: state = .closing
      }
      snapshot.connections[state, default: 0] += 1
    }
    return snapshot
  }

  /// The acks of a batch are written: notes how long the first send of it waited for that, for each of
  /// them. So what is shown is at least what any of them took, at the cost of one look at the clock.
  func noteAcks() {
    guard let (count, since) = shard.takeAcknowledged() else { return }
    let now = Int64(Instant.now().nanoseconds / 1000)
    counts.ackSeconds.add(Double(max(0, now - since)) / 1e6, times: count)
  }
}
