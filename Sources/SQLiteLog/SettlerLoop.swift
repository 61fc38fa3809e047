internal import Relay

/// What the log's settling thread does, until the log stops.
struct SettlerLoop: Sendable {
  private static let retryAfterMilliseconds = 1000

  var store: OpenStore
  var report: @Sendable (String) -> Void

  func run(_ requests: WorkQueue<Void>, _ settler: Settler) {
    var outage = Outage(
      "Indexing", path: store.directory.indexPath,
      meanwhile: "Nothing is lost and the relay goes on, with more memory as it runs",
      report: report)
    // What a start has read back may be enough.
    settle(settler, &outage)
    while requests.takeAll(
      timeoutMilliseconds: outage.isFailing ? Self.retryAfterMilliseconds : nil) != nil
    {
      settle(settler, &outage)
    }
  }

  private func settle(_ settler: Settler, _ outage: inout Outage) {
    do throws(StoreFailure) {
      while try settler.settle() {
        outage.note(nil)
        settler.checkpoint()
      }
    } catch {
      outage.note(error)
    }
  }
}
