import Relay
import SQLiteLog
import Wire

/// A store without threads: the work of a log's threads is done when a test says so.
final class StoreHarness {
  let store: SQLiteStore
  let indexer: Indexer
  let reader: SQLiteReader
  private var sequencer: Sequencer
  private var now: Int64 = 1000

  init(
    _ folder: String, keep: Int64 = 0, limits: EntryLimits = EntryLimits(),
    segmentEntries: Int? = nil, epochName: String? = nil, identityKey: EntryIdentity.Key? = nil,
    filterLimitBytes: Int? = nil, report: (String) -> Void = { _ in }
  ) throws {
    store = try SQLiteStore(
      folder: folder, now: 1000, segmentEntries: segmentEntries, epochName: epochName,
      identityKey: identityKey, filterLimitBytes: filterLimitBytes, report: report)
    indexer = try Indexer(store.shared)
    reader = try SQLiteReader(store.shared, lineage: store.lineage)
    sequencer = Sequencer(
      lineage: store.lineage, retention: .keeping(keep), limits: limits, loops: 1)
  }

  func submit(_ requests: [LogRequest]) -> [LogAnswer] {
    now += 1
    var store = store
    return sequencer.process([(0, requests)], store: &store, now: now, framing: .test).answers[0]
  }

  /// - Returns: the acknowledgements.
  @discardableResult
  func send(
    _ ids: ClosedRange<Int>, to room: String = "general", as user: String = "ada"
  ) -> [ServerMessage.Ack] {
    submit(ids.map { .append(room, user, "\($0)") }).acks
  }

  func subscribe(_ room: String, as user: String, after: Int64? = nil) -> ServerMessage.Joined? {
    for case .subscribed(_, let subscribed) in submit([.subscribe(room, user, after: after)]) {
      return subscribed.joined
    }
    return nil
  }

  /// Indexes all entries, and merges segments.
  func index() throws {
    store.shared.seal()
    while try indexer.indexNext() {}
    while try indexer.mergeStep() {}
  }

  /// Deletes everything that is indexed and no longer kept.
  func sweep() throws {
    while let garbage = try indexer.garbage() {
      for slice in garbage.slices { try store.delete(slice) }
      try indexer.forget(garbage)
    }
  }

  func history(
    _ room: String = "general", after: Int64? = nil, limit: Int = 500, fold: Bool = false
  ) -> ServerMessage.HistoryPage? {
    let answer = reader.answer(
      .history(
        .test, .init(room: room, after: after, limit: limit, isFolded: fold), by: .test,
        mayCreate: false,
        limitBytes: 131_072), .test)
    guard case .reply(_, let json) = answer,
      case .history(let page)? = try? ServerMessage(decoding: json.span)
    else { return nil }
    return page
  }

  /// The ids of a room's entries, as read from the store.
  func ids(of room: String = "general", after: Int64 = 0, through: Int64 = .max) -> [String] {
    let answer = reader.answer(
      .entries(.test, room: room, user: "ada", after: after, through: through, limitBytes: 1 << 20),
      .test)
    guard case .entries(_, let page) = answer, !page.failed else { return ["failed"] }
    return page.frames.entries.map(\.id)
  }
}
