/// The complete result of a run, as plain values.
public struct Outcome: Sendable {
  /// The verdict on a run, with its exit code.
  public enum Status: Int32, Sendable {
    /// Every promise was kept, every threshold met.
    case good = 0
    /// A threshold was missed.
    case thresholdMissed = 1
    /// The relay broke a promise.
    case promiseBroken = 3
    /// swarm was the bottleneck: the figures say nothing about the relay.
    case void = 4
    /// There was no relay to measure, or it did not survive.
    case noConnection = 5
  }

  /// A threshold and the measured value.
  public struct Judgement: Equatable, Sendable {
    /// The scenario's threshold.
    public var threshold: Scenario.Threshold
    /// `nil` if nothing was measured, which meets no threshold.
    public var milliseconds: Double?

    /// Whether the threshold was met.
    public var isMet: Bool { milliseconds.map { $0 <= threshold.limitMilliseconds } ?? false }
  }

  /// The resource use of swarm and of the relay.
  public struct Load: Equatable, Sendable {
    /// The 99th percentile of the delay of swarm's own pulse.
    public var lagP99Milliseconds = 0.0
    /// The maximum of that delay.
    public var lagMaxMilliseconds = 0.0
    /// swarm's share of one core.
    public var ownCores = 0.0
    /// The relay's share of one core; `nil` if swarm has not started it.
    public var relayCores: Double?

    /// Why the figures say nothing about the relay; `nil` if they are valid.
    public var voidReason: String? {
      if lagP99Milliseconds > Self.lagLimitMilliseconds {
        return "swarm's own lag reached \(Decimal.text(lagP99Milliseconds)) ms at p99;"
          + " the limit is \(Decimal.text(Self.lagLimitMilliseconds)) ms"
      }
      if ownCores > Self.coreLimit, (relayCores ?? 0) <= Self.coreLimit {
        return "swarm used \(Decimal.text(ownCores * 100)) % of its core, and the relay did not"
      }
      return nil
    }

    static let lagLimitMilliseconds = 10.0
    static let coreLimit = 0.95

    /// Creates zero values.
    public init() {}
  }

  /// The memory of connections.
  public struct Memory: Equatable, Sendable {
    /// With fewer connections no figure is given, because the programs' other memory would
    /// dominate.
    static let fewest = 100

    /// The peak number of connections.
    public var connections: Int
    /// The growth of swarm's resident memory since before the first connection.
    public var swarmBytes: Int
    /// The growth of the relay's; `nil` if swarm has not started it.
    public var relayBytes: Int?

    /// Per connection.
    public var swarmBytesEach: Double { Double(swarmBytes) / Double(connections) }
    /// Per connection.
    public var relayBytesEach: Double? { relayBytes.map { Double($0) / Double(connections) } }
  }

  /// An event of the time line.
  public struct Mark: Equatable, Sendable {
    /// From the start.
    public var seconds: Double
    /// A short description.
    public var text: String
  }

  /// The recovery from a step of chaos.
  public struct Recovery: Equatable, Sendable {
    /// `kill`, `restart`, `pause`, `full disk` or `cut`.
    public var step: String
    /// When the step was over, from the start; recovery counts from there.
    public var seconds: Double
    /// The number of clients that lost their connection because of it.
    public var disconnected = 0
    /// The number of unanswered sends at the end of a pause or of a full disk.
    public var unanswered = 0
    /// For a full disk: how often the relay answered `unavailable` meanwhile.
    public var unavailable: Int?
    /// Until 99 % of these clients had resumed and 99 % of these sends were answered; `nil` if that
    /// did not happen.
    public var milliseconds: Double?
  }

  /// The counts of one hostile act.
  public struct HostileCount: Equatable, Sendable {
    /// Connections that were opened for it.
    public var attempted = 0
    /// How often it was begun: its first bytes were sent.
    public var done = 0
    /// How often the relay, not the client, then ended the connection.
    public var endedByRelay = 0
  }

