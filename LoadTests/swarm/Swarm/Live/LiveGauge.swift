/// The counters of the live view that the report does not need: rates over about the last second.
struct LiveGauge {
  /// The counts since the start, at one time.
  struct Sample {
    /// Nanoseconds of the run.
    var at: UInt64
    var sends: Int
    var deliveries: Int
    var ownCPUSeconds: Double
  }

  static let spanNanoseconds: UInt64 = 1_000_000_000

  /// Since the start.
  private(set) var sends = 0
  private(set) var refusals = 0
  private var samples: [Sample] = []
  /// Updated once per second, because percentiles of the whole run read every bucket.
  private var latest = (seconds: -1, ack: LiveFigures.Latency(), deliver: LiveFigures.Latency())

  /// Records that a send was due.
  mutating func sent() { sends += 1 }

  /// Records a send that was refused for good.
  mutating func refused() { refusals += 1 }

  /// Returns the rates over about the last second.
  mutating func rates(_ now: Sample) -> (sends: Double, deliveries: Double, ownCores: Double) {
    samples.append(now)
    // Keeps the newest sample that is at least a second old, and those after it.
    while samples.count > 2, samples[1].at + Self.spanNanoseconds <= now.at {
      samples.removeFirst()
    }
    let first = samples[0]
    guard now.at > first.at else { return (0, 0, 0) }
    let seconds = Double(now.at - first.at) / 1e9
    return (
      Double(now.sends - first.sends) / seconds,
      Double(now.deliveries - first.deliveries) / seconds,
      (now.ownCPUSeconds - first.ownCPUSeconds) / seconds
    )
  }

  /// Returns the percentiles of the whole run up to the last complete second.
  mutating func latencies(_ latencies: Latencies, afterSeconds seconds: Int) -> (
    ack: LiveFigures.Latency, deliver: LiveFigures.Latency
  ) {
    if seconds != latest.seconds {
      latest = (seconds, .init(latencies, .ack), .init(latencies, .deliver))
    }
    return (latest.ack, latest.deliver)
  }
}

extension LiveGauge {
  static let draining = "all sent; waiting for outstanding messages"

  /// Returns the figures that are the same for every kind of run.
  ///
  /// - Parameters:
  ///   - now: Nanoseconds of the run.
  ///   - answered: The number of completed sends, without refused ones.
  mutating func figures(
    of plan: Plan, at now: UInt64, _ outcome: Outcome, _ recorder: SeriesRecorder,
    _ watch: SelfWatch, deliveries: Int, answered: Int
  ) -> LiveFigures {
    let seconds = Double(now) / 1e9
    var figures = LiveFigures(title: plan.scenario)
    if let phase = recorder.series.phases.last(where: { $0.start <= seconds }) {
      figures.phase = phase.name
      figures.phaseSeconds = (
        past: min(seconds, phase.end) - phase.start, all: phase.end - phase.start
      )
    }
    figures.secondsLeft = max(0, Double(plan.duration) / 1e9 - seconds)
    let rates = rates(
      .init(at: now, sends: sends, deliveries: deliveries, ownCPUSeconds: ProcessorTime.own))
    figures.sendsPerSecond = rates.sends
    figures.deliveriesPerSecond = rates.deliveries
    figures.ownCores = rates.ownCores
    figures.unacknowledged = max(0, sends - answered - refusals)
    figures.clientsPlanned = plan.honestCount
    figures.clients = outcome.connected
    let latest = latencies(outcome.latencies, afterSeconds: recorder.series.seconds.count)
    var ack = LiveFigures.Latest()
    (ack.run, figures.deliver.run) = latest
    if let second = recorder.series.seconds.last {
      figures.clients = second.clients
      ack.second = .init(second.ackP50, second.ackP99, second.ackMax)
      figures.deliver.second = .init(second.deliverP50, second.deliverP99, second.deliverMax)
      figures.relayCores = second.relayCores
      figures.relayBytes = second.relayBytes
    }
    figures.ack = ack
    figures.connectionsLost = outcome.connectionsLost
    figures.refusals = refusals
    figures.violations = outcome.violationCounts.values.reduce(0, +)
    figures.lag = .init(nil, watch.lag.milliseconds(.p99), watch.lag.milliseconds(.max))
    figures.history = recorder.series.seconds.suffix(LiveView.historySeconds).map {
      $0.rate($0.deliveries)
    }
    return figures
  }
}
