/// The counters of a log since its start, and its current size.
public struct LogStatistics: Sendable {
  /// Entries that became durable.
  public var entries = 0
  /// Batches that were stored, with or without entries.
  public var commits = 0
  /// Batches that were not stored.
  public var failures = 0
  /// The number of entries of each batch that had any.
  public var batchEntries = BucketHistogram.sizes
  /// The time from taking a batch until it was durable, in seconds.
  public var batchSeconds = BucketHistogram.latency
  /// The part of that time for making it durable, in seconds.
  public var syncSeconds = BucketHistogram.latency
  /// Entries that retention has removed.
  public var trimmedEntries = 0
  /// When the last pass of retention began after which no entry was beyond its rule, or else when the log
  /// started, in milliseconds of the monotonic clock; `nil` = no pass is made here.
  public var retainedAtMilliseconds: Int64?
  /// Rooms that have had an entry.
  public var rooms = 0
  /// Entries that the log had stored when it started, with those that it no longer keeps; `nil` =
  /// unknown.
  public var entriesAtStart: Int?
  /// Entries that are not indexed yet.
  public var unindexedEntries = 0
  /// The files on disk.
  public var files: [File] = []
  /// The free bytes on their disk; `nil` = unknown.
  public var freeBytes: Int?

  public struct File: Sendable {
    public var name: String
    public var bytes: Int

    public init(name: String, bytes: Int) {
      self.name = name
      self.bytes = bytes
    }
  }

  public init() {}

  /// Records the outcome of a batch.
  public mutating func count(_ outcome: Sequencer.Outcome) {
    if outcome.failure != nil {
      failures += 1
      return
    }
    trimmedEntries += outcome.trimmedEntries
    guard let commit = outcome.commit else { return }
    commits += 1
    guard commit.frames.count > 0 else { return }
    entries += commit.frames.count
    batchEntries.add(Double(commit.frames.count))
  }
}
