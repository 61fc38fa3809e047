internal import Relay

/// What the log's settling thread does, until the log stops.
struct SettlerLoop: Sendable {
  private static let retryAfterMilliseconds = 1000

  var store: OpenStore
  /// To the writer.
  var submissions: WorkQueue<LogWriter.Task>
  var report: @Sendable (String) -> Void
  /// Ends the process.
  var end: @Sendable (UnsyncedCheckpoint) -> Never
  private let deletions = WorkQueue<Bool>()

  init(
    store: OpenStore, submissions: WorkQueue<LogWriter.Task>,
    report: @escaping @Sendable (String) -> Void,
    end: @escaping @Sendable (UnsyncedCheckpoint) -> Never
  ) {
    self.store = store
    self.submissions = submissions
    self.report = report
    self.end = end
  }

  func run(_ requests: WorkQueue<Void>, _ settler: Settler) {
    var outage = Outage(
      "Indexing", path: store.directory.indexPath,
      meanwhile: "Nothing is lost and the relay goes on, with more memory as it runs",
      report: report)
    // What a start has read back may be enough.
    settle(settler, requests, &outage)
    while requests.takeAll(
      timeoutMilliseconds: outage.isFailing ? Self.retryAfterMilliseconds : nil) != nil
    {
      settle(settler, requests, &outage)
    }
  }

  /// Has the writer delete what is no longer kept, a slice between two batches.
  private func sweep(
    _ settler: Settler, _ requests: WorkQueue<Void>
  ) throws(StoreFailure) {
    while let garbage = try settler.garbage() {
      for slice in garbage.slices {
        if requests.isEnding { return }
        submissions.append(.delete(slice, deletions))
        // What fails shows in the next commit if it lasts, and is tried again after the next stretch.
        guard deletions.takeAll()?.first == true else { return }
      }
      try settler.forget(garbage)
      settler.vacuum()
      checkpoint(settler)
    }
  }

  private func checkpoint(_ settler: Settler) {
    do { try settler.checkpoint() } catch { end(error) }
  }

  private func settle(
    _ settler: Settler, _ requests: WorkQueue<Void>, _ outage: inout Outage
  ) {
    do throws(StoreFailure) {
      while !requests.isEnding {
        guard try settler.settle() else { break }
        outage.note(nil)
        checkpoint(settler)
      }
      try sweep(settler, requests)
    } catch {
      outage.note(error)
    }
  }
}
