/// What a log has done since the start, and what it has.
public struct LogStatistics: Sendable {
  /// Entries that became durable.
  public var entries = 0
  /// Batches that were stored, with entries or without.
  public var commits = 0
  /// Batches of which nothing was stored.
  public var failures = 0
  /// Entries of each batch that had some.
  public var batchEntries = BucketHistogram.sizes
  /// What a batch took from being taken until it was durable, in seconds.
  public var batchSeconds = BucketHistogram.latency
  /// What of it making it durable took, in seconds.
  public var syncSeconds = BucketHistogram.latency
  /// Rooms that have had an entry.
  public var rooms = 0
  /// Entries that the index does not have yet.
  public var unindexedEntries = 0
  /// What is on disk.
  public var files: [File] = []

  public struct File: Sendable {
    public var name: String
    public var bytes: Int

    public init(name: String, bytes: Int) {
      self.name = name
      self.bytes = bytes
    }
  }

  public init() {}

  /// Notes what became of a batch.
  public mutating func note(_ outcome: Sequencer.Outcome) {
    if outcome.failure != nil {
      failures += 1
      return
    }
    guard let commit = outcome.commit else { return }
    commits += 1
    guard commit.frames.count > 0 else { return }
    entries += commit.frames.count
    batchEntries.add(Double(commit.frames.count))
  }
}
