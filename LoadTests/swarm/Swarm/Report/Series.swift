/// A run second by second: what plots are drawn from.
///
/// Things stand in the second in which they happened, not in which they were intended: while a relay
/// stands still nothing is acknowledged, and what it owes arrives late in the second after.
public struct Series: Equatable, Sendable {
  /// About one second.
  public struct Second: Equatable, Sendable {
    /// From the start of the run.
    public var start: Double
    /// One, but for the last one, and where swarm itself was held up.
    public var length: Double
    /// That were intended.
    public var sends = 0
    /// First ones only.
    public var acks = 0
    /// At all receivers.
    public var deliveries = 0
    /// Clients with a connection at its end.
    public var clients = 0
    /// In milliseconds, as the other latencies; `nil` where there was no ack.
    public var ackP50: Double?
    /// The same.
    public var ackP99: Double?
    /// The same.
    public var ackMax: Double?
    /// In milliseconds; `nil` where nothing was delivered to a client that was there.
    public var deliverP50: Double?
    /// The same.
    public var deliverP99: Double?
    /// The same.
    public var deliverMax: Double?
    /// Of one core; `nil` where the relay's process is not ours to look at.
    public var relayCores: Double?
    /// The relay's resident set at its end; `nil` where it is not ours, or does not run.
    public var relayBytes: Int?

    /// A second in which nothing has happened.
    public init(start: Double, length: Double) {
      self.start = start
      self.length = length
    }

    /// A count of this second as a rate. A short rest of a second is not made more of.
    func rate(_ count: Int) -> Double { Double(count) / max(length, 1) }
  }

  /// A phase of the scenario, on the run's time line.
  public struct Phase: Equatable, Sendable {
    /// As the scenario calls it.
    public var name: String
    /// From the start of the run, in seconds.
    public var start: Double
    /// The same.
    public var end: Double
  }

  /// In the order of time.
  public internal(set) var seconds: [Second] = []
  /// In the order of time.
  public internal(set) var phases: [Phase] = []

  /// Nothing yet.
  public init() {}

  /// The phases of a scenario, end to end.
  init(_ phases: [Scenario.Phase]) {
    var start = 0.0
    for phase in phases {
      let end = start + Double(phase.milliseconds) / 1000
      self.phases.append(Phase(name: phase.name, start: start, end: end))
      start = end
    }
  }

  /// The same in at most so many steps, for a plot with so many columns: of latencies and memory the
  /// worst counts, so that no peak is smoothed away.
  func thinned(to limit: Int) -> Series {
    precondition(limit > 0, "a plot has columns")
    let size = (seconds.count + limit - 1) / limit
    guard size > 1 else { return self }
    var thinned = self
    thinned.seconds = stride(from: 0, to: seconds.count, by: size).map { start in
      Self.merged(seconds[start..<min(start + size, seconds.count)])
    }
    return thinned
  }

  private static func merged(_ seconds: ArraySlice<Second>) -> Second {
    let length = seconds.reduce(0) { $0 + $1.length }
    var merged = Second(start: seconds.first?.start ?? 0, length: length)
    merged.sends = seconds.reduce(0) { $0 + $1.sends }
    merged.acks = seconds.reduce(0) { $0 + $1.acks }
    merged.deliveries = seconds.reduce(0) { $0 + $1.deliveries }
    merged.clients = seconds.last?.clients ?? 0
    merged.ackP50 = seconds.compactMap(\.ackP50).max()
    merged.ackP99 = seconds.compactMap(\.ackP99).max()
    merged.ackMax = seconds.compactMap(\.ackMax).max()
    merged.deliverP50 = seconds.compactMap(\.deliverP50).max()
    merged.deliverP99 = seconds.compactMap(\.deliverP99).max()
    merged.deliverMax = seconds.compactMap(\.deliverMax).max()
    let measured = seconds.filter { $0.relayCores != nil }
    if !measured.isEmpty {
      let used = measured.reduce(0) { $0 + ($1.relayCores ?? 0) * $1.length }
      merged.relayCores = used / measured.reduce(0) { $0 + $1.length }
    }
    merged.relayBytes = seconds.compactMap(\.relayBytes).max()
    return merged
  }
}
