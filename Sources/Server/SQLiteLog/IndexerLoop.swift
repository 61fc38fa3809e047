internal import Relay

/// What the log's indexing thread does, until the log stops.
///
/// It also sees to what is no longer kept: where rooms were trimmed, what is unindexed is indexed at the
/// next tick, however little it is, so that it can be deleted. And where nothing has come for a tick, and
/// at the start, all rooms are looked at, since the writer only trims rooms that it has to do with, and
/// lets a tenth more be kept.
struct IndexerLoop: Sendable {
  private static let retryAfterMilliseconds = 1000
  /// So many ticks without an entry make a time quiet, in which rooms are looked at.
  static let tickMilliseconds = 15_000
  /// So many rooms are looked at in one go.
  private static let roomsAtOnce = 1000
  /// So many rooms are trimmed by one batch of the writer.
  private static let trimsAtOnce = 64

  var store: OpenStore
  var keepEntriesPerRoom: Int64
  var tickMilliseconds: Int
  /// To the writer.
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
      "Indexing", path: store.directory.indexPath,
      meanwhile: "Nothing is lost and the relay goes on, with more memory as it runs",
      report: report)
    // What a start has read back may be enough.
    index(indexer, requests, &outage)
    // Rooms were looked at when so many entries had come; a start looks at them in any case.
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

  /// Has the writer trim the rooms that hold more than they should.
  /// - Returns: whether all rooms were looked at.
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

  /// Has the writer delete what is no longer kept, a slice between two batches.
  private func sweep(
    _ indexer: Indexer, _ requests: WorkQueue<Void>
  ) throws(StoreFailure) {
    while let garbage = try indexer.garbage() {
      for slice in garbage.slices {
        if requests.isEnding { return }
        submissions.append(.delete(slice, answers))
        // What fails shows in the next commit if it lastEntries, and is tried again at the next tick.
        guard answers.takeAll()?.first == true else {
          store.tail.noteTrim()
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
        // Entries that wait are in memory: they go first.
        try indexAll(indexer, requests, &outage)
      }
    } catch {
      outage.note(error)
    }
  }

  private func indexAll(
    _ indexer: Indexer, _ requests: WorkQueue<Void>, _ outage: inout Outage
  ) throws(StoreFailure) {
    while !requests.isEnding {
      guard try indexer.indexNext() else { break }
      outage.note(nil)
      checkpoint(indexer)
    }
  }
}