  /// The relay's URL.
  public internal(set) var url = ""
  /// The plan.
  public internal(set) var plan: Plan
  /// The kind of the server, which determines what it promises.
  public internal(set) var mode = Scenario.Mode.relay
  /// From the first connection to the last message, in seconds.
  public internal(set) var seconds = 0.0
  /// All latencies, from the intended times.
  public internal(set) var latencies = Latencies()
  /// The result of the checks.
  public internal(set) var verdict = Oracle.Verdict()
  /// The first violations.
  public internal(set) var violations: [Violation] = []
  /// The number of violations by promise.
  public internal(set) var violationCounts: [Promise: Int] = [:]
  /// Entries that arrived, at all receivers.
  public internal(set) var deliveries = 0
  /// Clients that connected at least once.
  public internal(set) var connected = 0
  /// Connections that ended without being cut by the plan.
  public internal(set) var connectionsLost = 0
  /// Failed connection attempts.
  public internal(set) var attemptsFailed = 0
  /// Sends that the relay answered with `unavailable`, because nothing could be stored.
  public internal(set) var unavailable = 0
  /// How often a client was told that the log had lost entries in a fork; `nil` if it could not.
  public internal(set) var forksTold: Int?
  /// How often a relay that swarm had started ended by itself.
  public internal(set) var exits = 0
  /// Why the last connection ended or failed.
  public internal(set) var lastLoss: String?
  /// Why the last permanently refused send or join was refused.
  public internal(set) var lastRefusal: String?
  /// The relay's send limits; `nil` before the first `welcome`.
  public internal(set) var allowance: SendAllowance?
  /// How often a client reconnected and joined all of its rooms again.
  public internal(set) var resumes = 0
  /// In the order of measures.
  public internal(set) var judgements: [Judgement] = []
  /// The resource use of swarm and the relay.
  public internal(set) var load = Load()
  /// The memory of connections; `nil` if there were too few.
  public internal(set) var memory: Memory?
  /// In chronological order.
  public internal(set) var marks: [Mark] = []
  /// In chronological order.
  public internal(set) var recoveries: [Recovery] = []
  /// The acts of hostile clients.
  public internal(set) var hostilities: [HostileAct: HostileCount] = [:]
  /// The time series, by seconds, until the rooms are read back.
  public internal(set) var series = Series()
  /// The signal that ended the run early: Ctrl-C, or a closed standard output.
  public internal(set) var interruptingSignal: Int32?
  /// Whether the run was ended early.
  public var wasInterrupted: Bool { interruptingSignal != nil }

  /// The most important status, if several apply.
  public var status: Status {
    if !violationCounts.isEmpty { return .promiseBroken }
    if connected == 0 || !verdict.unreadRooms.isEmpty { return .noConnection }
    if load.voidReason != nil { return .void }
    return judgements.allSatisfy(\.isMet) ? .good : .thresholdMissed
  }
}

/// Formats numbers without Foundation.
enum Decimal {
  /// Formats with at most four decimals, without trailing zeros.
  static func short(_ value: Double) -> String {
    let scaled = (value * 10_000).rounded()
    guard let digits = Int64(exactly: scaled) else { return "\(value)" }
    let whole = String(digits.magnitude / 10_000)
    let rest = String(digits.magnitude % 10_000)
    var fraction = String(repeating: "0", count: 4 - rest.count) + rest
    while fraction.hasSuffix("0") { fraction.removeLast() }
    return (digits < 0 ? "-" : "") + whole + (fraction.isEmpty ? "" : "." + fraction)
  }

  /// Formats briefly: `0.01`, `250`, `20 k`, `1.5 M`.
  static func prefixed(_ value: Double) -> String {
    switch value.magnitude {
    case 1e6...: short((value / 1e4).rounded() / 100) + " M"
    case 1e4...: short((value / 1e2).rounded() / 10) + " k"
    default: short(value)
    }
  }

  /// Formats with one decimal below 100, and none from there on.
  static func text(_ value: Double) -> String {
    if value >= 100 { return String(Int(value.rounded())) }
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
