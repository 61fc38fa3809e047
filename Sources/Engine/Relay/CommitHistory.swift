import DequeModule
import Wire

/// The last commits with the times of their stages, without the contents of entries: what a trace is
/// made of. A commit adds references to lists that it has anyway, whatever the number of its
/// entries.
struct CommitHistory {
  /// The maximum number of entries, of all commits together.
  static let entriesLimit = 16_384
  /// The maximum size, without the names of rooms and users, most of which the sequencer has in
  /// memory as well. It bounds the marks, of which an entry may have many.
  static let bytesLimit = 4_194_304

  struct Record {
    var spans: [Commit.RoomSpan]
    var senders: [String]
    var received: [Int64]
    var marks: [Commit.MarkChange]
    var stages: CommitStages
    var trace: CommitTrace?

    var bytes: Int {
      MemoryLayout<Self>.stride + spans.count * MemoryLayout<Commit.RoomSpan>.stride
        + senders.count * (MemoryLayout<String>.stride + MemoryLayout<Int64>.stride)
        + marks.count * MemoryLayout<Commit.MarkChange>.stride
        + (trace?.spans.count ?? 0) * (MemoryLayout<CommitTrace.Span>.stride + 64)
    }
  }

  /// The place of an entry.
  struct Place {
    var record: Int
    /// In the lists of the record.
    var index: Int
  }

  /// The oldest first.
  private(set) var records = Deque<Record>()
  private(set) var entries = 0
  private(set) var bytes = 0

  mutating func append(_ commit: Commit, _ stages: CommitStages) {
    guard !commit.spans.isEmpty || !commit.marks.isEmpty else { return }
    let record = Record(
      spans: commit.spans, senders: commit.senders, received: commit.received, marks: commit.marks,
      stages: stages, trace: commit.trace)
    records.append(record)
    entries += record.senders.count
    bytes += record.bytes
    while entries > Self.entriesLimit || bytes > Self.bytesLimit, let oldest = records.popFirst() {
      entries -= oldest.senders.count
      bytes -= oldest.bytes
    }
    assert(entries >= 0 && bytes >= 0 && (bytes == 0) == records.isEmpty)
  }

  /// Returns the place of an entry; `nil` if its commit is not kept.
  func find(_ seq: Int64, inRoom room: String) -> Place? {
    for record in records.indices.reversed() {
      for span in records[record].spans where span.room == room && span.firstSeq <= seq {
        // Earlier commits have lower numbers only.
        guard seq <= span.lastSeq else { return nil }
        return Place(
          record: record, index: span.frames.lowerBound + Int(seq - span.firstSeq))
      }
    }
    return nil
  }

  /// Returns the last entry of a trace; `nil` if none is kept.
  func find(_ trace: TraceID) -> (room: String, seq: Int64)? {
    for record in records.reversed() {
      guard let known = record.trace else { continue }
      if let span = known.spans.last(where: { $0.parent.traceID == trace }) {
        return (span.room, span.seq)
      }
      if known.id == trace, let span = record.spans.first { return (span.room, span.firstSeq) }
    }
    return nil
  }

  /// Returns the users who sent the entries of a room that are kept.
  func senders(inRoom room: String) -> Set<String> {
    var senders: Set<String> = []
    for record in records {
      for span in record.spans where span.room == room {
        senders.formUnion(record.senders[span.frames])
      }
    }
    return senders
  }

  /// Returns when the marks of users have passed an entry: no mark can have done so before the
  /// commit of the entry.
  func marks(
    passing seq: Int64, inRoom room: String, from record: Int
  ) -> (received: [String: Int64], read: [String: Int64]) {
    var received: [String: Int64] = [:]
    var read: [String: Int64] = [:]
    for record in records[record...] {
      for change in record.marks where change.room == room {
        let marks = change.marks
        if marks.received >= seq, received[marks.user] == nil {
          received[marks.user] = record.stages.synced
        }
        if marks.read >= seq, read[marks.user] == nil { read[marks.user] = record.stages.synced }
      }
    }
    return (received, read)
  }
}
