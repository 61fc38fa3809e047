package import Relay

/// A failure of a database that nodes share.
package struct DatabaseFailure: Error, CustomStringConvertible, Sendable {
  /// What failed and why, for the operator.
  package var description: String
  /// Whether the connection can no longer be used: then it is unknown whether a commit without an
  /// answer was carried out.
  package var isConnectionLost: Bool

  package init(_ description: String, isConnectionLost: Bool = false) {
    self.description = description
    self.isConnectionLost = isConnectionLost
  }
}

/// A batch of a node in the feed, which has all batches in the order of their commits.
package struct FeedBatch: Sendable {
  /// Its place in that order, one more than that of the batch before it.
  package var position: Int64
  /// Random: shows that this is still the same log.
  package var mark: Int64
  package var node: Int64
  package var sequenced: SequencedBatch
  package var news: NodeNews

  package init(
    position: Int64, mark: Int64, node: Int64, sequenced: SequencedBatch, news: NodeNews
  ) {
    self.position = position
    self.mark = mark
    self.node = node
    self.sequenced = sequenced
    self.news = news
  }
}

/// The store of one of several nodes that share a database: the only place where they meet.
///
/// A batch is committed in a transaction that holds the **commit lock**. The transaction begins by
/// reading the feed, so that this node knows everything that the others have committed, and ends with
/// the commit of its own batch, which is a row of the feed as well. So all nodes apply all batches in
/// the order of their commits. Requests that only read use a **snapshot**, which is as consistent with
/// the feed, and makes no other node wait.
///
/// A conformer carries out single steps; what they mean is decided in the extensions (`NodeStore+…`),
/// which the simulation runs against a model of the database. Used by one thread, which the calls
/// block.
package protocol NodeStore: EntryLookup, AnyObject {
  var state: NodeState { get set }

  /// The number of rooms that have had an entry.
  var roomCount: Int { get }

  /// When the last commit was sent and when it was answered, in nanoseconds of the monotonic clock.
  var sync: Range<Int64> { get }

  // MARK: - The connection

  var isConnected: Bool { get }

  /// Connects; a connection that failed before is replaced.
  func connect() throws(DatabaseFailure)

  /// Gives the connection up, and with it its transaction.
  func disconnect()

  /// Waits until another attempt makes sense.
  /// - Returns: whether there may be one: not if the log is to end.
  func awaitRetry() -> Bool

  /// Takes the commit lock, and finds out what the database knows of a node.
  /// - Parameter positions: the batches whose marks are returned.
  func examine(
    _ node: Int64, _ positions: ClosedRange<Int64>
  ) throws(DatabaseFailure) -> NodeFindings

  /// Ends the transaction of `examine`; begins an epoch if the server is not the one on which the
  /// last epoch began, or may have lost batches.
  /// - Parameter lost: the number of the epoch in which batches were lost for certain: it cannot be
  ///   the current one any longer.
  func ensureEpoch(lost: Int64?) throws(DatabaseFailure) -> Lineage

  /// Registers a node that knows nothing yet: it begins where the feed ends.
  /// - Parameter lost: as of `ensureEpoch`.
  func register(lost: Int64?) throws(DatabaseFailure) -> NodeState

  // MARK: - Transactions

  /// Begins a transaction, and reads what other nodes have committed after a position.
  /// - Parameters:
  ///   - identities: what the batch is going to look up.
  ///   - checksNodes: whether it looks for nodes that have ended, after it has read the batches.
  func begin(
    _ purpose: NodeState.Purpose, after position: Int64, lookingUp identities: [EntryIdentity],
    checksNodes: Bool
  ) throws(DatabaseFailure) -> NodeBeginning

  /// Reads rooms, each with all of its members, and keeps them for `loadRoom`.
  func lookUp(rooms names: [String]) throws(StoreFailure)

  /// Stores a batch and commits the transaction.
  /// - Parameter number: how many batches the node has committed with this one.
  /// - Returns: whether the commit is as durable and as replicated as the server is configured to make
  ///   it. If not, it may still be lost.
  func store(_ batch: FeedBatch, number: Int64) throws(DatabaseFailure) -> Bool

  /// Ends a transaction without a change.
  func rollBack() throws(DatabaseFailure)

  /// Commits something after everything that this node has read.
  /// - Parameter takesLock: whether it takes the commit lock first: no earlier transaction of this
  ///   node is under way then.
  /// - Returns: the number of the last batch that the node has committed; `nil` if the node is not
  ///   known. And whether everything up to here is as durable and replicated as configured.
  func commitBarrier(
    _ node: Int64, position: Int64, takesLock: Bool
  ) throws(DatabaseFailure) -> (number: Int64?, isCertain: Bool)
}

/// What a transaction begins with.
package struct NodeBeginning {
  /// The time of the database, in milliseconds since 1970: all nodes use it, however their own clocks
  /// are set.
  package var now: Int64
  /// The number of the current epoch.
  package var epoch: Int64
  /// The batches after the position, ascending.
  package var batches: [FeedBatch]
  /// Nodes that had given no sign of life for some time, when no later batch was committed.
  package var gone: [Int64]

  package init(now: Int64, epoch: Int64, batches: [FeedBatch], gone: [Int64]) {
    self.now = now
    self.epoch = epoch
    self.batches = batches
    self.gone = gone
  }
}

/// What the database knows of a node and of the batches that the node has applied.
package struct NodeFindings {
  /// By position.
  package var marks: [Int64: Int64]
  /// The oldest batch that the feed still has.
  package var oldest: Int64?
  package var knowsNode: Bool

  package init(marks: [Int64: Int64], oldest: Int64?, knowsNode: Bool) {
    self.marks = marks
    self.oldest = oldest
    self.knowsNode = knowsNode
  }
}
