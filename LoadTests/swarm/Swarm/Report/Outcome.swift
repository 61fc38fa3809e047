/// What a run has shown: everything that a report says, as plain values.
public struct Outcome: Sendable {
  /// How a run ends, and the exit code that says so.
  public enum Status: Int32, Sendable {
    /// Every promise kept, every threshold met.
    case good = 0
    /// Too slow.
    case thresholdMissed = 1
    /// The relay broke a promise.
    case promiseBroken = 3
    /// swarm was the bottleneck: the figures say nothing about the relay.
    case void = 4
    /// There was no relay to measure, or none any more.
    case noConnection = 5
  }

  /// A threshold, and what was measured.
  public struct Judgement: Equatable, Sendable {
    /// What the scenario asks for.
    public var threshold: Scenario.Threshold
    /// `nil` where nothing was measured, which meets no threshold.
    public var milliseconds: Double?

    /// Whether it was met.
    public var isMet: Bool { milliseconds.map { $0 <= threshold.limitMilliseconds } ?? false }
  }

  /// What swarm saw of itself, and of the relay's process.
  public struct Load: Equatable, Sendable {
    /// The 99th percentile of how late swarm's own pulse came.
    public var lagP99Milliseconds = 0.0
    /// The worst.
    public var lagMaxMilliseconds = 0.0
    /// Of one core, by swarm.
    public var ownCores = 0.0
    /// Of one core, by the relay; `nil` where it is not ours to look at.
    public var relayCores: Double?

    /// Why the figures say nothing about the relay; `nil` where they do.
    public var voidReason: String? {
      if lagP99Milliseconds > Self.lagLimitMilliseconds {
        return "swarm's own lag reached \(Decimal.text(lagP99Milliseconds)) ms at p99;"
          + " \(Decimal.text(Self.lagLimitMilliseconds)) is the most"
      }
      if ownCores > Self.coreLimit, (relayCores ?? 0) <= Self.coreLimit {
        return "swarm used \(Decimal.text(ownCores * 100)) % of its core, and the relay did not"
      }
      return nil
    }

    static let lagLimitMilliseconds = 10.0
    static let coreLimit = 0.95

    /// Nothing seen yet.
    public init() {}
  }

  /// What connections cost in memory.
  public struct Memory: Equatable, Sendable {
    /// Of fewer of them nothing is said: what programs do by themselves would be most of it.
    static let fewest = 100

    /// When there were most.
    public var connections: Int
    /// By how much swarm's resident set had grown since before the first one.
    public var swarmBytes: Int
    /// The same of the relay; `nil` where it is not ours to look at.
    public var relayBytes: Int?

    /// For one connection.
    public var swarmBytesEach: Double { Double(swarmBytes) / Double(connections) }
    /// For one connection.
    public var relayBytesEach: Double? { relayBytes.map { Double($0) / Double(connections) } }
  }

  /// Something that happened at a time, for the time line.
  public struct Mark: Equatable, Sendable {
    /// From the start.
    public var seconds: Double
    /// In a few words.
    public var text: String
    /// Whether it is the beginning of a phase, and nothing that was done to the relay.
    public var isPhase = false
  }

  /// How a step of chaos was got over.
  public struct Recovery: Equatable, Sendable {
    /// `kill`, `restart`, `pause`, `full disk` or `cut`.
    public var step: String
    /// When it was over, from the start; recovery counts from there.
    public var seconds: Double
    /// Clients that lost their connection by it.
    public var disconnected = 0
    /// Sends that waited when a pause was over, or a disk had space again.
    public var unanswered = 0
    /// Of a full disk: how often the relay answered `unavailable` while it lasted.
    public var unavailable: Int?
    /// Until 99 % of these clients had resumed, and 99 % of these sends were answered; `nil` if
    /// that has not come to pass.
    public var milliseconds: Double?
  }

  /// How often one hostile act was done.
  public struct HostileCount: Equatable, Sendable {
    /// Connections that were opened for it.
    public var attempted = 0
    /// Times that it was begun: its first bytes were sent.
    public var done = 0
    /// Times that the relay, not the client, then ended the connection.
    public var endedByRelay = 0
  }

  /// Where the relay was.
  public internal(set) var url = ""
  /// What was to be done.
  public internal(set) var plan: Plan
  /// What the server was, and so what it owed.
  public internal(set) var mode = Scenario.Mode.relay
  /// From the first connection to the last word, in seconds.
  public internal(set) var seconds = 0.0
  /// Of everything, from when it was intended.
  public internal(set) var latencies = Latencies()
  /// What became of the sends.
  public internal(set) var verdict = Oracle.Verdict()
  /// The first of them.
  public internal(set) var violations: [Violation] = []
  /// All of them.
  public internal(set) var violationCounts: [Promise: Int] = [:]
  /// Entries that arrived, at all receivers.
  public internal(set) var deliveries = 0
  /// Clients that were let in at least once.
  public internal(set) var connected = 0
  /// Connections that ended without having been cut by the plan.
  public internal(set) var connectionsLost = 0
  /// Attempts to connect that came to nothing.
  public internal(set) var attemptsFailed = 0
  /// Sends that the relay asked for again, since nothing could be stored: `unavailable`.
  public internal(set) var unavailable = 0
  /// Why the last of them ended, or was not to be had.
  public internal(set) var lastLoss: String?
  /// Why the last send or join that was refused for good was refused.
  public internal(set) var lastRefusal: String?
  /// What the relay allows each client to say; `nil` while it has let nobody in.
  public internal(set) var allowance: SendAllowance?
  /// Times that a client came back and had all its rooms again.
  public internal(set) var resumes = 0
  /// In the order of measures.
  public internal(set) var judgements: [Judgement] = []
  /// What swarm and the relay cost.
  public internal(set) var load = Load()
  /// What connections cost; `nil` where there were too few to tell.
  public internal(set) var memory: Memory?
  /// In the order of time.
  public internal(set) var marks: [Mark] = []
  /// In the order of time.
  public internal(set) var recoveries: [Recovery] = []
  /// What hostile clients have done.
  public internal(set) var hostilities: [HostileAct: HostileCount] = [:]
  /// Second by second, until the reading back begins.
  public internal(set) var series = Series()
  /// What ended it early: somebody pressed Ctrl-C, or nobody reads what it says.
  public internal(set) var interruptingSignal: Int32?
  /// Whether it was ended early.
  public var wasInterrupted: Bool { interruptingSignal != nil }

  /// The status that counts where several apply.
  public var status: Status {
    if !violationCounts.isEmpty { return .promiseBroken }
    if connected == 0 || !verdict.unreadRooms.isEmpty { return .noConnection }
    if load.voidReason != nil { return .void }
    return judgements.allSatisfy(\.isMet) ? .good : .thresholdMissed
  }
}

/// Numbers for people, without Foundation.
enum Decimal {
  /// With at most four digits after the point, and none that say nothing.
  static func short(_ value: Double) -> String {
    let scaled = (value * 10_000).rounded()
    guard let digits = Int64(exactly: scaled) else { return "\(value)" }
    let whole = String(digits.magnitude / 10_000)
    let rest = String(digits.magnitude % 10_000)
    var fraction = String(repeating: "0", count: 4 - rest.count) + rest
    while fraction.hasSuffix("0") { fraction.removeLast() }
    return (digits < 0 ? "-" : "") + whole + (fraction.isEmpty ? "" : "." + fraction)
  }

  /// With one digit after the point below 100, with none from there on.
  static func text(_ value: Double) -> String {
    if value >= 100 { return String(Int(value.rounded())) }
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
