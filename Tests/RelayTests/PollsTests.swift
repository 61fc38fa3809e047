import Testing

@testable import Relay

@Suite final class `Sessions that poll a room` {
  private var polls = Polls()
  private let (ada, bo) = (
    SessionID(index: 0, generation: 1), SessionID(index: 1, generation: 2)
  )

  private func takeWoken() -> [SessionID] { polls.takeWoken() }

  @Test func `wait for an entry after the one that they know`() {
    polls.begin(ada, "a")
    polls.begin(bo, "b")
    let waits = [polls.wait(ada, after: 3), polls.wait(bo, after: 0)]
    #expect(waits == [true, true])
    polls.wake("a", head: 3)
    #expect(takeWoken() == [])
    polls.wake("a", head: 5)
    #expect(takeWoken() == [ada])
    #expect(takeWoken() == [])
  }

  @Test func `do not wait if the entry was committed while the room was read`() {
    polls.begin(ada, "a")
    polls.wake("a", head: 4)
    #expect(takeWoken() == [])
    var waits = polls.wait(ada, after: 3)
    #expect(!waits)
    waits = polls.wait(ada, after: 4)
    #expect(waits)
  }

  @Test func `are woken once, and wait again if they ask`() {
    polls.begin(ada, "a")
    for head in 1...3 as ClosedRange<Int64> {
      _ = polls.wait(ada, after: head - 1)
      polls.wake("a", head: head)
      polls.wake("a", head: head)
      #expect(takeWoken() == [ada])
    }
  }

  @Test func `are forgotten when they end`() {
    polls.begin(ada, "a")
    let waits = polls.wait(ada, after: 0)
    #expect(waits)
    polls.end(ada)
    polls.wake("a", head: 1)
    #expect(takeWoken() == [])
    #expect(polls.isEmpty)
    let waitsStill = polls.wait(ada, after: 1)
    #expect(!waitsStill)
  }

  @Test func `of a busy room may come and go`() {
    polls.begin(ada, "a")
    _ = polls.wait(ada, after: 0)
    for generation in 10..<1000 as Range<UInt32> {
      let id = SessionID(index: 5, generation: generation)
      polls.begin(id, "a")
      polls.end(id)
    }
    polls.wake("a", head: 1)
    #expect(takeWoken() == [ada])
    #expect(polls.count == 1)
  }
}
