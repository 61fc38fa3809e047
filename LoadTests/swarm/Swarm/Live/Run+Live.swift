internal import EventLoop

/// The live view of a run.
extension Run {
  func showFigures() {
    guard let display else { return }
    var figures = gauge.figures(
      of: plan, at: elapsed, outcome, recorder, watch, deliveries: oracle.deliveries,
      answered: outcome.latencies.count(.ack))
    switch stage {
    case .playing: break
    case .draining, .drainingAgain: figures.phase = LiveGauge.draining
    case .reading: figures.phase = "fresh clients read every room again"
    case .leaving, .over: figures.phase = "clients leave"
    }
    if stage != .playing { figures.phaseSeconds = nil }
    figures.violations = oracle.counts.values.reduce(0, +)
    display.draw(figures)
    loop.schedule(afterMilliseconds: LiveDisplay.frameMilliseconds, token: Token.frame)
  }
}
