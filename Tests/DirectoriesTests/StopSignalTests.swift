import Platform
import Testing

@testable import Directories

@Suite struct `A signal to stop` {
  @Test func `ends a wait, and every later one`() throws {
    let signal = try StopSignal()
    let thread = try WorkerThread(name: "raiser") { signal.raise() }
    let time = ContinuousClock().measure {
      signal.wait(until: WallClock.milliseconds + 60_000)
      signal.wait(milliseconds: 60_000)
    }
    thread.join()
    #expect(signal.isRaised)
    #expect(time < .seconds(30))
  }

  @Test func `a wait lasts until its deadline, and returns immediately after it`() throws {
    let signal = try StopSignal()
    let end = WallClock.milliseconds + 50
    signal.wait(until: end)
    #expect(WallClock.milliseconds >= end)
    signal.wait(until: 0)
    #expect(!signal.isRaised)
  }
}
