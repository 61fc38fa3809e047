public import Platform

/// What a scenario file says: who connects, where they talk, how much, and what is good enough.
///
/// The structs mirror the YAML. A scenario holds no clock and no chance: with a seed it becomes a
/// ``Plan``, always the same one.
public struct Scenario: Equatable, Sendable {
  /// Where the relay is.
  public enum Target: Equatable, Sendable {
    /// swarm starts it.
    case spawn(Spawn)
    /// It runs already, `ws://…`.
    case url(String)
  }

  /// What the server is, and so what it owes.
  public enum Mode: String, CaseIterable, Sendable {
    /// It speaks relay.v1, and keeps its promises.
    case relay
    /// It sends back each message as it came, on the same connection.
    case echo
  }

  /// How `--raw` plays the scenario.
  public struct Raw: Equatable, Sendable {
    /// When the next message is sent.
    public var pace: RawLoad.Pace
    /// Of a window.
    public var release = RawLoad.Release.delivery
    /// That count.
    public var seconds = 5.0
    /// Before them, under the same load.
    public var warmUpSeconds = 1.0
    /// To which the loading thread is bound.
    public var processor: Int?
    /// How the server is spoken to; `nil` as the mode says.
    public var dialect: RawDialect?
  }

  /// A relay to be started for this run, with a data folder of its own.
  public struct Spawn: Equatable, Sendable {
    /// Its program; `nil` is the one beside swarm's own.
    public var binary: String?
    /// Keys of its configuration besides `listen` and `data`, as YAML.
    public var configuration = ""
    /// The size of a file system of its own for its data, so that it can be filled; `nil` is the
    /// system's.
    public var diskBytes: Int?

    init() {}
  }

  /// A set of rooms of one shape, and how many of them each client joins.
  public struct RoomGroup: Equatable, Sendable {
    /// Who is in which of them.
    public enum Shape: String, CaseIterable, Sendable {
      /// One room, everyone in it.
      case one
      /// Many rooms, evenly filled.
      case many
      /// Many rooms, the n-th visited in proportion to 1/n^exponent.
      case zipf
      /// A direct message with each of the next clients.
      case dms
    }
    /// The first part of the rooms' names.
    public var name: String
    /// Who is in which of them.
    public var shape: Shape
    /// How many rooms; of `one` and `dms` it has no meaning.
    public var count = 1
    /// How many of them a client joins; of `one` it has no meaning.
    public var perClient = 1
    /// Of `zipf`.
    public var exponent = 1.0
  }

  /// Clients of one kind.
  public struct ClientGroup: Equatable, Sendable {
    /// How they behave.
    public var persona: Persona
    /// How many there are.
    public var count: Int
  }

  /// How a client behaves.
  public enum Persona: Equatable, Sendable {
    /// Reads, and says nothing.
    case lurker
    /// Says one thing at a time.
    case chatter
    /// Says several things at once.
    case burst(size: Int)
    /// Reads less than it could, and says nothing.
    case slowReader(bytesPerSecond: Int)
    /// Its connection breaks again and again, and comes back after a while.
    case flapper(onlineMilliseconds: Int, offlineMilliseconds: Int)
    /// As a telephone in a pocket: says nothing, is cut while it sleeps, and resumes.
    case mobile(awakeMilliseconds: Int, asleepMilliseconds: Int)
    /// Breaks the rules of the protocol, one ``HostileAct`` after the other. It is in no room, and
    /// nothing that happens to it is measured: what counts is that the others do not notice.
    case hostile(everyMilliseconds: Int)

    /// Whether it sends at all.
    public var speaks: Bool {
      switch self {
      case .chatter, .burst, .flapper: true
      case .lurker, .slowReader, .mobile, .hostile: false
      }
    }

    /// Whether the relay owes it nothing.
    public var isHostile: Bool { if case .hostile = self { true } else { false } }
  }

  /// A stretch of time with rates of its own.
  public struct Phase: Equatable, Sendable {
    /// What reports call it.
    public var name: String
    /// How long it lasts.
    public var milliseconds: Int
    /// Connections that are opened, until all clients are there.
    public var connections: Arrivals
    /// Messages that are sent.
    public var messages: Arrivals
  }

  /// When things happen during a phase: their rate is per second.
  public enum Arrivals: Equatable, Sendable {
    /// Never.
    case none
    /// At equal distances.
    case constant(Double)
    /// From one rate to another, in a straight line.
    case ramp(from: Double, to: Double)
    /// The first rate, but the second one during the middle fifth.
    case spike(base: Double, peak: Double)
    /// At random, independently of each other, with this mean.
    case poisson(Double)
  }

  /// Something that is done to the relay, or to the way to it.
  public struct ChaosStep: Equatable, Sendable {
    /// What is done.
    public enum Kind: Equatable, Sendable {
      /// SIGKILL; it stays down.
      case kill
      /// SIGKILL if it runs, and started again at once.
      case restart
      /// SIGSTOP, and SIGCONT that much later.
      case pause(milliseconds: Int)
      /// Its disk is full (`ENOSPC`), and has space again that much later.
      case fillDisk(milliseconds: Int)
      /// SIGKILL, and of what was not synced only what chance leaves on the disk; started again.
      case powerLoss
      /// That share of the clients that are there lose their connections at once, by a reset.
      case cut(share: Double)

      /// Whether it needs a relay that swarm has started.
      public var concernsProcess: Bool { if case .cut = self { false } else { true } }
    }
    /// When, from the start of the first phase.
    public var atMilliseconds: Int
    /// What.
    public var kind: Kind
  }

  /// The most that a percentile may be.
  public struct Threshold: Equatable, Sendable {
    /// Of which latency.
    public var measure: Measure
    /// Of how many percent.
    public var percentile: Percentile
    /// The most that it may be.
    public var limitMilliseconds: Double

    /// As the scenario writes it, such as `ack_p99_ms`.
    public var key: String { "\(measure.rawValue)_\(percentile.rawValue)_ms" }
  }

  /// Its name in reports; by default the file's.
  public var name: String
  /// Where the relay is.
  public var target = Target.spawn(Spawn())
  /// What the server is.
  public var mode = Mode.relay
  /// How `--raw` plays it; `nil` where the file does not say.
  public var raw: Raw?
  /// Of all that is left to chance.
  public var seed: UInt64 = 1
  /// Where connections come from, in turn; empty leaves it to the system.
  public var sourceAddresses: [Address] = []
  /// Never empty.
  public var rooms: [RoomGroup] = []
  /// Never empty.
  public var clients: [ClientGroup] = []
  /// Never empty.
  public var phases: [Phase] = []
  /// The shortest and the longest text, in bytes.
  public var textBytes = 64...256
  /// In the order of time.
  public var chaos: [ChaosStep] = []
  /// In the order of the file.
  public var thresholds: [Threshold] = []
  /// After the last phase, how long nothing may happen before what is missing counts as missing.
  public var patienceMilliseconds = 10_000

  /// How a search for the largest load plays it.
  public var find = Find()

  /// How many clients there are.
  public var clientCount: Int { clients.reduce(0) { $0 + $1.count } }
  /// How many of them keep to the protocol.
  public var honestCount: Int { clients.reduce(0) { $0 + ($1.persona.isHostile ? 0 : $1.count) } }
  /// Whether the power goes.
  public var losesPower: Bool { chaos.contains { $0.kind == .powerLoss } }
  /// Whether a step of chaos is done to the relay's process.
  public var needsOwnRelay: Bool { chaos.contains { $0.kind.concernsProcess } }
}
