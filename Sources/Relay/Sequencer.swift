/// Gives entries their place: what a log that is alone with its store does between taking requests
/// and publishing what became of them. Used by one thread.
public struct Sequencer {
  /// What became of one batch.
  public struct Outcome: Sendable {
    public var commit: Commit?
    /// For each loop.
    public var answers: [[LogAnswer]]
    /// Why nothing of the batch was stored; for the operator.
    public var failure: StoreFailure?
  }

  public init(lineage: Lineage, keepEntriesPerRoom: Int64, loops: Int) {}

  /// Takes the requests of several loops as one batch, which is stored as a whole or not at all.
  /// - Parameter now: milliseconds since 1970.
  public mutating func process(
    _ batches: [(loop: Int, requests: [LogRequest])], store: inout some EntryStore, now: Int64,
    framing: Framing
  ) -> Outcome {
    preconditionFailure("comes next")
  }
}
