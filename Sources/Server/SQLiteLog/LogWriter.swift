internal import Glibc
internal import Platform
internal import Relay

/// The loop of the log's writing thread: processes batches until the log stops.
struct LogWriter: Sendable {
  enum Task: Sendable {
    case submit(loop: Int, [LogRequest])
    case limit(pages: Int64)
    /// Deletes entries that are no longer kept; the queue receives whether that succeeded.
    case delete(Garbage.Slice, WorkQueue<Bool>)
    /// Gives some unused pages back to the file system; the queue receives whether there may be more.
    case vacuum(WorkQueue<Bool>)
    /// Trims rooms; the queue receives whether that succeeded.
    case trim([RoomTrim], WorkQueue<Bool>)
    /// Replaces the rules of retention.
    case retain(Retention)
  }

  /// How long the times at which users came wait for something else to be stored with.
  private static let arrivalsNanoseconds: Int64 = 1_000_000_000
  /// The delay after which a failed `tidy` is tried again.
  private static let tidyRetryMilliseconds = 1000
  /// How many entries are deleted in one transaction, between two batches: some half a millisecond, by which the next
  /// batch is late. After a larger batch it is twice as many as the batch had requests, so that deleting keeps up.
  private static let deletedAtOnce = 128

  var publishers: [LoopPublisher]
  var framing: Framing
  var options: SQLiteLog.Options
  var checkpointer: Checkpointer
  /// Receives an element when there is something to index.
  var indexWork: WorkQueue<IndexerLoop.Task>
  var meter: LogMeter
  var report: @Sendable (String) -> Void
  /// Ends the process.
  var end: @Sendable (UnsyncedCheckpoint) -> Never

  func run(_ tasks: WorkQueue<Task>, store: SQLiteStore, sequencer: consuming Sequencer) {
    var store = store
    var sequencer = sequencer
    var outage = Outage(
      "Writing", path: store.path, meanwhile: "Clients are told to retry", report: report)
    var damages = Outage(
      "Reading an entry", path: store.path, check: "the store with relay verify",
      meanwhile: "Requests that need it are refused", report: report)
    if store.hasDeleted { checkpointer.erase() }
    var erasureStep = checkpointer.erasureStep
    // Work left by an earlier process starts without waiting for a task.
    var hasToTidy = store.hasLeftovers
    var wait = 0
    // When they are stored by themselves, in nanoseconds of the monotonic clock.
    var arrivalsDue: Int64?
    var deletions: [(slice: Garbage.Slice, done: WorkQueue<Bool>)] = []
    while let taken = tasks.takeAll(
      timeoutMilliseconds: !deletions.isEmpty
        ? 0
        : hasToTidy
          ? wait : arrivalsDue.map { Int(max(0, $0 - MonotonicClock.nanoseconds) / 1_000_000 + 1) })
    {
      var batches: [(loop: Int, requests: [LogRequest])] = []
      var trims: [(rooms: [RoomTrim], done: WorkQueue<Bool>)] = []
      var vacuums: [WorkQueue<Bool>] = []
      for task in taken {
        switch task {
        case .submit(let loop, let requests): batches.append((loop, requests))
        case .limit(let pages): store.limit(pages: pages)
        case .delete(let slice, let done): deletions.append((slice, done))
        case .vacuum(let done): vacuums.append(done)
        case .trim(let rooms, let done): trims.append((rooms, done))
        case .retain(let retention): sequencer.retention = retention
        }
      }
      let delay = options.commitDelayMilliseconds
      if delay > 0, batches.contains(where: { $0.requests.contains(where: \.isAppend) }) {
        usleep(UInt32(delay) * 1000)
      }
      if checkpointer.erasureStep != erasureStep {
        erasureStep = checkpointer.erasureStep
        store.releaseMemory()
      }
      let commits = store.commits
      let began = MonotonicClock.nanoseconds
      let areArrivalsDue = arrivalsDue.map { $0 <= began } ?? false
      let outcome = sequencer.process(
        batches, trimming: trims.flatMap(\.rooms), defersArrivals: !areArrivalsDue, store: &store,
        now: options.clock(), framing: framing)
      if !sequencer.hasUnstoredSeen {
        arrivalsDue = nil
      } else if arrivalsDue == nil || outcome.failure != nil {
        arrivalsDue = began + Self.arrivalsNanoseconds
      }
      meter.record(
        outcome, nanoseconds: MonotonicClock.nanoseconds - began,
        syncNanoseconds: store.commits > commits ? Int64(store.sync.count) : nil,
        rooms: store.roomCount)
      publishers.post(outcome, completing: Set(batches.map(\.loop)))
      if store.commits > commits {
        sequencer.record(CommitStages(batchedAt: began, sync: store.sync), of: outcome)
      }
      for (loop, answer) in sequencer.takeTraces(&store) {
        publishers[loop].post(
          LogDelivery(commit: nil, answers: [answer], completesSubmit: false))
      }
      if let failure = outcome.failure {
        outage.update(failure)
      } else if store.commits > commits {
        outage.update(nil)
      }
      // Said once: a client can ask for it again and again.
      if let damage = outcome.damage { damages.update(damage) }
      for (_, done) in trims { done.append(outcome.failure == nil) }
      if store.hasSealed { indexWork.append(.index) }
      if !deletions.isEmpty {
        let requests = batches.reduce(0) { $0 + $1.requests.count }
        let part = deletions[0].slice.take(atMost: max(Self.deletedAtOnce, 2 * requests))
        let isDeleted = (try? store.delete(part)) != nil
        if !isDeleted || deletions[0].slice.isEmpty {
          deletions.removeFirst().done.append(isDeleted)
        }
        store.vacuum()
      }
      for done in vacuums {
        let isVacuumed = store.vacuum()
        done.append(isVacuumed)
        // The file becomes shorter with the next checkpoint.
        if isVacuumed { checkpointer.erase() }
      }
      hasToTidy = store.hasLeftovers
      if hasToTidy { wait = (try? store.tidy()) == nil ? Self.tidyRetryMilliseconds : 0 }
      if store.hasDeleted { checkpointer.erase() }
      if checkpointer.commitEnded(walBytes: store.walBytes) { checkpoint(store) }
    }
    for (_, done) in deletions { done.append(false) }
    checkpoint(store)
  }

  private func checkpoint(_ store: SQLiteStore) {
    do { try store.checkpoint() } catch { end(error) }
  }
}

extension LogRequest {
  fileprivate var isAppend: Bool { if case .append = self { true } else { false } }
}
