public import Wire

/// What the entries of one commit are called in traces.
public struct CommitTrace: Sendable {
  /// An entry that is part of a trace of its sender's own.
  public struct Span: Sendable {
    var room: String
    var seq: Int64
    var parent: Traceparent
  }

  /// The trace of the first of `spans`; without one a name of the relay's own, that of the commit's first
  /// entry. It tells nothing of rooms and users, so that metrics may have it.
  public let id: TraceID
  let spans: [Span]

  init(id: TraceID, spans: [Span]) {
    self.id = id
    self.spans = spans
  }

  /// - Parameter key: makes names of several runs and relays differ.
  init(of batch: borrowing Batch, key: EntryIdentity.Key) {
    spans = batch.traced
    if let named = spans.first?.parent.traceID {
      id = named
      return
    }
    var hash = SipHash(key)
    hash.combine(UInt64(bitPattern: Int64(batch.number)))
    hash.combine(UInt64(bitPattern: batch.now))
    let high = hash.finish()
    hash.combine(high)
    id = TraceID(high: high, low: hash.finish())
  }
}
