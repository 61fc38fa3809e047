import Testing

@testable import Directories

@Suite struct `The limits of a service` {
  private let now: Int64 = 1_763_650_000_000

  private func answer(_ status: Int, _ headers: [String: String]) -> WebAnswer {
    WebAnswer(status: status, headers: WebHeaders(headers), body: [])
  }

  private func limits() -> RateLimits {
    RateLimits(prefix: "x-ratelimit-", pace: RateLimits.Pace())
  }

  private var reset: String { String(now / 1000 + 600) }

  @Test func `end at retry-after, in seconds or as a date`() {
    var limits = limits()
    let seconds = limits.recordRefused(answer(403, ["retry-after": "90"]), "core", now: now)
    #expect(seconds == RateLimit(until: now + 90_000, isKnown: true))
    let date = limits.recordRefused(
      answer(429, ["Retry-After": "Thu, 20 Nov 2025 15:00:00 GMT"]), "core", now: now)
    #expect(date == RateLimit(until: 1_763_650_800_000, isKnown: true))
    #expect(limits.limit("core", now: now + 1) == date)
    #expect(limits.limit("other", now: now + 1) == nil)
    #expect(limits.limit("core", now: date.until + 999) == date)
    #expect(limits.limit("core", now: date.until + 1000) == nil)
  }

  @Test func `end at the reset only if no requests remain`() {
    var limits = limits()
    let primary = answer(403, ["x-ratelimit-remaining": "0", "x-ratelimit-reset": reset])
    #expect(limits.recordRefused(primary, "core", now: now).until == now + 600_000)
    let secondary = answer(403, ["x-ratelimit-remaining": "12", "x-ratelimit-reset": reset])
    let guess = limits.recordRefused(secondary, "core", now: now)
    #expect(guess == RateLimit(until: now + 60_000, isKnown: false))
  }

  @Test func `last at least a minute, and longer each time, if no end is given`() {
    var limits = limits()
    let waits = (0..<8).map { _ in
      limits.recordRefused(answer(429, [:]), "core", now: now).until - now
    }
    #expect(waits.map { $0 / 60_000 } == [1, 2, 4, 8, 16, 32, 60, 60])
    limits.recordServed(WebHeaders(), "core", now: now)
    #expect(limits.recordRefused(answer(429, [:]), "core", now: now).until == now + 60_000)
  }

  @Test func `are ignored if they are absurd`() {
    for value in [
      "0", "99999999999", "-5", "soon", "9223372036854775807", "-9223372036854775808",
      "-9223372036854776", "1099511627775", "999999999999999999999999999999", "1e308",
    ] {
      var limits = limits()
      let headers = ["x-ratelimit-remaining": "0", "x-ratelimit-reset": value]
      #expect(!limits.recordRefused(answer(403, headers), "core", now: now).isKnown)
      limits.recordServed(WebHeaders(headers), "core", now: now)
      #expect(limits.limit("core", now: now) == nil)
      // Immediately, or after a guess: never for longer than a day.
      let refused = limits.recordRefused(answer(429, ["retry-after": value]), "core", now: now)
      #expect((now...now + 86_400_000).contains(refused.until))
    }
  }

  @Test func `are distinguished from other refusals`() {
    let limits = limits()
    #expect(limits.isLimit(answer(429, [:]), saying: nil))
    #expect(limits.isLimit(answer(403, ["retry-after": "1"]), saying: nil))
    #expect(limits.isLimit(answer(403, ["x-ratelimit-remaining": "0"]), saying: nil))
    #expect(
      limits.isLimit(answer(403, [:]), saying: "You have exceeded a secondary rate limit."))
    #expect(!limits.isLimit(answer(403, ["x-ratelimit-remaining": "9"]), saying: "Forbidden"))
    #expect(!limits.isLimit(answer(404, ["x-ratelimit-remaining": "0"]), saying: nil))
  }
}
