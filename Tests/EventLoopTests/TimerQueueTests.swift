import Platform
import Testing

@testable import EventLoop

@Suite struct `Timer queue` {
  private func at(_ nanoseconds: UInt64) -> Instant { Instant(nanoseconds: nanoseconds) }

  private func fired(_ queue: inout TimerQueue, at now: Instant) -> [UInt64] {
    let mark = queue.mark
    var tokens: [UInt64] = []
    while let (_, token) = queue.popDue(at: now, before: mark) { tokens.append(token) }
    return tokens
  }

  private func moved(_ queue: inout TimerQueue, _ timer: TimerID, at deadline: Instant) -> Bool {
    queue.reschedule(timer, at: deadline)
  }

  private func next(_ queue: inout TimerQueue, at now: Instant, before mark: UInt64) -> UInt64? {
    queue.popDue(at: now, before: mark)?.token
  }

  @Test func `ten thousand timers fire in order and cancelled ones do not`() {
    var queue = TimerQueue()
    var random = SystemRandomNumberGenerator()
    var timers: [(id: TimerID, deadline: UInt64, token: UInt64)] = []
    for token in 0..<10_000 as Range<UInt64> {
      // Many share a deadline: these must fire in the order in which they were scheduled.
      let deadline = UInt64.random(in: 1...1000, using: &random)
      timers.append((queue.schedule(at: at(deadline), token: token), deadline, token))
    }
    var expected: [(deadline: UInt64, token: UInt64)] = []
    for timer in timers {
      if timer.token % 3 == 0 {
        queue.cancel(timer.id)
      } else {
        expected.append((timer.deadline, timer.token))
      }
    }
    expected.sort { ($0.deadline, $0.token) < ($1.deadline, $1.token) }
    #expect(queue.count == expected.count)

    var tokens: [UInt64] = []
    for now in stride(from: 0, through: 1000, by: 7) {
      tokens += fired(&queue, at: at(UInt64(now)))
    }
    tokens += fired(&queue, at: at(1000))
    #expect(tokens == expected.map(\.token))
    #expect(queue.count == 0)
    #expect(queue.nextDeadline == nil)
  }

  @Test func `none fires before its time`() {
    var queue = TimerQueue()
    _ = queue.schedule(at: at(100), token: 1)
    #expect(fired(&queue, at: at(99)) == [])
    #expect(fired(&queue, at: at(100)) == [1])
    #expect(fired(&queue, at: at(200)) == [])
  }

  @Test func `a moved timer fires once, at its last deadline, earlier or later`() {
    var queue = TimerQueue()
    let timer = queue.schedule(at: at(100), token: 1)
    #expect(moved(&queue, timer, at: at(300)))
    #expect(fired(&queue, at: at(299)) == [])
    #expect(moved(&queue, timer, at: at(301)))
    #expect(moved(&queue, timer, at: at(50)))
    #expect(queue.nextDeadline == at(50))
    #expect(fired(&queue, at: at(50)) == [1])
    #expect(!moved(&queue, timer, at: at(400)))
    #expect(fired(&queue, at: at(1000)) == [])
  }

  @Test func `pushing a timer back a million times leaves one entry`() {
    var queue = TimerQueue()
    let timer = queue.schedule(at: at(1), token: 1)
    for deadline in 2...1_000_000 as ClosedRange<UInt64> {
      #expect(moved(&queue, timer, at: at(deadline)))
    }
    #expect(queue.entryCount == 1)
    #expect(fired(&queue, at: at(999_999)) == [])
    #expect(fired(&queue, at: at(1_000_000)) == [1])
  }

  @Test func `the number of dead entries is bounded by the number of live ones`() {
    var queue = TimerQueue()
    let kept = queue.schedule(at: at(1_000_000), token: 7)
    for deadline in 1...10_000 as ClosedRange<UInt64> {
      queue.cancel(queue.schedule(at: at(deadline), token: 0))
      #expect(moved(&queue, kept, at: at(2_000_000 - deadline)))
    }
    #expect(queue.entryCount <= 2 * 1 + 65)
    #expect(fired(&queue, at: at(2_000_000)) == [7])
  }

  @Test func `an ID is invalid once its timer is gone, also when its slot is reused`() {
    var queue = TimerQueue()
    let first = queue.schedule(at: at(1), token: 1)
    queue.cancel(first)
    let second = queue.schedule(at: at(2), token: 2)
    queue.cancel(first)
    #expect(!moved(&queue, first, at: at(9)))
    #expect(first != second)
    #expect(fired(&queue, at: at(2)) == [2])
  }

  @Test func `a timer that is scheduled while timers fire waits for the next turn`() {
    var queue = TimerQueue()
    _ = queue.schedule(at: at(1), token: 1)
    let mark = queue.mark
    #expect(next(&queue, at: at(5), before: mark) == 1)
    _ = queue.schedule(at: at(1), token: 2)
    #expect(next(&queue, at: at(5), before: mark) == nil)
    #expect(fired(&queue, at: at(5)) == [2])
  }
}
