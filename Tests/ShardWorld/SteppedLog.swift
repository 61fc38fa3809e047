public import Relay

/// A log without threads: its owner decides when the work of each thread is done. Requests may be
/// answered while a batch is processed.
public final class SteppedLog<Store: EntryStore> {
  public let lineage: Lineage
  public var sequencer: Sequencer
  /// The blocks between users, as the log has them now.
  public var blocks: BlockTable { sequencer.blocks }
  /// The store, whose meter counts the work of the writing thread.
  public var store: CountingStore<Store>
  /// The work of the reading thread.
  public let reading = WorkMeter()
  private let framing: Framing

  public init(
    _ store: Store, lineage: Lineage, keepEntriesPerRoom: Int64, roomsPerUser: Int = 0,
    limits: EntryLimits = EntryLimits(), loops: Int, framing: Framing
  ) {
    self.store = CountingStore(store, WorkMeter())
    self.lineage = lineage
    self.framing = framing
    sequencer = Sequencer(
      lineage: lineage, retention: .keeping(keepEntriesPerRoom), roomsPerUser: roomsPerUser,
      limits: limits, blocks: (try? self.store.blocks()) ?? BlockTable(), loops: loops)
  }

  /// Does the work of the writing thread for these batches.
  public func process(
    _ batches: [(loop: Int, requests: [LogRequest])], trimming trims: [RoomTrim] = [], now: Int64
  ) -> Sequencer.Outcome {
    sequencer.process(batches, trimming: trims, store: &store, now: now, framing: framing)
  }

  /// Does the work of the reading thread for a request.
  /// - Parameter fails: whether nothing can be read.
  public func answer(
    _ request: ReadRequest, from reader: some EntryReader, fails: Bool = false
  ) -> LogAnswer {
    var reader = CountingStore(reader, reading)
    reader.failsReads = fails
    return request.answer(from: &reader, lineage, framing)
  }
}
