import ShardWorld
import Testing
import Wire

@testable import Relay

/// Sends that follow a refused send to the same room are refused as well, to keep the order.
@Suite struct `After a refused send` {
  /// A client that may send ten a second has sent forty when the first of them is refused.
  private func refused() -> (SimulatedRelay, SimulatedSocket) {
    let relay = SimulatedRelay {
      unlimited(&$0)
      $0.limits.budget.sendsPerSecond = 10
      $0.limits.budget.burst = 1
    }
    let ada = relay.connect("ada")
    for id in 1...40 { ada.post("r", "\(id)") }
    relay.log.store.failsCommits = true
    relay.run()
    relay.log.store.failsCommits = false
    #expect(ada.take().errors.map(\.id) == ["1"])
    return (relay, ada)
  }

  @Test
  func
    `sends that a slowed client made before the refusal are refused, however late they are read`()
  {
    let (relay, ada) = refused()
    relay.run(forMilliseconds: 3950)
    let messages = ada.take()
    #expect(messages.acks.isEmpty)
    #expect(messages.errors.map(\.id) == (2...40).map { "\($0)" })
    #expect(messages.errors.allSatisfy { $0.code == .unavailable })
    relay.run(forMilliseconds: 1000)
    for id in 1...40 { ada.post("r", "\(id)") }
    relay.run(forMilliseconds: 5000)
    #expect(ada.take().acks.map(\.id) == (1...40).map { "\($0)" })
  }

  @Test func `sending the refused message again ends the hold`() {
    let (relay, ada) = refused()
    relay.run(forMilliseconds: 1000)
    // While most of the forty have yet to be read.
    for id in 1...40 { ada.post("r", "\(id)") }
    relay.run(forMilliseconds: 10_000)
    let messages = ada.take()
    #expect(messages.errors.map(\.id) == (2...40).map { "\($0)" })
    #expect(messages.acks.map(\.id) == (1...40).map { "\($0)" })
    #expect(messages.acks.map(\.seq) == Array(1...40))
  }

  @Test func `a log that starts again stores no send that overtakes an unanswered one`() {
    let relay = SimulatedRelay()
    let ada = relay.connect("ada")
    relay.logIsHeld = true
    ada.post("r", "1")
    relay.run()
    ada.post("r", "2")
    ada.post("r", "3")
    relay.run()
    relay.startAgain(in: "third")
    relay.logIsHeld = false
    relay.run()
    let messages = ada.take()
    #expect(messages.errors.map(\.id) == ["2", "3"])
    #expect(messages.errors.allSatisfy { $0.code == .unavailable })
    #expect(!ada.isOpen)
    #expect(relay.head("r") == 0)
    let again = relay.connect("ada")
    for id in 1...3 { again.post("r", "\(id)") }
    relay.run()
    #expect(again.take().acks.map(\.id) == ["1", "2", "3"])
  }

  @Test func `a client that gives up a refused message continues when its wait is over`() {
    let relay = SimulatedRelay()
    let ada = relay.connect("ada")
    relay.log.store.failsCommits = true
    ada.post("r", "1")
    relay.run()
    relay.log.store.failsCommits = false
    relay.run(forMilliseconds: 500)
    ada.post("r", "2")
    relay.run(forMilliseconds: 600)
    ada.post("r", "3")
    relay.run()
    let messages = ada.take()
    #expect(messages.errors.map(\.id) == ["1", "2"])
    #expect(messages.acks.map(\.id) == ["3"])
  }

  @Test func `the relay does not read from a client that does not read its answers`() {
    let relay = SimulatedRelay {
      unlimited(&$0)
      $0.limits.queueBytes = 4096
    }
    let ada = relay.connect("ada")
    relay.run()
    _ = ada.take()
    ada.space = 0
    relay.log.store.failsCommits = true
    for id in 1...1000 { ada.post("r", "\(id)") }
    relay.run()
    relay.log.store.failsCommits = false
    // The refusals fill its queue, and the rest of the thousand stays in its socket.
    relay.run(forMilliseconds: 10_000)
    #expect(!ada.input.isEmpty)
    ada.space = .max
    relay.run(forMilliseconds: 100)
    let messages = ada.take()
    #expect(messages.acks.isEmpty)
    #expect(messages.errors.map(\.id) == (1...1000).map { "\($0)" })
  }

