internal import Platform
internal import Relay

/// The loop of a remote directory: reads the list, waits, reads it again. Confined to the
/// directory's thread.
final class DirectoryRefresher {
  private let run: RemoteRun
  private let exchange: Exchange
  private let publish: (DirectoryUpdate) -> Void
  private var state: DirectoryState
  private var people: PeopleList
  private var problem: DirectoryProblem?
  /// The number of consecutive failures.
  private var failures = 0

  init(_ run: RemoteRun, publish: @escaping (DirectoryUpdate) -> Void) {
    self.run = run
    self.publish = publish
    let options = run.options
    state = run.store?.readState(of: run.identity) ?? DirectoryState(identity: run.identity)
    var web = WebOptions(WebReach(origin: run.base.origin, others: options.mayConnect))
    web.userAgent = options.userAgent
    web.connectTimeoutMilliseconds = options.connectTimeoutMilliseconds
    web.timeoutMilliseconds = options.requestTimeoutMilliseconds
    let pace = RateLimits.Pace(
      shortestMilliseconds: options.unknownLimitMilliseconds.lowerBound,
      longestMilliseconds: options.unknownLimitMilliseconds.upperBound,
      slackMilliseconds: options.limitSlackMilliseconds)
    exchange = Exchange(
      run.manners, base: run.base, credentials: run.credentials,
      client: WebClient(web, wakeDescriptor: run.stop.descriptor),
      limits: RateLimits(prefix: run.manners.limitPrefix, pace: pace, limits: state.limits),
      stop: run.stop)
    people = PeopleList([], source: run.source, asOf: 0)
  }

  /// Runs until the directory is stopped.
  func work() {
    refreshPeople()
    var due = state.walk == nil && state.asOf > 0 ? nextRefresh : 0
    publishCurrent()
    while true {
      run.stop.wait(until: due)
      guard !run.stop.isRaised else { return }
      do throws(FetchError) {
        try readAll()
        failures = 0
        problem = nil
        refreshPeople()
        keep()
        publishCurrent()
        due = nextRefresh
      } catch {
        keep()
        guard let problem = error.problem else { return }
        due = tryAgain(after: error)
        announce(problem, error)
      }
    }
  }

  // MARK: - Reading

  /// Reads the remaining pages of the list in progress, or a new list.
  private func readAll() throws(FetchError) {
    let now = WallClock.milliseconds
    if let walk = state.walk, abs(now - walk.began) > PageWalk.lifetimeMilliseconds {
      state.walk = nil
    }
    do throws(FetchError) {
      var walk: PageWalk
      if let begun = state.walk {
        walk = begun
      } else {
        walk = PageWalk(from: try run.service.firstPage(exchange, &state.memory), at: now)
      }
      let known = Dictionary(state.pages.map { ($0.url, $0) }, uniquingKeysWith: { $1 })
      while let next = walk.next {
        guard !walk.isCircle else {
          throw lost("The pages of \(run.manners.name) form a cycle.")
        }
        walk.take(try read(next, known[next]))
        cutIfTooLong(&walk)
        state.walk = walk
      }
      state.pages = walk.pages
      state.asOf = WallClock.milliseconds
      state.walk = nil
    } catch {
      if case .failed(let failure) = error, failure.isLost {
        state.walk = nil
        state.memory = [:]
      }
      throw error
    }
  }

  private func read(_ url: String, _ known: Page?) throws(FetchError) -> Page {
    let etag = known?.etag
    if let page = try run.service.page(url, etag: etag, exchange) { return page }
    // An ETag is sent only for a known page.
    guard let known else {
      throw lost("\(run.manners.name) reported an unknown page as unchanged.")
    }
    return known
  }

  private func cutIfTooLong(_ walk: inout PageWalk) {
    guard walk.count >= run.options.peopleLimit, walk.next != nil else { return }
    walk.next = nil
    run.report(
      "\(run.source) has more than \(run.options.peopleLimit) people; the rest is left out (directory.max)."
    )
  }

  private func lost(_ text: String) -> FetchError {
    .failed(FetchError.Failure(text: text, isLost: true))
  }

  // MARK: - Time

  /// When the list is read next, in milliseconds since 1970. Not before the known rate limits end.
  private var nextRefresh: Int64 {
    // If the clock was set back, the refresh must not be delayed for years.
    let due = min(state.asOf, WallClock.milliseconds) + run.options.refreshMilliseconds
    return max(due, exchange.limits.limits.values.map(exchange.limits.ready).max() ?? 0)
  }

  private func tryAgain(after error: FetchError) -> Int64 {
    if case .limited(let limit) = error { return exchange.limits.ready(limit) }
    let delays = run.options.retryMilliseconds
    let delay = min(delays.upperBound, delays.lowerBound << min(failures, 20))
    failures += 1
    return WallClock.milliseconds + delay
  }

  // MARK: - Publishing

  private func refreshPeople() {
    guard state.asOf > 0 else { return }
    let listing = state.listing
    people = PeopleList(
      Array(listing.people.prefix(run.options.peopleLimit)), source: run.source, asOf: state.asOf,
      leftOut: listing.leftOut)
  }

  private func keep() {
    let now = WallClock.milliseconds
    state.limits = exchange.limits.limits.filter { exchange.limits.ready($0.value) > now }
    run.store?.write(state)
  }

  private func announce(_ new: DirectoryProblem, _ error: FetchError) {
    let isOld = new.isSame(as: problem)
    problem = new
    guard !isOld else { return }
    if case .failed(let failure) = error, let detail = failure.detail {
      run.report("\(failure.text) \(detail)")
    }
    publishCurrent()
  }

  private func publishCurrent() {
    publish(DirectoryUpdate(people: people, problem: problem))
  }
}

extension DirectoryProblem {
  /// Whether two problems are the same, apart from the id of the failed request.
  fileprivate func isSame(as other: DirectoryProblem?) -> Bool {
    if case .failed(let text, _) = self, case .failed(let otherText, _)? = other {
      return text == otherText
    }
    return self == other
  }
}
