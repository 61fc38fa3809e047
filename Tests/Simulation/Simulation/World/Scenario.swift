internal import Relay
internal import SQLiteLog

/// Where the entries are kept.
public enum StoreKind: String, CaseIterable, Sendable {
  case sqlite
  case memory
}

/// What one run is like: which limits the relay has, who is there, and what goes wrong how often. A
/// run that has everything at once would hardly ever get far, so each has some of it.
struct Scenario {
  var store: StoreKind
  /// What is promised of acknowledged entries.
  var durability = Durability.fsync
  var keepEntriesPerRoom: Int64
  /// How many entries the log settles at once.
  var segmentEntries: Int
  var loops: Int
  var relay: RelayProcess.Configuration
  var sessions: Int
  var probes: Int
  /// Simulated milliseconds until everything is repaired.
  var lengthMilliseconds: Int64
  var maximumDelay: Int64
  /// Milliseconds between two things that one client does, on average.
  var pauseMilliseconds: Int64
  /// What may go wrong.
  var faults: [Fault]
  var faultPauseMilliseconds: Int64

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
    case stallLog
    case backUp
    case restore
    case wipe

    /// How often it is chosen, beside the others.
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
    relay = RelayProcess.Configuration(
      shard: shard, idleTimeoutMilliseconds: chance(50, &random) ? 5000 : 60_000)
    sessions = Int.random(in: 1...3, using: &random)
    probes = Int.random(in: 1...3, using: &random)
    lengthMilliseconds = [5000, 10_000, 20_000].randomElement(using: &random) ?? 5000
    maximumDelay = [1, 5, 30, 200].randomElement(using: &random) ?? 1
    pauseMilliseconds = [30, 100, 300].randomElement(using: &random) ?? 100
    faultPauseMilliseconds = [150, 400, 1000].randomElement(using: &random) ?? 400
    faults = []
    for fault in Fault.allCases where store == .sqlite || !fault.needsDisk {
      if chance(50, &random) { faults += Array(repeating: fault, count: fault.weight) }
    }
  }
}
