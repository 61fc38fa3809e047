internal import EventLoop

/// What is shown of a run while it is on.
extension Run {
  static let frameMilliseconds = 200

  func showFigures() {
    guard let display else { return }
    display.draw(figures(as: display.caption ?? plan.scenario))
    loop.schedule(afterMilliseconds: Self.frameMilliseconds, token: Token.frame)
  }

  private func figures(as title: String) -> LiveFigures {
    let now = elapsed
    let seconds = Double(now) / 1e9
    var figures = LiveFigures(title: title)
    switch stage {
    case .playing:
      let phases = recorder.series.phases
      if let phase = phases.last(where: { $0.start <= seconds }) {
        figures.phase = phase.name
        figures.phaseSeconds = (
          past: min(seconds, phase.end) - phase.start, all: phase.end - phase.start
        )
      }
    case .settling, .settlingAgain: figures.phase = "all is sent; waiting for what is to come"
    case .reading: figures.phase = "fresh clients read every room again"
    case .leaving, .over: figures.phase = "clients leave"
    }
    let end = Double(plan.duration) / 1e9
    figures.secondsLeft = max(0, end - seconds)
    let rates = gauge.rates(
      .init(
        at: now, sends: gauge.sends, deliveries: oracle.deliveries,
        ownCPUSeconds: ProcessorTime.own))
    figures.sendsPerSecond = rates.sends
    figures.deliveriesPerSecond = rates.deliveries
    figures.ownCores = rates.ownCores
    figures.unacknowledged = max(
      0, gauge.sends - outcome.latencies.count(.ack) - gauge.refusals)
    figures.clientsPlanned = plan.honestCount
    figures.clients = outcome.connected
    (figures.ack.run, figures.deliver.run) = gauge.latencies(
      outcome.latencies, afterSeconds: recorder.series.seconds.count)
    if let second = recorder.series.seconds.last {
      figures.clients = second.clients
      figures.ack.second = .init(second.ackP50, second.ackP99, second.ackMax)
      figures.deliver.second = .init(second.deliverP50, second.deliverP99, second.deliverMax)
      figures.relayCores = second.relayCores
      figures.relayBytes = second.relayBytes
    }
    figures.connectionsLost = outcome.connectionsLost
    figures.refusals = gauge.refusals
    figures.violations = oracle.counts.values.reduce(0, +)
    figures.lag = .init(
      nil, watch.lag.milliseconds(.p99), watch.lag.milliseconds(.max))
    figures.history = recorder.series.seconds.suffix(LiveView.historySeconds).map {
      $0.rate($0.deliveries)
    }
    return figures
  }
}
