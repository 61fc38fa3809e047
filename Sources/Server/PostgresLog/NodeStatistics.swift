public import Relay
internal import Synchronization

/// The statistics of a node of a log that several relays share.
public struct NodeStatistics: Sendable {
  /// Whether the writing thread has a connection to the database. It notices a loss when it has
  /// something to do.
  package var canWrite = true
  /// Whether the thread that hears of other nodes has a connection, which it uses every two seconds.
  package var canListen = false
  /// Whether the settings of the database were right when they were checked last.
  public package(set) var settingsAreRight = true
  /// Whether this node is the one that does what only one may do.
  public package(set) var leads = false
  /// The nodes that are alive, this one included.
  public package(set) var nodes = 1
  /// The last batch that this node has applied.
  public package(set) var position: Int64 = 0
  /// The last batch of the log that this node has heard of.
  public package(set) var head: Int64 = 0
  /// The time from asking for the commit lock until it was taken and what other nodes had committed was read, in
  /// seconds.
  public package(set) var lockSeconds = BucketHistogram.latency
  /// The time from when another node took the commit lock until this node had read what it committed,
  /// in seconds of the database's clock: for batches with entries.
  public package(set) var followSeconds = BucketHistogram.latency

  public init() {}

  /// Whether the node is connected to the database.
  public var isConnected: Bool { canWrite && canListen }

  /// How many batches of others this node has not applied yet.
  public var batchesBehind: Int64 { max(0, head - position) }
}

/// The statistics of this node, behind a lock. Thread-safe.
final class NodeMeter: Sendable {
  private let state = Mutex(NodeStatistics())

  var statistics: NodeStatistics { state.withLock { $0 } }

  func record(_ change: (inout NodeStatistics) -> Void) { state.withLock { change(&$0) } }
}
