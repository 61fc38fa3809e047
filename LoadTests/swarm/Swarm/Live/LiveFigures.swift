/// The figures that the live view shows, as plain values.
public struct LiveFigures: Sendable {
  /// Percentiles of one latency in milliseconds; `nil` if nothing was measured.
  public struct Latency: Equatable, Sendable {
    /// The median.
    public var p50: Double?
    /// The 99th percentile.
    public var p99: Double?
    /// The maximum.
    public var max: Double?

    /// Creates an empty value.
    public init() {}

    init(_ p50: Double?, _ p99: Double?, _ max: Double?) {
      (self.p50, self.p99, self.max) = (p50, p99, max)
    }

    init(_ latencies: Latencies, _ measure: Measure) {
      self.init(
        latencies.milliseconds(measure, .p50), latencies.milliseconds(measure, .p99),
        latencies.milliseconds(measure, .max))
    }
  }

  /// A latency in the last complete second, and in the whole run.
  public struct Latest: Equatable, Sendable {
    /// The last complete second.
    public var second = Latency()
    /// Since the start.
    public var run = Latency()

    /// Creates an empty value.
    public init() {}
  }

  /// The title of the run.
  public var title: String
  /// The phase, or the stage after the last one.
  public var phase = ""
  /// The elapsed time and the duration of the phase in seconds; `nil` after the last one.
  public var phaseSeconds: (past: Double, all: Double)?
  /// Until the end of the last phase.
  public var secondsLeft = 0.0
  /// The number of connected clients.
  public var clients = 0
  /// The number of planned clients.
  public var clientsPlanned = 0
  /// Over about the last second.
  public var sendsPerSecond = 0.0
  /// The same, at all receivers.
  public var deliveriesPerSecond = 0.0
  /// Sends that were due and are neither acknowledged nor refused.
  public var unacknowledged = 0
  /// From the intended time of a send to its ack; `nil` if there are no acks.
  public var ack: Latest? = Latest()
  /// From the intended time of a send to its delivery.
  public var deliver = Latest()
  /// Connections that ended without being cut by the plan.
  public var connectionsLost = 0
  /// Sends that were refused for good.
  public var refusals = 0
  /// Violations of promises.
  public var violations = 0
  /// swarm's share of one core, over about the last second.
  public var ownCores = 0.0
  /// The delay of swarm's own pulse, over the whole run.
  public var lag = Latency()
  /// The relay's share of one core in the last second; `nil` if swarm has not started it.
  public var relayCores: Double?
  /// The relay's resident memory; `nil` if swarm has not started it.
  public var relayBytes: Int?
  /// Deliveries in each complete second, the last one at the end.
  public var history: [Double] = []

  /// Creates the figures of a run that has not begun.
  public init(title: String) { self.title = title }
}
