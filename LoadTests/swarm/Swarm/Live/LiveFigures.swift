/// What the live view shows of a run at one moment, as plain values.
public struct LiveFigures: Sendable {
  /// Percentiles of one latency, in milliseconds; `nil` where nothing was measured.
  public struct Latency: Equatable, Sendable {
    /// The middle one.
    public var p50: Double?
    /// What one in a hundred exceeds.
    public var p99: Double?
    /// The worst.
    public var max: Double?

    /// Nothing measured.
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

  /// A latency in the last whole second, and in all of the run.
  public struct Latest: Equatable, Sendable {
    /// The last second that is over.
    public var second = Latency()
    /// Since the start.
    public var run = Latency()

    /// Nothing measured.
    public init() {}
  }

  /// What is played, in a few words.
  public var title: String
  /// The phase, or what is done after the last one.
  public var phase = ""
  /// How long the phase has been on, and how long it lasts, in seconds; `nil` after the last one.
  public var phaseSeconds: (past: Double, all: Double)?
  /// Until the last phase is over.
  public var secondsLeft = 0.0
  /// Clients with a connection.
  public var clients = 0
  /// How many there are to be.
  public var clientsPlanned = 0
  /// Over about the last second.
  public var sendsPerSecond = 0.0
  /// The same, at all receivers.
  public var deliveriesPerSecond = 0.0
  /// Sends that were due and are neither acknowledged nor refused.
  public var unacknowledged = 0
  /// From the intended time of a send to its ack; `nil` where there are no acks.
  public var ack: Latest? = Latest()
  /// The same to its arrival.
  public var deliver = Latest()
  /// Connections that ended without having been cut by the plan.
  public var connectionsLost = 0
  /// Sends that were refused for good.
  public var refusals = 0
  /// Promises that were broken.
  public var violations = 0
  /// Of one core, by swarm, over about the last second.
  public var ownCores = 0.0
  /// How late swarm's own pulse came; of the whole run.
  public var lag = Latency()
  /// Of one core, by the relay, in the last second; `nil` where it is not ours to look at.
  public var relayCores: Double?
  /// What the relay holds of the memory; `nil` likewise.
  public var relayBytes: Int?
  /// Deliveries of each second that is over, the last one at the end.
  public var history: [Double] = []

  /// A run that has not begun.
  public init(title: String) { self.title = title }
}
