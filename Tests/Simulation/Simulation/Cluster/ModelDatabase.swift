import Cluster
import Relay
import Wire

/// PostgreSQL, as far as a log of several nodes depends on it: transactions, one lock, what a crash, a
/// promotion and a restored backup leave of what was committed, and what a lost connection leaves
/// unknown.
final class ModelDatabase {
  /// What the tables contain.
  struct Version {
    var rooms = MemoryStore(membersLimit: .max)
    var feed: [FeedBatch] = []
    /// The last position of the feed, which may be trimmed.
    var position: Int64 = 0
    var nodes: [Int64: Node] = [:]
    var epochs: [Epoch] = []

    var lineage: Lineage {
      Lineage(epochs.map { Lineage.Epoch(number: $0.number, name: $0.name) })
    }
  }

  struct Node {
    var position: Int64
    var batches: Int64 = 0
  }

  struct Epoch {
    var number: Int64
    var name: String
    var identity: Identity
  }

  /// Changes with every event after which commits may be missing, but for a crash.
  struct Identity: Equatable {
    var timeline = 1
    var store = 1
  }

  /// Another server that takes over if this one fails.
  enum Standby: CaseIterable { case none, asynchronous, synchronous }

  let standby: Standby
  /// After each commit, from the first on: the write-ahead log.
  private var versions: [Version]
  /// The last version that a crash does not lose.
  private var flushed = 0
  /// The last version that the standby has for certain.
  private var replicated = 0
  private(set) var identity = Identity()
  /// Connections of an earlier generation are dead.
  private(set) var generation = 1
  private(set) var isUp = true
  var isFull = false
  /// The transaction that holds the lock.
  weak var holder: ModelNodeStore?
  /// When each node has shown that it is alive. A crash loses one sign of life at most, which makes no
  /// difference.
  var seen: [Int64: Int64] = [:]

  init(standby: Standby) {
    self.standby = standby
    versions = [Version()]
    versions[0].epochs = [Epoch(number: 1, name: "epoch-1", identity: identity)]
  }

  var current: Version { versions[versions.count - 1] }
  /// How many commits there are.
  var count: Int { versions.count }

  /// What is certain, as far as the server is configured.
  var certain: Version { versions[standby == .synchronous ? min(flushed, replicated) : flushed] }

  /// Appends a version.
  /// - Parameter waits: for the disk and the standby.
  /// - Returns: whether it is certain.
  func append(_ version: Version, waits: Bool, standbyHasIt: Bool) -> Bool {
    versions.append(version)
    guard waits else { return true }
    flushed = versions.count - 1
    if standby == .synchronous, standbyHasIt { replicated = flushed }
    return standby != .synchronous || standbyHasIt
  }

  /// Changes what need not last, as trims do.
  func change(_ body: (inout Version) -> Void) { body(&versions[versions.count - 1]) }

  // MARK: - Failures

  /// Ends the connections, as a proxy or an operator does.
  func endConnections() {
    generation += 1
    holder = nil
  }

  func stop() {
    isUp = false
    endConnections()
  }

  func start() { isUp = true }

  /// The standby receives more.
  func replicate(through index: Int) {
    replicated = max(replicated, min(index, flushed))
  }

  /// The server crashes and starts again: what was not flushed may be lost.
  func crash(keeping index: Int) {
    cut(to: max(flushed, min(index, versions.count - 1)))
    endConnections()
  }

  /// The standby takes over, with everything that it is known to have, and maybe more.
  /// - Returns: the versions that are lost.
  func promote(keeping index: Int) -> [Version] {
    let lost = cut(to: max(replicated, min(index, versions.count - 1)))
    identity.timeline += 1
    replicated = versions.count - 1
    flushed = replicated
    endConnections()
    return lost
  }

  /// A dump of an earlier time replaces the store.
  /// - Returns: the versions that are lost.
  func restore(_ index: Int) -> [Version] {
    let lost = cut(to: index)
    identity.store += 1
    replicated = versions.count - 1
    flushed = replicated
    endConnections()
    return lost
  }

  @discardableResult
  private func cut(to index: Int) -> [Version] {
    let lost = Array(versions[(index + 1)...])
    versions.removeLast(lost.count)
    replicated = min(replicated, index)
    flushed = min(flushed, index)
    return lost
  }
}
