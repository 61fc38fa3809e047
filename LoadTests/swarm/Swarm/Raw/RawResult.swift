/// The results of a raw load.
public struct RawResult: Sendable {
  /// Counts over a period.
  public struct Counts: Equatable, Sendable {
    /// Messages that reached a member.
    public var deliveries = 0
    /// Data frames of any kind.
    public var frames = 0
    /// All bytes that were read.
    public var bytes = 0
    /// Acknowledgements.
    public var acks = 0
    /// Messages that were sent.
    public var sends = 0
    /// Refusals.
    public var errors = 0
    /// CPU time of the loading thread.
    public var ownCPUSeconds = 0.0
    /// recv(2) calls; fewer calls mean more deliveries per call.
    public var reads = 0

    /// Creates zero counts.
    public init() {}

    static func - (left: Counts, right: Counts) -> Counts {
      var counts = left
      counts.deliveries -= right.deliveries
      counts.frames -= right.frames
      counts.bytes -= right.bytes
      counts.acks -= right.acks
      counts.sends -= right.sends
      counts.errors -= right.errors
      counts.ownCPUSeconds -= right.ownCPUSeconds
      counts.reads -= right.reads
      return counts
    }
  }

  /// The plan.
  public var plan: RawLoad.Plan
  /// Connections that became members.
  public internal(set) var connections = 0
  /// From the first connection to the last that became a member.
  public internal(set) var connectSeconds = 0.0
  /// The duration of the measurement.
  public internal(set) var seconds = 0.0
  /// The counts of the measurement.
  public internal(set) var counts = Counts()
  /// The counts from the start of the load to the last delivery, including the warm-up.
  public internal(set) var whole = Counts()
  /// `connect`, `deliver` and `ack`: for ``RawLoad/Pace/rate(_:)`` from the intended time,
  /// otherwise from the send.
  public internal(set) var latencies = Latencies()
  /// Expected deliveries that did not arrive: sends times members, minus deliveries. Negative if
  /// more arrived than were sent.
  public internal(set) var missing = 0
  /// Unanswered sends, if the server acknowledges.
  public var unacknowledged: Int {
    plan.dialect.ackPrefix == nil ? 0 : max(0, whole.sends - whole.acks - whole.errors)
  }
  /// Connections that the server or the network ended.
  public internal(set) var connectionsLost = 0
  /// Why the last of them ended, or the text of the last refusal.
  public internal(set) var lastError: String?

  /// The server's CPU time during the measurement, if the caller has measured it.
  public var serverCPUSeconds: Double?
  /// That of the PostgreSQL that has its log.
  public var databaseCPUSeconds: Double?

  /// Deliveries per second.
  public var deliveriesPerSecond: Double { seconds > 0 ? Double(counts.deliveries) / seconds : 0 }
  /// Sends per second.
  public var sendsPerSecond: Double { seconds > 0 ? Double(counts.sends) / seconds : 0 }
  /// New members per second.
  public var connectsPerSecond: Double {
    connectSeconds > 0 ? Double(connections) / connectSeconds : 0
  }
  /// Deliveries per second of the loading thread's CPU time.
  public var deliveriesPerOwnCPUSecond: Double {
    counts.ownCPUSeconds > 0 ? Double(counts.deliveries) / counts.ownCPUSeconds : 0
  }
  /// The loading thread's share of one core.
  public var ownCores: Double { seconds > 0 ? counts.ownCPUSeconds / seconds : 0 }
  /// Whether the loading thread was saturated, so that the figures may be its own limit.
  public var isSaturated: Bool { ownCores > Outcome.Load.coreLimit }
}
