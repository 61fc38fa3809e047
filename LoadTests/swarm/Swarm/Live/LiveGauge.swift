/// What a live view needs, and a run does not count for its report: rates of the last second, while
/// it is not over.
struct LiveGauge {
  /// Counts since the start, at one moment.
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
  /// Percentiles of the whole run take a look at every bucket: once a second will do.
  private var latest = (seconds: -1, ack: LiveFigures.Latency(), deliver: LiveFigures.Latency())

  /// A send was due.
  mutating func sent() { sends += 1 }

  /// One was refused for good.
  mutating func refused() { refusals += 1 }

  /// Rates from about a second ago until now.
  mutating func rates(_ now: Sample) -> (sends: Double, deliveries: Double, ownCores: Double) {
    samples.append(now)
    // The oldest one that stays is the last that is a whole second ago.
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

  /// Of the whole run until the last second that is over.
  mutating func latencies(_ latencies: Latencies, afterSeconds seconds: Int) -> (
    ack: LiveFigures.Latency, deliver: LiveFigures.Latency
  ) {
    if seconds != latest.seconds {
      latest = (seconds, .init(latencies, .ack), .init(latencies, .deliver))
    }
    return (latest.ack, latest.deliver)
  }
}
