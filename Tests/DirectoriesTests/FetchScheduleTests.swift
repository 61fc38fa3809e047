import Testing

@testable import Directories

@Suite struct `When a document is fetched` {
  private var schedule = FetchSchedule(
    refreshMilliseconds: 3_600_000, pauseMilliseconds: 30_000, now: 1000)

  private mutating func expectAsking(
    at now: Int64, isAnswered: Bool = true, _ location: SourceLocation = #_sourceLocation
  ) {
    let answer = schedule.ask(now: now)
    #expect(answer == isAnswered, sourceLocation: location)
  }

  private mutating func fetch(at now: Int64, isUsable: Bool = true) {
    schedule.begin(now: now)
    schedule.end(isUsable: isUsable, now: now + 100)
  }

  @Test mutating func `at once, then at intervals, and sooner after a failure`() {
    #expect(schedule.due == 1000)
    fetch(at: 1000)
    #expect(schedule.due == 3_601_100)
    fetch(at: 3_601_100, isUsable: false)
    #expect(schedule.due == 3_631_200)
  }

  @Test mutating func `when asked, but at most once in 30 s`() {
    fetch(at: 1000)
    expectAsking(at: 2000)
    #expect(schedule.due == 2000)
    fetch(at: 2000)
    for now in stride(from: Int64(2200), to: 32_000, by: 700) {
      expectAsking(at: now, isAnswered: false)
      #expect(schedule.due == 3_602_100)
    }
    expectAsking(at: 32_000)
    #expect(schedule.due == 32_000)
    fetch(at: 32_000)
    expectAsking(at: 61_999, isAnswered: false)
    expectAsking(at: 70_000)
    #expect(schedule.due == 70_000)
  }

  @Test mutating func `asking after a failure hurries only once`() {
    fetch(at: 1000, isUsable: false)
    expectAsking(at: 5000)
    #expect(schedule.due == 5000)
    fetch(at: 5000, isUsable: false)
    expectAsking(at: 6000, isAnswered: false)
    #expect(schedule.due == 35_100)
  }

  @Test mutating func `asking before and during a fetch changes nothing, a demand repeats it`() {
    expectAsking(at: 1000)
    schedule.begin(now: 1000)
    expectAsking(at: 1010)
    schedule.end(isUsable: true, now: 1100)
    #expect(schedule.due == 3_601_100)
    schedule.begin(now: 5000)
    schedule.demand(now: 5010)
    schedule.end(isUsable: true, now: 5100)
    #expect(schedule.due == 5100)
    fetch(at: 5100)
    schedule.demand(now: 5300)
    #expect(schedule.due == 5300)
  }
}
