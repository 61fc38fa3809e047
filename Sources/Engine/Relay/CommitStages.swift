/// When a log has processed one batch, in microseconds of the monotonic clock.
public struct CommitStages: Equatable, Sendable {
  /// The log took the batch, which had waited for the one before it.
  public var batched: Int64
  /// All changes were in the transaction, and its commit began.
  public var committed: Int64
  /// The commit had returned: the changes were as durable as the log is configured to make them.
  public var synced: Int64

  public init(batched: Int64, committed: Int64, synced: Int64) {
    self.batched = batched
    self.committed = committed
    self.synced = synced
  }
}

extension CommitStages {
  /// - Parameters:
  ///   - batched: when the batch was taken, in nanoseconds of the monotonic clock.
  ///   - sync: when its commit began and ended, likewise.
  package init(batchedAt batched: Int64, sync: Range<Int64>) {
    self.init(
      batched: batched / 1000, committed: sync.lowerBound / 1000, synced: sync.upperBound / 1000)
  }
}
