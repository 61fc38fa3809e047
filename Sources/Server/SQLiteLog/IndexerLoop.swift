internal import Platform
internal import Relay

/// The loop of the log's indexing thread, until the log stops.
///
/// It also deletes entries beyond retention. After rooms were trimmed, the open segment is indexed
/// at the next tick, however short, so that its entries can be deleted. At startup, and after a
/// tick without new entries, it examines all rooms, since the writer trims only the rooms that it
/// writes to, and lets them exceed the limit by a tenth.
struct IndexerLoop: Sendable {
  private static let retryAfterMilliseconds = 1000
  /// The interval without a new entry after which all rooms are examined.
  static let tickMilliseconds = 15_000
  /// How many rooms are examined at once.
  private static let roomsAtOnce = 1000
  /// How many rooms the writer trims in one batch.
  private static let trimsAtOnce = 64

  var store: OpenStore
  var keepEntriesPerRoom: Int64
  var tickMilliseconds: Int
  /// The writer's queue.
  var submissions: WorkQueue<LogWriter.Task>
  var report: @Sendable (String) -> Void
  /// Ends the process.
  var end: @Sendable (UnsyncedCheckpoint) -> Never
  private let answers = WorkQueue<Bool>()

  init(
    store: OpenStore, keepEntriesPerRoom: Int64, tickMilliseconds: Int,
    submissions: WorkQueue<LogWriter.Task>, report: @escaping @Sendable (String) -> Void,
    end: @escaping @Sendable (UnsyncedCheckpoint) -> Never
  ) {
    self.store = store
    self.keepEntriesPerRoom = keepEntriesPerRoom
    self.tickMilliseconds = tickMilliseconds
    self.submissions = submissions
    self.report = report
    self.end = end
  }

  func run(_ requests: WorkQueue<Void>, _ indexer: Indexer) {
    var outage = Outage(
      "Indexing", path: store.folder.indexPath,
      meanwhile: "No data is lost, but the relay uses more and more memory",
      report: report)
    // Startup may have read back whole segments.
    index(indexer, requests, &outage)
    // The value of `appended` when all rooms were last examined; -1 makes startup examine them.
    var looked = -1
    var before = store.tail.appended
    while let taken = requests.takeAll(
      timeoutMilliseconds: outage.isFailing
        ? min(Self.retryAfterMilliseconds, tickMilliseconds) : tickMilliseconds)
    {
      if taken.isEmpty {
        let appended = store.tail.appended
        if looked != appended, looked < 0 || appended == before {
          looked = trim(indexer, requests) ? appended : looked
        }
        before = appended
        if store.tail.takeTrims() {
          store.tail.seal()
        } else if !outage.isFailing {
          continue
        }
      }
      index(indexer, requests, &outage)
    }
  }

  /// Makes the writer trim the rooms that hold more entries than they may.
  /// - Returns: whether all rooms were examined.
  private func trim(_ indexer: Indexer, _ requests: WorkQueue<Void>) -> Bool {
    var room: Int64? = 0
    while let after = room {
      if requests.isEnding { return false }
      guard
        let page = try? indexer.excess(
          afterRoom: after, limit: Self.roomsAtOnce, keepEntriesPerRoom: keepEntriesPerRoom)
      else { return false }
      var rest = page.rooms[...]
      while !rest.isEmpty {
        if requests.isEnding { return false }
        submissions.append(.trim(Array(rest.prefix(Self.trimsAtOnce)), answers))
        guard answers.takeAll()?.first == true else { return false }
        rest = rest.dropFirst(Self.trimsAtOnce)
      }
      room = page.last
    }
    return true
  }

  /// Makes the writer delete entries that are no longer kept, one slice between two batches.
  private func sweep(
    _ indexer: Indexer, _ requests: WorkQueue<Void>
  ) throws(StoreFailure) {
    while let garbage = try indexer.garbage() {
      for slice in garbage.slices {
        if requests.isEnding { return }
        submissions.append(.delete(slice, answers))
        // A lasting failure shows in the next commit, and this is tried again at the next tick.
        guard answers.takeAll()?.first == true else {
          store.tail.recordTrim()
          return
        }
      }
      try indexer.forget(garbage)
      indexer.vacuum()
      checkpoint(indexer)
    }
  }

  private func checkpoint(_ indexer: Indexer) {
    do { try indexer.checkpoint() } catch { end(error) }
  }

  private func index(
    _ indexer: Indexer, _ requests: WorkQueue<Void>, _ outage: inout Outage
  ) {
    do throws(StoreFailure) {
      try indexAll(indexer, requests, &outage)
      try sweep(indexer, requests)
      while !requests.isEnding, try indexer.mergeStep() {
        checkpoint(indexer)
        // Unindexed entries occupy memory, so they go first.
        try indexAll(indexer, requests, &outage)
      }
    } catch {
      outage.update(error)
    }
  }

  private func indexAll(
    _ indexer: Indexer, _ requests: WorkQueue<Void>, _ outage: inout Outage
  ) throws(StoreFailure) {
    while !requests.isEnding {
      guard try indexer.indexNext() else { break }
      outage.update(nil)
      checkpoint(indexer)
    }
  }
}
