import Client
import Testing

@Suite struct `Backoff with full jitter` {
  private struct Highest: RandomNumberGenerator {
    func next() -> UInt64 { .max }
  }

  private struct Lowest: RandomNumberGenerator {
    // Not 0, which Swift's own range reduction rejects endlessly.
    func next() -> UInt64 { 1 }
  }

  @Test func `the bound doubles up to the limit and stays there`() {
    var backoff = Backoff(firstMilliseconds: 200, limitMilliseconds: 10_000)
    var generator = Highest()
    let waits = (0..<9).map { _ in backoff.nextMilliseconds(using: &generator) }
    #expect(waits == [200, 400, 800, 1600, 3200, 6400, 10_000, 10_000, 10_000])
  }

  @Test func `the jitter reaches down to nothing`() {
    var backoff = Backoff(firstMilliseconds: 200, limitMilliseconds: 10_000)
    var generator = Lowest()
    let waits = (0..<9).map { _ in backoff.nextMilliseconds(using: &generator) }
    #expect(waits == Array(repeating: 0, count: 9))
  }

  @Test func `after a good connection the next failure counts as the first`() {
    var backoff = Backoff(firstMilliseconds: 100, limitMilliseconds: 1000)
    var generator = Highest()
    for _ in 0..<5 { _ = backoff.nextMilliseconds(using: &generator) }
    backoff.reset()
    #expect(backoff.nextMilliseconds(using: &generator) == 100)
  }
}
