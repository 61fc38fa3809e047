public import Platform

/// A scenario file: the clients, rooms, rates and thresholds of a run.
///
/// The structs mirror the YAML. A scenario contains no clock and no randomness: with a seed it
/// always yields the same ``Plan``.
public struct Scenario: Equatable, Sendable {
  /// How the relay is found.
  public enum Target: Equatable, Sendable {
    /// swarm starts it.
    case spawn(Spawn)
    /// It is running already, `ws://…`.
    case url(String)
  }

  /// The kind of the server, which determines what it promises.
  public enum Mode: String, CaseIterable, Sendable {
    /// It implements relay.v1 and keeps its promises.
    case relay
    /// It echoes each message unchanged on the same connection.
    case echo
  }

  /// How `--raw` plays the scenario.
  public struct Raw: Equatable, Sendable {
    /// When the next message is sent.
    public var pace: RawLoad.Pace
    /// For a window.
    public var release = RawLoad.Release.delivery
    /// The duration of the measurement.
    public var seconds = 5.0
    /// The time before it under the same load.
    public var warmUpSeconds = 1.0
    /// The processor to which the loading thread is bound.
    public var processor: Int?
    /// The server's dialect; `nil` selects it by the mode.
    public var dialect: RawDialect?
  }

  /// The standby of a PostgreSQL server.
  public enum Standby: String, CaseIterable, Sendable {
    /// There is one server.
    case none
    /// A commit waits until the standby has it.
    case synchronous
    /// The standby may lack the last commits.
    case asynchronous
  }

  /// A relay to be started for this run, with its own data folder; or several that share a log.
  public struct Spawn: Equatable, Sendable {
    /// The program; `nil` is the one next to swarm.
    public var binary: String?
    /// The number of relays; more than one require a PostgreSQL.
    public var relays = 1
    /// The PostgreSQL that is started for the relays' log; `nil` if each has an SQLite of its own.
    public var postgresql: Standby?
    /// By relay: how far its clock is ahead, in seconds. The clocks of those that are not named are
    /// right.
    public var clockOffsetsSeconds: [Int] = []
    /// Keys of its configuration other than `listen` and `data`, as YAML.
    public var configuration = ""
    /// The size of a separate file system for its data, or for PostgreSQL's, which can be filled;
    /// `nil` uses the system's.
    public var diskBytes: Int?
    /// Whether clients connect with TLS, with a certificate that swarm makes.
    public var usesTLS = false

    init() {}
  }

  /// A set of rooms of one shape, and how many of them each client joins.
  public struct RoomGroup: Equatable, Sendable {
    /// The distribution of clients over the rooms.
    public enum Shape: String, CaseIterable, Sendable {
      /// One room with all clients.
      case one
      /// Many rooms, filled evenly.
      case many
      /// Many rooms, the n-th chosen in proportion to 1/n^exponent.
      case zipf
      /// A direct room with each of the next clients.
      case dms
    }
    /// The first part of the rooms' names.
    public var name: String
    /// The distribution of clients over the rooms.
    public var shape: Shape
    /// The number of rooms; without meaning for `one` and `dms`.
    public var count = 1
    /// The number of rooms that a client joins; without meaning for `one`.
    public var perClient = 1
    /// For `zipf`.
    public var exponent = 1.0
  }

  /// Clients of one kind.
  public struct ClientGroup: Equatable, Sendable {
    /// Their behaviour.
    public var persona: Persona
    /// Their number.
    public var count: Int
  }

  /// The behaviour of a client.
  public enum Persona: Equatable, Sendable {
    /// Only reads.
    case lurker
    /// Sends single messages.
    case chatter
    /// Sends several messages in a row.
    case burst(size: Int)
    /// Reads slowly, and sends nothing.
    case slowReader(bytesPerSecond: Int)
    /// Its connection breaks repeatedly, and is restored after a while.
    case flapper(onlineMilliseconds: Int, offlineMilliseconds: Int)
    /// Like a phone: sends nothing, is cut while it sleeps, and resumes.
    case mobile(awakeMilliseconds: Int, asleepMilliseconds: Int)
    /// Breaks the rules of the protocol, one ``HostileAct`` after the other. It is in no room and
    /// not measured; it must not affect the other clients.
    case hostile(everyMilliseconds: Int)

    /// Whether it sends at all.
    public var speaks: Bool {
      switch self {
      case .chatter, .burst, .flapper: true
      case .lurker, .slowReader, .mobile, .hostile: false
      }
    }

    /// Whether the relay promises nothing to it.
    public var isHostile: Bool { if case .hostile = self { true } else { false } }
  }

  /// A period with its own rates.
  public struct Phase: Equatable, Sendable {
    /// The name in reports.
    public var name: String
    /// The duration.
    public var milliseconds: Int
    /// The rate of new connections, until all clients are connected.
    public var connections: Arrivals
    /// The rate of messages.
    public var messages: Arrivals
  }

  /// The distribution of events in a phase; rates are per second.
  public enum Arrivals: Equatable, Sendable {
    /// Never.
    case none
    /// At equal intervals.
    case constant(Double)
    /// Linearly from one rate to another.
    case ramp(from: Double, to: Double)
    /// The first rate, but the second one during the middle fifth.
    case spike(base: Double, peak: Double)
    /// At random and independently, with this mean.
    case poisson(Double)
  }

