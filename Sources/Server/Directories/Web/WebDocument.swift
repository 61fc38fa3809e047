package import Platform
internal import Synchronization

/// A document of the web that the operator has configured: fetched again and again, on a thread of its
/// own.
package final class WebDocument: Sendable {
  package struct Options: Sendable {
    package var userAgent = "relay"
    package var accept = "*/*"
    /// Longer documents are refused.
    package var limitBytes = 1 << 20
    /// From the start of a request to the end of its response.
    package var timeoutMilliseconds = 10_000
    /// The time between two fetches.
    package var refreshMilliseconds: Int64 = 3_600_000
    /// The time between a failure and the next fetch, and the shortest between two that are asked for.
    package var pauseMilliseconds: Int64 = 30_000
    /// How long `ask` lets wait for a fetch. The fetch may take longer.
    package var patienceMilliseconds: Int64 = 5000

    package init() {}
  }

  /// Why there is no document, as a predicate: "answered 503".
  package struct Failure: Error, Equatable, Sendable {
    package var found: String
  }

  /// Takes a document or a failure, on the document's thread; returns whether the document is usable.
  package typealias Consumer = @Sendable (Result<[UInt8], Failure>) -> Bool

  /// What has come of a question for a newer document.
  package enum Reply: Sendable {
    /// A fetch has ended since, and the consumer has its outcome.
    case fetched
    /// One was asked for less than `pauseMilliseconds` ago: this question causes none.
    case tooSoon
    /// A fetch goes on, and takes longer than `patienceMilliseconds`.
    case late
    /// The document is not fetched any more.
    case stopped
  }

  package typealias Asker = @Sendable (Reply) -> Void

  private enum Order: Sendable {
    case ask(Asker)
    case demand
    case stop
  }

  package let url: String
  private let options: Options
  private let orders: Mailbox<Order>
  private let thread = Mutex<WorkerThread?>(nil)
  private let isStopped = Mutex(false)

  /// - Parameter url: an http or https URL. Its origin may have any address; redirects lead to it or to
  ///   public addresses.
  package init(_ url: String, options: Options) throws(SystemError) {
    self.url = url
    self.options = options
    orders = try Mailbox()
  }

  /// Begins to fetch. Must be called once.
  package func start(_ consumer: @escaping Consumer) throws(SystemError) {
    let (url, options, orders) = (url, options, orders)
    let started = try WorkerThread(name: "keys") {
      Self.work(url, options, orders, consumer)
    }
    thread.withLock { $0 = started }
  }

  /// Fetches now, if it may, because the document seems to be out of date. Thread-safe; does not block.
  /// - Parameter asker: called once, on the document's thread or on that which stops it; at once if it is
  ///   stopped. Callers limit how many wait.
  package func ask(_ asker: @escaping Asker) {
    let isOver = isStopped.withLock { isStopped in
      if !isStopped { orders.post(.ask(asker)) }
      return isStopped
    }
    if isOver { asker(.stopped) }
  }

  /// Fetches now. Thread-safe; does not block.
  package func demand() { orders.post(.demand) }

  /// Ends the fetch in progress, and waits for the consumer. Must not be called by it.
  package func stop() {
    isStopped.withLock { isStopped in
      isStopped = true
      orders.post(.stop)
    }
    thread.withLock { $0.take() }?.join()
    // A thread that was not started, or has ended, leaves these.
    var left: [Order] = []
    orders.drain(into: &left)
    for case .ask(let asker) in left { asker(.stopped) }
  }

  // MARK: - The thread

  private static func work(
    _ url: String, _ options: Options, _ orders: Mailbox<Order>, _ consumer: Consumer
  ) {
    var web = WebOptions(WebReach(origin: WebAddress(url)?.origin))
    web.userAgent = options.userAgent
    web.connectTimeoutMilliseconds = options.timeoutMilliseconds
    web.timeoutMilliseconds = options.timeoutMilliseconds
    let client = WebClient(web, wakeDescriptor: orders.descriptor)
    var schedule = FetchSchedule(
      refreshMilliseconds: options.refreshMilliseconds,
      pauseMilliseconds: options.pauseMilliseconds, now: now)
    var inbox: [Order] = []
    // In the order of their time.
    var waiting: [(asker: Asker, until: Int64)] = []
    while true {
      orders.drain(into: &inbox)
      for order in inbox {
        switch order {
        case .ask(let asker):
          guard schedule.ask(now: now) else {
            asker(.tooSoon)
            continue
          }
          waiting.append((asker, now + options.patienceMilliseconds))
        case .demand: schedule.demand(now: now)
        case .stop:
          for (asker, _) in waiting { asker(.stopped) }
          return
        }
      }
      if !schedule.isFetching, schedule.due <= now {
        var request = WebRequest(url: url)
        request.headers = ["Accept: \(options.accept)"]
        request.limitBytes = options.limitBytes
        schedule.begin(now: now)
        _ = client.start(request)
      }
      let next = min(schedule.isFetching ? .max : schedule.due, waiting.first?.until ?? .max)
      let wait = min(60_000, max(0, next - now))
      for (_, outcome) in client.wait(milliseconds: Int32(wait)) {
        schedule.end(isUsable: consumer(result(outcome)), now: now)
        for (asker, _) in waiting { asker(.fetched) }
        waiting = []
      }
      let time = now
      let late = waiting.prefix { $0.until <= time }
      waiting.removeFirst(late.count)
      for (asker, _) in late { asker(.late) }
    }
  }

  private static var now: Int64 { Int64(Instant.now().nanoseconds / 1_000_000) }

  private static func result(
    _ outcome: Result<WebAnswer, WebFailure>
  ) -> Result<[UInt8], Failure> {
    switch outcome {
    case .success(let answer) where answer.status == 200: .success(answer.body)
    case .success(let answer): .failure(Failure(found: "answered \(answer.status)"))
    case .failure(.network(_, let detail, _)):
      .failure(Failure(found: "could not be fetched (\(detail))"))
    case .failure(.tooLong(let limitBytes)):
      .failure(Failure(found: "is longer than \(limitBytes) bytes"))
    case .failure(.refused(let origin)):
      .failure(Failure(found: "leads to \(origin), which is not a public address"))
    case .failure(.stopped): .failure(Failure(found: "was not fetched"))
    }
  }
}
