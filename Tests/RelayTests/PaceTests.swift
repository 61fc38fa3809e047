import ShardWorld
import Testing
import Wire

@testable import Relay

@Suite struct `Entries that share writes` {
  @Test func `committed entries wait once for entries of their room that are in the log`() {
    let (relay, ada, bo) = pair()
    let before = (ada: ada.writes, bo: bo.writes)
    ada.post("r", "1")
    relay.turn(0)
    ada.post("r", "2")
    relay.process()
    // 1 is there while 2 goes to the log.
    relay.turn(0)
    #expect(ada.writes == before.ada)
    #expect(bo.writes == before.bo)
    relay.process()
    ada.post("r", "3")
    // 2 is there while 3 goes to the log: it was waited for once.
    relay.turn(0)
    #expect(bo.take().entries.map(\.seq) == [1, 2])
    let toAda = ada.take()
    #expect(toAda.entries.map(\.seq) == [1, 2])
    #expect(toAda.acks.map(\.seq) == [1, 2])
    #expect(ada.writes == before.ada + 1)
    #expect(bo.writes == before.bo + 1)
    relay.run()
    #expect(bo.take().entries.map(\.seq) == [3])
  }

  @Test func `a log that is stuck holds nothing for longer than 5 ms`() {
    let (relay, ada, bo) = pair()
    ada.post("r", "1")
    relay.turn(0)
    ada.post("r", "2")
    relay.process()
    relay.logIsHeld = true
    relay.run(forMilliseconds: 4)
    #expect(bo.take().entries.isEmpty)
    relay.run(forMilliseconds: 1)
    #expect(bo.take().entries.map(\.seq) == [1])
    #expect(ada.take().acks.map(\.seq) == [1])
  }

  @Test func `entries of other rooms in the log are not waited for`() {
    let (relay, ada, bo) = pair()
    ada.post("r", "1")
    relay.turn(0)
    ada.post("elsewhere", "2")
    relay.process()
    relay.turn(0)
    #expect(bo.take().entries.map(\.seq) == [1])
  }

  @Test func `nothing is held if the configuration disables it`() {
    let (relay, ada, bo) = pair { $0.holds = false }
    ada.post("r", "1")
    relay.turn(0)
    ada.post("r", "2")
    relay.process()
    relay.turn(0)
    #expect(bo.take().entries.map(\.seq) == [1])
  }

  @Test(arguments: [2, 500])
  func `with one message in flight none waits`(members: Int) {
    let (relay, ada, bo) = pair()
    for member in 2..<members { relay.connect("m\(member)").join("r") }
    relay.run(forMilliseconds: 200)
    for id in 1...50 {
      ada.post("r", "\(id)")
      // Submitted, committed, delivered: no time passes.
      relay.turn(0)
      relay.process()
      relay.turn(0)
      #expect(bo.take().entries.map(\.seq) == [Int64(id)])
      #expect(ada.take().acks.map(\.seq) == [Int64(id)])
    }
  }

  @Test
  func `in a large room a fan-out waits as long as the last one took, acks leave immediately`() {
    let (relay, ada, bo) = crowd()
    post(ada, 1...2)
    relay.run()
    #expect(bo.take().entries.count == 2)
    let writes = bo.writes
    _ = ada.take()
    post(ada, 3...4)
    relay.run()
    #expect(bo.take().entries.isEmpty)
    #expect(ada.take().acks.map(\.seq) == [3, 4])
    post(ada, 5...8)
    relay.run(forMilliseconds: 10)
    #expect(bo.take().entries.map(\.seq) == Array(3...8))
    #expect(bo.writes == writes + 1)
  }

  @Test func `no fan-out waits where the configuration does not want it`() {
    let (relay, ada, bo) = crowd { $0.pacingMilliseconds = 0 }
    for round in 0..<10 {
      post(ada, round * 2...round * 2 + 1)
      relay.run()
      #expect(bo.take().entries.count == 2)
    }
  }

  @Test func `a client that joins while entries wait gets each once`() {
    let (relay, ada, _) = crowd()
    post(ada, 1...2)
    relay.run()
    post(ada, 3...4)
    relay.run()
    let late = (0...4).map { after in
      let socket = relay.connect("late\(after)")
      socket.join("r", after: Int64(after))
      return socket
    }
    relay.run(forMilliseconds: 10)
    post(ada, 5...6)
    relay.run(forMilliseconds: 10)
    for (after, socket) in late.enumerated() {
      #expect(socket.take().entries.map(\.seq) == Array(Int64(after + 1)...6))
    }
  }

  @Test func `a shutdown delivers waiting entries before it closes`() {
    let (relay, ada, bo) = crowd()
    post(ada, 1...2)
    relay.run()
    post(ada, 3...4)
    relay.run()
    relay.shard { $0.beginShutdown() }
    #expect(!relay.shard { $0.isIdle })
    relay.run(forMilliseconds: 10)
    #expect(relay.shard { $0.isIdle })
    #expect(bo.take().entries.map(\.seq) == [1, 2, 3, 4])
  }

  @Test func `waits that gain nothing become rare, and return when they gain`() {
    var pace = Pace()
    var now: Int64 = 0
    var waits = 0
    func fanOut(_ gained: Int32) {
      now += 1000
      if pace.waits(count: 8, now: now, length: 1000, batchInLog: 0, limits: .init()) {
        waits += 1
        now = pace.dueAt
        let stillWaits = pace.waits(
          count: 8 + gained, now: now, length: 1000, batchInLog: 0, limits: .init())
        #expect(!stillWaits)
      }
    }
    for _ in 0..<1000 { fanOut(0) }
    #expect((10..<30).contains(waits))
    for _ in 0..<200 { fanOut(8) }
    waits = 0
    for _ in 0..<100 { fanOut(8) }
    #expect(waits == 100)
  }

  /// Two members of a room, both at the head.
  private func pair(
    _ configure: (inout Shard.Configuration) -> Void = { _ in }
  ) -> (SimulatedRelay, SimulatedSocket, SimulatedSocket) {
    let relay = SimulatedRelay {
      unlimited(&$0)
      configure(&$0)
    }
    let (ada, bo) = (relay.connect("ada"), relay.connect("bo"))
    for socket in [ada, bo] { socket.join("r") }
    relay.run(forMilliseconds: 200)
    for socket in [ada, bo] { _ = socket.take() }
    return (relay, ada, bo)
  }

  /// As `pair`, in a room of 500.
  private func crowd(
    _ configure: (inout Shard.Configuration) -> Void = { _ in }
  ) -> (SimulatedRelay, SimulatedSocket, SimulatedSocket) {
    let (relay, ada, bo) = pair(configure)
    for member in 2..<500 { relay.connect("m\(member)").join("r") }
    relay.run(forMilliseconds: 200)
    for socket in [ada, bo] { _ = socket.take() }
    return (relay, ada, bo)
  }

  private func post(_ socket: SimulatedSocket, _ ids: ClosedRange<Int>) {
    for id in ids { socket.post("r", "\(id)") }
  }
}