  /// A disturbance of the relay or of its connections.
  public struct ChaosStep: Equatable, Sendable {
    /// The kind of a disturbance.
    public enum Kind: Equatable, Sendable {
      /// SIGKILL; it stays down.
      case kill
      /// SIGKILL if it is running, and restarted immediately.
      case restart
      /// Another process takes over from it (`relay serve --take-over`).
      case takeOver
      /// SIGSTOP, and SIGCONT after this time.
      case pause(milliseconds: Int)
      /// Its disk is full (`ENOSPC`), and has space again after this time.
      case fillDisk(milliseconds: Int)
      /// SIGKILL, with a random part of the unsynced data lost; then restarted.
      case powerLoss
      /// `relay backup --follow` beside it, until the end; one that runs is killed before.
      case backup
      /// This share of the connected clients lose their connections simultaneously, by a reset.
      case cut(share: Double)
      /// Something happens to PostgreSQL.
      case database(DatabaseFault)
      /// Something happens to a relay's connections to PostgreSQL.
      case link(LinkFault)
      /// The seed chooses among the steps that suit a cluster.
      case any

      /// Whether it requires a relay that swarm has started.
      public var concernsProcess: Bool { if case .cut = self { false } else { true } }
      /// Whether it requires a PostgreSQL that swarm has started.
      public var concernsDatabase: Bool {
        switch self {
        case .database, .link, .any: true
        default: false
        }
      }
    }
    /// When, from the start of the first phase.
    public var atMilliseconds: Int
    /// The kind.
    public var kind: Kind
    /// The relay that it concerns; `nil` lets the seed choose one.
    public var relay: Int?
  }

  /// What can happen to a PostgreSQL server.
  public enum DatabaseFault: Equatable, Sendable {
    /// SIGKILL of all of its processes; started again after this time.
    case kill(milliseconds: Int)
    /// An immediate shutdown (SIGQUIT); started again after this time.
    case stop(milliseconds: Int)
    /// A fast shutdown (SIGINT), and started again at once.
    case restart
    /// The standby receives nothing for this time; then the primary is killed, and the standby
    /// becomes the primary.
    case promote(milliseconds: Int)
    /// The same, but meanwhile the waits for the standby are cancelled again and again: the primary
    /// reports commits that the standby does not have.
    case promoteCancelled(milliseconds: Int)
    /// The standby receives nothing for this time; then all waits for it are cancelled.
    case cancelWaits(milliseconds: Int)
    /// The connections of all relays are ended (`pg_terminate_backend`).
    case terminate
    /// The next connections that are seen committing are ended, for this time.
    case terminateCommits(milliseconds: Int)
  }

  /// What can happen to the connections between a relay and PostgreSQL.
  public enum LinkFault: Equatable, Sendable {
    /// They are reset.
    case cut
    /// The next one that carries a COMMIT is reset then: in turn after the server has answered,
    /// while it commits, and before it has seen the COMMIT.
    case cutCommit
    /// For this time everything arrives later.
    case delay(milliseconds: Int)
    /// For this time nothing arrives, not even the end of a connection; then they are reset.
    case freeze(milliseconds: Int)
  }

  /// An upper limit for a percentile.
  public struct Threshold: Equatable, Sendable {
    /// The measure.
    public var measure: Measure
    /// The percentile.
    public var percentile: Percentile
    /// The limit.
    public var limitMilliseconds: Double

    /// The key in scenarios, such as `ack_p99_ms`.
    public var key: String { "\(measure.rawValue)_\(percentile.rawValue)_ms" }
  }

  /// The name in reports; by default the file's.
  public var name: String
  /// How the relay is found.
  public var target = Target.spawn(Spawn())
  /// The kind of the server.
  public var mode = Mode.relay
  /// How `--raw` plays it; `nil` if the file does not say.
  public var raw: Raw?
  /// The seed of all random choices.
  public var seed: UInt64 = 1
  /// The source addresses of connections, in turn; empty leaves the choice to the system.
  public var sourceAddresses: [Address] = []
  /// Never empty.
  public var rooms: [RoomGroup] = []
  /// Never empty.
  public var clients: [ClientGroup] = []
  /// Never empty.
  public var phases: [Phase] = []
  /// The minimum and the maximum size of a text, in bytes.
  public var textBytes = 64...256
  /// In chronological order.
  public var chaos: [ChaosStep] = []
  /// In the order of the file.
  public var thresholds: [Threshold] = []
  /// How long after the last phase nothing may happen before missing messages are considered lost.
  public var patienceMilliseconds = 10_000

  /// The settings of a search for the largest load.
  public var find = Find()

  /// The number of clients.
  public var clientCount: Int { clients.reduce(0) { $0 + $1.count } }
  /// The number of clients that follow the protocol.
  public var honestCount: Int { clients.reduce(0) { $0 + ($1.persona.isHostile ? 0 : $1.count) } }
  /// The number of relays that swarm starts.
  public var relayCount: Int { if case .spawn(let spawn) = target { spawn.relays } else { 0 } }
  /// Whether entries may be lost that were acknowledged: those that an asynchronous standby lacked
  /// when it was promoted. Clients have to be told.
  public var mayFork: Bool {
    guard case .spawn(let spawn) = target, spawn.postgresql == .asynchronous else { return false }
    return chaos.contains { step in
      switch step.kind {
      case .database(.promote), .database(.promoteCancelled), .any: true
      default: false
      }
    }
  }
  /// Whether power losses are simulated.
  public var losesPower: Bool { chaos.contains { $0.kind == .powerLoss } }
  /// Whether a step of chaos affects the relay's process.
  public var needsOwnRelay: Bool { chaos.contains { $0.kind.concernsProcess } }
}
