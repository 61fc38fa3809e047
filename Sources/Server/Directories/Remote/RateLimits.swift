/// The rate limits of a service, taken from its responses. Some services have one for each kind of
/// request: a bucket is the name of the requests that share one.
struct RateLimits {
  /// How long to wait for a limit.
  struct Pace: Sendable {
    /// The first wait if the server does not send a time; doubled each time up to `longest`.
    var shortestMilliseconds: Int64 = 60_000
    var longestMilliseconds: Int64 = 3_600_000
    /// Added to the server's time, since clocks differ and it counts in seconds.
    var slackMilliseconds: Int64 = 1000
  }

  /// Times further ahead than this are ignored.
  private static let credibleMilliseconds: Int64 = 24 * 3_600_000

  private(set) var limits: [String: RateLimit]
  /// Consecutive refusals without a time, by bucket.
  private var guesses: [String: Int] = [:]
  /// `x-ratelimit-` or `x-rate-limit-`.
  private let prefix: String
  private let pace: Pace

  init(prefix: String, pace: Pace, limits: [String: RateLimit] = [:]) {
    self.prefix = prefix
    self.pace = pace
    self.limits = limits
  }

  /// Returns the limit to wait for before the next request; `nil` if it may be sent.
  func limit(_ bucket: String, now: Int64) -> RateLimit? {
    limits[bucket].flatMap { now < ready($0) ? $0 : nil }
  }

  /// Returns when the next request may be sent.
  func ready(_ limit: RateLimit) -> Int64 {
    limit.until + (limit.isKnown ? pace.slackMilliseconds : 0)
  }

  /// Records a response that is not a refusal.
  mutating func recordServed(_ headers: WebHeaders, _ bucket: String, now: Int64) {
    guesses[bucket] = nil
    limits[bucket] = isExhausted(headers) ? reset(headers, now: now) : nil
  }

  /// Whether a refusal is due to a rate limit, by its status, headers or message.
  func isLimit(_ answer: WebAnswer, saying message: String?) -> Bool {
    if answer.status == 429 { return true }
    guard answer.status == 403 else { return false }
    return answer.headers["retry-after"] != nil || isExhausted(answer.headers)
      || message?.lowercased().contains("rate limit") == true
  }

  /// Records a refusal.
  mutating func recordRefused(_ answer: WebAnswer, _ bucket: String, now: Int64) -> RateLimit {
    let headers = answer.headers
    // A 429 may omit the remaining count: then its reset time applies.
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

  /// Parses seconds or a date (RFC 9110 §10.2.3).
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

  /// Returns how far the local clock is ahead of the server's. Less than a minute counts as 0: the
  /// server's time is in seconds, and the response takes time to arrive.
  private func skew(_ headers: WebHeaders, now: Int64) -> Int64 {
    guard let date = headers["date"].flatMap({ WebClient.date($0) }) else { return 0 }
    return abs(now - date) < 60_000 ? 0 : now - date
  }
}