  @Test(arguments: [0, 1, 60_000, 66_000, 100_000, 130_000])
  func `a client whose answer fills its queue is found to be full once`(space: Int) {
    let relay = SimulatedRelay { unlimited(&$0) }
    let ada = relay.connect("ada")
    for id in 1...16 { ada.post("r", "\(id)", text: String(repeating: "x", count: 8000)) }
    relay.run()
    _ = ada.take()
    ada.space = space
    for _ in 1...5 { ada.send(.history(.init(room: "r"))) }
    relay.run(forMilliseconds: 10_000)
    #expect(ada.pausesWithOutput == 1)
    #expect(!ada.input.isEmpty)
  }
}

@Suite struct `The refusals of a session` {
  @Test func `beyond the number of remembered rooms, the one that ends first is forgotten`() {
    var holds = Holds()
    for room in 0..<Holds.limit {
      holds.refuse("\(room)", id: "1", until: 1000 + Int64(room), isPaused: false, now: 0)
    }
    holds.refuse("one more", id: "1", until: 2000, isPaused: false, now: 500)
    #expect(holds.count == Holds.limit)
    #expect(holds.wait("0", id: "2", now: 600) == nil)
    #expect(holds.wait("1", id: "2", now: 600) == 401)
    #expect(holds.wait("one more", id: "2", now: 600) == 1400)
  }

  @Test func `sends beyond the remembered ids are held with their room`() {
    var holds = Holds()
    for id in 0...Holds.lineLimit {
      holds.refuse("r", id: "\(id)", until: 1000, isPaused: false, now: 0)
    }
    holds.refuse("r", id: "later", until: 2000, isPaused: false, now: 500)
    #expect(holds.wait("r", id: "\(Holds.lineLimit)", now: 1500) == 500)
    #expect(holds.wait("r", id: "later", now: 1500) == 500)
    #expect(holds.wait("r", id: "\(Holds.lineLimit - 1)", now: 1500) == nil)
  }

  @Test func `an earlier line, sent again while a later one holds the room, is stored before that`()
  {
    var holds = Holds()
    holds.refuse("r", id: "1", until: 1000, isPaused: false, now: 0)
    // Sent before the client learned of the refusal, and refused by the slow log.
    #expect(holds.wait("r", id: "2", now: 1001) == nil)
    holds.refuse("r", id: "2", until: 2100, isPaused: false, now: 1100)
    holds.pause(now: 1200)
    holds.resume(now: 1500)
    #expect(holds.wait("r", id: "1", now: 2200) == nil)
    #expect(holds.wait("r", id: "2", now: 2200) == nil)
  }

  @Test func `only running waits are extended by the time in which nothing is read`() {
    var holds = Holds()
    holds.refuse("over", id: "1", until: 1000, isPaused: false, now: 0)
    holds.refuse("r", id: "1", until: 1500, isPaused: false, now: 500)
    holds.pause(now: 1200)
    // An answer to what was read before.
    holds.refuse("r", id: "2", until: 2200, isPaused: true, now: 1300)
    holds.resume(now: 9000)
    #expect(holds.wait("over", id: "3", now: 9000) == nil)
    #expect(holds.wait("r", id: "3", now: 9000) == 900)
    #expect(holds.wait("r", id: "1", now: 9000) == nil)
  }
}

@Suite struct `The refusals of all sessions` {
  private let ada = SessionID(index: 1, generation: 0)
  private let later = SessionID(index: 1, generation: 1)

  @Test func `a hold is of one session and one room, and ends with its wait`() {
    var holds = SessionHolds()
    holds.refuse("r", 0, ada, now: 5000)
    #expect(holds.wait("r", 0, ada, now: 5400) == 600)
    #expect(holds.wait("q", 0, ada, now: 5400) == nil)
    #expect(holds.wait("r", 1, ada, now: 5400) == nil)
    #expect(holds.wait("r", 0, later, now: 5400) == nil)
    #expect(holds.wait("r", 0, ada, now: 6000) == nil)
  }

  @Test func `the rest of a wait does not prolong it`() {
    var holds = SessionHolds()
    holds.refuse("r", 0, ada, now: 5000)
    holds.refuse("r", 0, ada, for: 600, now: 5400)
    #expect(holds.wait("r", 0, ada, now: 5400) == 600)
  }

  @Test func `what is over is forgotten, and what was set before the clock was put back`() {
    var holds = SessionHolds()
    holds.refuse("r", 0, ada, now: 5000)
    holds.evictOver(now: 5500)
    holds.refuse("r", 0, later, now: 6001)
    holds.evictOver(now: 6501)
    #expect(holds.count == 1)
    #expect(holds.wait("r", 0, later, now: 6501) == 500)
    #expect(holds.wait("r", 0, later, now: 1000) == nil)
    holds.evictOver(now: 1000)
    #expect(holds.count == 0)
  }
}
