/// The limits of a service, as its answers tell them. Some have one for each kind of request: a
/// bucket is a name for those that share one.
struct RateLimits {
  /// How a limit is waited for.
  struct Pace: Sendable {
    /// Where the server does not say how long; doubled each time up to `longest`.
    var shortestMilliseconds: Int64 = 60_000
    var longestMilliseconds: Int64 = 3_600_000
    /// Added to what the server says, since clocks differ and it counts in seconds.
    var slackMilliseconds: Int64 = 1000
  }

  /// A header that says more than this is not believed.
  private static let credibleMilliseconds: Int64 = 24 * 3_600_000

  private(set) var limits: [String: RateLimit]
  /// Refusals in a row that did not say how long.
  private var guesses: [String: Int] = [:]
  /// `x-ratelimit-` or `x-rate-limit-`.
  private let prefix: String
  private let pace: Pace

  init(prefix: String, pace: Pace, limits: [String: RateLimit] = [:]) {
    self.prefix = prefix
    self.pace = pace
    self.limits = limits
  }

  /// What is waited for before the next request; `nil` where it may go.
  func limit(_ bucket: String, now: Int64) -> RateLimit? {
    limits[bucket].flatMap { now < ready($0) ? $0 : nil }
  }

  /// When something may be asked again.
  func ready(_ limit: RateLimit) -> Int64 {
    limit.until + (limit.isKnown ? pace.slackMilliseconds : 0)
  }

  /// Takes note of an answer that was no refusal.
  mutating func noteServed(_ headers: WebHeaders, _ bucket: String, now: Int64) {
    guesses[bucket] = nil
    limits[bucket] = isExhausted(headers) ? reset(headers, now: now) : nil
  }

  /// Whether there is a limit behind a refusal: by its status, its headers or its words.
  func isLimit(_ answer: WebAnswer, saying message: String?) -> Bool {
    if answer.status == 429 { return true }
    guard answer.status == 403 else { return false }
    return answer.headers["retry-after"] != nil || isExhausted(answer.headers)
      || message?.lowercased().contains("rate limit") == true
  }

  /// Takes note of a refusal.
  mutating func noteRefused(_ answer: WebAnswer, _ bucket: String, now: Int64) -> RateLimit {
    let headers = answer.headers
    // A refusal with 429 may leave out how much remains: then its reset is what counts.
    let mayReset = isExhausted(headers) || headers["\(prefix)remaining"] == nil
    let known = retryAfter(headers, now: now) ?? (mayReset ? reset(headers, now: now) : nil)
    if let known {
      limits[bucket] = known
      return known
    }
    let count = guesses[bucket, default: 0]
    guesses[bucket] = count + 1
    let wait = min(pace.longestMilliseconds, pace.shortestMilliseconds << min(count, 20))
    let guess = RateLimit(until: now + wait, isKnown: false)
    limits[bucket] = guess
    return guess
  }

  // MARK: - Headers

  private func isExhausted(_ headers: WebHeaders) -> Bool {
    headers["\(prefix)remaining"].flatMap { Int($0) } == 0
  }

  private func reset(_ headers: WebHeaders, now: Int64) -> RateLimit? {
    guard let seconds = headers["\(prefix)reset"].flatMap({ Int64($0) }),
      (0..<1 << 40).contains(seconds)
    else { return nil }
    return credible(seconds * 1000 + skew(headers, now: now), now: now)
  }

  /// Seconds, or a date (RFC 9110 §10.2.3).
  private func retryAfter(_ headers: WebHeaders, now: Int64) -> RateLimit? {
    guard let field = headers["retry-after"] else { return nil }
    if let seconds = Int64(field) {
      return seconds < 1 << 40 ? credible(now + max(1, seconds) * 1000, now: now) : nil
    }
    return WebClient.date(field).flatMap { credible($0 + skew(headers, now: now), now: now) }
  }

  private func credible(_ until: Int64, now: Int64) -> RateLimit? {
    now < until && until <= now + Self.credibleMilliseconds
      ? RateLimit(until: until, isKnown: true) : nil
  }

  /// How far our clock is ahead of the server's, which counts in seconds: less than a minute may be
  /// the way of the answer.
  private func skew(_ headers: WebHeaders, now: Int64) -> Int64 {
    guard let date = headers["date"].flatMap({ WebClient.date($0) }) else { return 0 }
    return abs(now - date) < 60_000 ? 0 : now - date
  }
}
