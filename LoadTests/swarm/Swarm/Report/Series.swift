/// A run as a time series by seconds, from which plots are drawn.
///
/// Events are counted in the second in which they happened, not in which they were intended: while
/// a relay stalls, nothing is acknowledged, and the late answers appear in a later second.
public struct Series: Equatable, Sendable {
  /// About one second.
  public struct Second: Equatable, Sendable {
    /// From the start of the run.
    public var start: Double
    /// One second, except for the last one and if swarm itself was delayed.
    public var length: Double
    /// Sends that were intended.
    public var sends = 0
    /// First acks only.
    public var acks = 0
    /// At all receivers.
    public var deliveries = 0
    /// Connected clients at its end.
    public var clients = 0
    /// In milliseconds, like the other latencies; `nil` if there was no ack.
    public var ackP50: Double?
    /// See `ackP50`.
    public var ackP99: Double?
    /// See `ackP50`.
    public var ackMax: Double?
    /// In milliseconds; `nil` if nothing was delivered to a client that was online.
    public var deliverP50: Double?
    /// See `deliverP50`.
    public var deliverP99: Double?
    /// See `deliverP50`.
    public var deliverMax: Double?
    /// The relay's share of one core; `nil` if swarm has not started the relay.
    public var relayCores: Double?
    /// The relay's resident memory at its end; `nil` if swarm has not started the relay, or it is
    /// not running.
    public var relayBytes: Int?

    /// Creates an empty second.
    public init(start: Double, length: Double) {
      self.start = start
      self.length = length
    }

    /// Returns a count of this second as a rate. A shorter second is not extrapolated.
    func rate(_ count: Int) -> Double { Double(count) / max(length, 1) }
  }

  /// A phase of the scenario on the run's time line.
  public struct Phase: Equatable, Sendable {
    /// The name in the scenario.
    public var name: String
    /// From the start of the run, in seconds.
    public var start: Double
    /// From the start of the run, in seconds.
    public var end: Double
  }

  /// In chronological order.
  public internal(set) var seconds: [Second] = []
  /// In chronological order.
  public internal(set) var phases: [Phase] = []

  /// Creates an empty series.
  public init() {}

  /// Creates the phases of a scenario, end to end.
  init(_ phases: [Scenario.Phase]) {
    var start = 0.0
    for phase in phases {
      let end = start + Double(phase.milliseconds) / 1000
      self.phases.append(Phase(name: phase.name, start: start, end: end))
      start = end
    }
  }
}
