internal import Mixing
internal import Relay
internal import SQLiteLog

/// The kind of store.
public enum StoreKind: String, CaseIterable, Sendable {
  case sqlite
  case memory
  /// Several nodes on a model of PostgreSQL, without network: see `ClusterSimulation`.
  case cluster
}

/// The parameters of one run: the relay's limits, the clients, and the faults with their rates.
/// Each run has only some of the faults: a run with all of them would hardly make progress.
struct Scenario {
  var store: StoreKind
  /// The durability of acknowledged entries.
  var durability = Durability.fsync
  var keepEntriesPerRoom: Int64
  /// The limits of an entry's edits and reactions; even if edits are unlimited, the work of
  /// deleting them is limited.
  var entryLimits = EntryLimits()
  /// The number of entries that the log indexes in one step.
  var segmentEntries: Int
  var loops: Int
  var relay: RelayProcess.Configuration
  var sessions: Int
  var probes: Int
  /// The number of clients that post over HTTP, of those that poll, and of those with an event stream.
  var posters: Int
  var hasBot: Bool
  /// `nil` = the relay keeps no files.
  var files: Files?
  /// The adversaries: at least one.
  var adversaries: [Adversary] = []
  /// The longest time between two changes of the directory's list, in milliseconds.
  var directoryPauseMilliseconds: Int64
  /// Simulated milliseconds until everything is repaired.
  var lengthMilliseconds: Int64
  var maximumDelay: Int64
  /// The average time between two actions of a client, in milliseconds.
  var pauseMilliseconds: Int64
  /// The faults that may occur.
  var faults: [Fault]
  var faultPauseMilliseconds: Int64

  /// An adversary: its attack and its connections.
  struct Adversary {
    var attack: Attack
    var connections: Int
    /// See `Plot`.
    var strength = 0
  }

  /// What a relay that keeps files allows, and how many clients upload. 0 = no limit.
  struct Files {
    var clients: Int
    var bytesPerUser: Int64
    var uploadsPerUser: Int
    var bytesPerSecond: Int

    /// The percentage of runs that have files: they take longer.
    static let percentage = 30
    static let limitBytes = 20_000
  }

  enum Fault: CaseIterable {
    case kill
    case losePower
    case dieAtCall
    case shutDown
    case cutConnection
    case halfOpen
    case stopReading
    case jumpClock
    case fillDisk
    case failWrites
    case failSyncs
    case failReads
    case stallLoop
    case sleep
    case stallLog
    case ban
    case backUp
    case restore
    case wipe

    /// The relative frequency of this fault.
    var weight: Int {
      switch self {
      case .dieAtCall: 8
      case .losePower, .kill, .cutConnection, .backUp: 4
      case .wipe: 1
      default: 3
      }
    }
    var needsDisk: Bool {
      switch self {
      case .dieAtCall, .fillDisk, .failWrites, .failSyncs, .failReads, .backUp, .restore, .wipe,
        .losePower:
        true
      default: false
      }
    }
  }

  init(store: StoreKind, using random: inout SplitMix64) {
    func chance(_ percent: Int, _ random: inout SplitMix64) -> Bool {
      Int.random(in: 0..<100, using: &random) < percent
    }
    self.store = store
    if store == .sqlite, chance(15, &random) { durability = .os }
    keepEntriesPerRoom = [0, 0, 10, 20, 50].randomElement(using: &random) ?? 0
    segmentEntries = [1, 8, 40, 1000].randomElement(using: &random) ?? 8
    loops = chance(70, &random) ? 2 : 1
    var shard = Shard.Configuration()
    shard.tailBytes = [0, 3000, 100_000, 8_388_608].randomElement(using: &random) ?? 0
    let isLimited = chance(30, &random)
    shard.limits.budget.sendsPerSecond = isLimited ? 10 : 0
    shard.limits.budget.burst = isLimited ? 5 : 0
    shard.limits.budget.requestsPerSecond = 0
    shard.limits.queueBytes = chance(50, &random) ? 262_144 : 220_000
    shard.limits.heartbeatSeconds = chance(50, &random) ? 2 : 25
    // So few that clients that stop reading reach it.
    if chance(50, &random) { (shard.limits.waitingKeys, shard.limits.waitingPresenceKeys) = (4, 0) }
    relay = RelayProcess.Configuration(
      shard: shard, idleTimeoutSeconds: chance(50, &random) ? 5 : 60)
    sessions = Int.random(in: 1...3, using: &random)
    probes = Int.random(in: 1...3, using: &random)
    posters = Int.random(in: 1...2, using: &random)
    relay.compresses = chance(50, &random)
    relay.takesTokens = chance(40, &random)
    // Of numbers of its own: all others of a seed stay as they are.
    var copy = random
    var own = SplitMix64(seed: ~copy.next())
    relay.verifiesLater = relay.takesTokens && chance(50, &own)
    if chance(Files.percentage, &own) {
      files = Files(
        clients: Int.random(in: 1...3, using: &own),
        bytesPerUser: [0, 8000, 40_000].randomElement(using: &own) ?? 0,
        uploadsPerUser: [0, 3].randomElement(using: &own) ?? 0,
        bytesPerSecond: [0, 20_000].randomElement(using: &own) ?? 0)
    }
    lengthMilliseconds = [5000, 10_000, 20_000].randomElement(using: &random) ?? 5000
    maximumDelay = [1, 5, 30, 200].randomElement(using: &random) ?? 1
    pauseMilliseconds = [30, 100, 300].randomElement(using: &random) ?? 100
    faultPauseMilliseconds = [150, 400, 1000].randomElement(using: &random) ?? 400
    faults = []
    for fault in Fault.allCases where store == .sqlite || !fault.needsDisk {
      if chance(50, &random) { faults += Array(repeating: fault, count: fault.weight) }
    }
    directoryPauseMilliseconds = [60, 400, 3000].randomElement(using: &random) ?? 400
    hasBot = chance(50, &random)
    if hasBot {
      relay.shard.bots = [("echo.bot", "Echo"), ("p1", "A bot on the list")]
    }
    entryLimits = EntryLimits(
      editsPerEntry: [0, 8, 100].randomElement(using: &random) ?? 0,
      reactionsPerEntry: [5, 50].randomElement(using: &random) ?? 5)
    if let files { entryLimits.fileBytesPerUser = files.bytesPerUser }
    adversaries = [Adversary(attack: .babble, connections: 1)]
    if let second = Self.adversary(using: &random) { adversaries.append(second) }
  }

  /// Returns an adversary with a plan; half of the runs have none.
  private static func adversary(using random: inout SplitMix64) -> Adversary? {
    func pick(_ strengths: [Int]) -> Int { strengths.randomElement(using: &random) ?? 1 }
    let connections = Int.random(in: 1...4, using: &random)
    return switch Int.random(in: 0..<100, using: &random) {
    case 0..<12:
      Adversary(attack: .edits, connections: connections, strength: pick([30, 150, 300]))
    case 12..<22:
      // A few adversaries add more reactions than one reply can hold.
      Adversary(
        attack: .reactions, connections: connections,
        strength: Int.random(in: 0..<40, using: &random) == 0 ? 1900 : pick([30, 120, 800]))
    case 22..<28: Adversary(attack: .rooms, connections: connections, strength: pick([40, 300]))
    case 28..<38: Adversary(attack: .people, connections: connections)
    case 38..<44: Adversary(attack: .floods, connections: connections)
    case 44..<50: Adversary(attack: .duplicates, connections: connections)
    default: nil
    }
  }
}
