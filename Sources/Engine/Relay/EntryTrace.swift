public import Wire

/// What a log knows of the path of one entry, in microseconds of the monotonic clock.
public struct EntryTrace: Equatable, Sendable {
  /// A member whose mark has reached the entry.
  public struct Acknowledgement: Equatable, Sendable {
    public var user: String
    /// `nil` = unknown: the mark moved in a way that is not published, such as by an own entry.
    public var at: Int64?
  }

  public var room: String
  public var seq: Int64
  public var from: String
  /// When the loop that read the entry began the turn in which it did.
  public var received: Int64
  public var stages: CommitStages
  /// The number of entries in the batch.
  public var batchEntries: Int
  public var members: Int
  /// As its sender gave it.
  public var traceparent: Traceparent?
  /// Ordered by name, without the sender; `nil` in rooms of more than 50 members.
  public var receivedBy: [Acknowledgement]?
  public var readBy: [Acknowledgement]?
}

/// The result of tracing an entry.
public enum TraceResult: Sendable {
  case found(EntryTrace)
  /// The entry exists, but its commit is no longer in the history.
  case expired
  case refused(WireError)
}
