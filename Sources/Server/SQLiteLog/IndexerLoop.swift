internal import Platform
internal import Relay

/// The loop of the log's indexing thread, until the log stops.
///
/// It also applies retention: several times a minute it finds the entries that are no longer kept, and
/// has the writer trim their rooms, in batches of bounded size. After that the open segment is indexed,
/// however short, so that its entries can be deleted.
struct IndexerLoop: Sendable {
  private static let retryAfterMilliseconds = 1000

  var store: OpenStore
  var rules: RetentionRules
  var tickMilliseconds: Int
  /// Milliseconds since 1970.
  var clock: @Sendable () -> Int64
  var meter: LogMeter
  /// The writer's queue.
  var submissions: WorkQueue<LogWriter.Task>
  var report: @Sendable (String) -> Void
  /// Ends the process.
  var end: @Sendable (UnsyncedCheckpoint) -> Never
  private let answers = WorkQueue<Bool>()

  enum Task: Sendable {
    /// There is something to index.
    case index
    /// Index what is sealed, and then do nothing that takes long: the log is about to stop. The queue receives
    /// an element when that is done, or cannot be done.
    case finish(WorkQueue<Void>)
  }

  init(
    store: OpenStore, rules: RetentionRules, tickMilliseconds: Int,
    clock: @escaping @Sendable () -> Int64, meter: LogMeter,
    submissions: WorkQueue<LogWriter.Task>, report: @escaping @Sendable (String) -> Void,
    end: @escaping @Sendable (UnsyncedCheckpoint) -> Never
  ) {
    self.store = store
    self.rules = rules
    self.tickMilliseconds = tickMilliseconds
    self.clock = clock
    self.meter = meter
    self.submissions = submissions
    self.report = report
    self.end = end
  }

  func run(_ requests: WorkQueue<Task>, _ indexer: Indexer, _ reader: RetentionReader) {
    var outage = Outage(
      "Indexing", path: store.folder.indexPath,
      meanwhile: "No data is lost, but the relay uses more and more memory",
      report: report)
    // Startup may have read back whole segments.
    index(indexer, requests, &outage)
    var pass = RetentionPass(
      rules, store: store.folder.databasePath, meter: meter, report: report)
    var reader = reader
    meter.recordPass(beganAt: MonotonicClock.milliseconds)
    var nextPass = MonotonicClock.milliseconds + Int64(tickMilliseconds)
    while let taken = requests.takeAll(
      timeoutMilliseconds: min(
        outage.isFailing ? Self.retryAfterMilliseconds : .max,
        Int(max(0, nextPass - MonotonicClock.milliseconds))))
    {
      if let finishing = taken.lazy.compactMap(\.finished).first {
        // A failure is no reason to wait: the next start reads back what is not indexed.
        try? indexAll(indexer, requests, &outage)
        finishing.append(())
        while requests.takeAll() != nil {}
        return
      }
      var hasTrimmed = false
      if pass.hasNewRules || MonotonicClock.milliseconds >= nextPass {
        pass.run(
          &reader, appended: store.tail.appended, wall: clock(),
          monotonic: MonotonicClock.milliseconds,
          mayContinue: {
            // Unindexed entries occupy memory, so they go first.
            if store.tail.firstSealed != nil { index(indexer, requests, &outage) }
            return !requests.isEnding
          }
        ) { trims in
          submissions.append(.trim(trims, answers))
          return answers.takeAll()?.first == true
        }
        nextPass = MonotonicClock.milliseconds + Int64(tickMilliseconds)
        hasTrimmed = store.tail.takeTrims()
        if hasTrimmed { store.tail.seal() }
      }
      if taken.isEmpty, !hasTrimmed, !outage.isFailing { continue }
      index(indexer, requests, &outage)
    }
  }

  /// Makes the writer delete entries that are no longer kept, one slice between two batches.
  private func sweep(
    _ indexer: Indexer, _ requests: WorkQueue<Task>
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
    // A slice of large entries frees more pages than it gives back.
    while !requests.isEnding {
      submissions.append(.vacuum(answers))
      guard answers.takeAll()?.first == true else { return }
    }
  }

  private func checkpoint(_ indexer: Indexer) {
    do { try indexer.checkpoint() } catch { end(error) }
  }

  private func index(
    _ indexer: Indexer, _ requests: WorkQueue<Task>, _ outage: inout Outage
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
    _ indexer: Indexer, _ requests: WorkQueue<Task>, _ outage: inout Outage
  ) throws(StoreFailure) {
    while !requests.isEnding {
      guard try indexer.indexNext() else { break }
      outage.update(nil)
      checkpoint(indexer)
    }
  }
}

extension IndexerLoop.Task {
  /// The queue that waits for the end of the work.
  fileprivate var finished: WorkQueue<Void>? {
    if case .finish(let queue) = self { queue } else { nil }
  }
}
