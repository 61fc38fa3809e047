/// What a raw load has measured.
public struct RawResult: Sendable {
  /// What is counted while it counts.
  public struct Counts: Equatable, Sendable {
    /// Messages that reached a member.
    public var deliveries = 0
    /// Data frames, of whatever kind.
    public var frames = 0
    /// All that was read.
    public var bytes = 0
    /// Acknowledgements.
    public var acks = 0
    /// Messages that were sent.
    public var sends = 0
    /// Refusals.
    public var errors = 0
    /// What the loading thread has used of its processor.
    public var ownCPUSeconds = 0.0
    /// recv(2) calls, which say how many deliveries come at once.
    public var reads = 0

    /// Nothing yet.
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

  /// What was to be done.
  public var plan: RawLoad.Plan
  /// Connections that became members.
  public internal(set) var connections = 0
  /// From the first connection to the last that became a member.
  public internal(set) var connectSeconds = 0.0
  /// That counted.
  public internal(set) var seconds = 0.0
  /// In these seconds.
  public internal(set) var counts = Counts()
  /// From the start of the load to its last word, warm-up and all.
  public internal(set) var whole = Counts()
  /// `connect`, `deliver` and `ack`: of ``RawLoad/Pace/rate(_:)`` from the intended time, otherwise
  /// from the send.
  public internal(set) var latencies = Latencies()
  /// Deliveries that should have come and did not: sends times members, less what came. Negative if
  /// more came than were sent.
  public internal(set) var missing = 0
  /// Sends without an answer, of a server that answers.
  public var unacknowledged: Int {
    plan.dialect.ackPrefix == nil ? 0 : max(0, whole.sends - whole.acks - whole.errors)
  }
  /// Connections that ended by themselves.
  public internal(set) var connectionsLost = 0
  /// Why the last of them did, or what the last refusal said.
  public internal(set) var lastError: String?

  /// Processor time of the server while it counted, as far as somebody who can look has told.
  public var serverCPUSeconds: Double?

  /// Deliveries a second.
  public var deliveriesPerSecond: Double { seconds > 0 ? Double(counts.deliveries) / seconds : 0 }
  /// Sends a second.
  public var sendsPerSecond: Double { seconds > 0 ? Double(counts.sends) / seconds : 0 }
  /// Connections to members a second.
  public var connectsPerSecond: Double {
    connectSeconds > 0 ? Double(connections) / connectSeconds : 0
  }
  /// Deliveries for each second of processor time of the loading thread.
  public var deliveriesPerOwnCPUSecond: Double {
    counts.ownCPUSeconds > 0 ? Double(counts.deliveries) / counts.ownCPUSeconds : 0
  }
  /// Of one core, by the loading thread.
  public var ownCores: Double { seconds > 0 ? counts.ownCPUSeconds / seconds : 0 }
  /// Whether the loading thread had nothing left to give, so that the figures may be its own.
  public var isSaturated: Bool { ownCores > Outcome.Load.coreLimit }
}
