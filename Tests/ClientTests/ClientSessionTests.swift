import Client
import Testing
import Wire

@Suite struct `Session, on a simulated clock` {
  @Test func `a room is joined again after the last entry that was delivered`() {
    let sim = SimulatedSession()
    sim.join()
    #expect(sim.takeTransmitted() == [])
    sim.welcome()
    #expect(sim.takeTransmitted() == [.join(.init(room: "r"))])
    #expect(sim.joined("r", head: 5, after: 5))
    sim.entry(6)
    sim.entry(7)
    sim.disconnect()
    sim.reconnect()
    sim.welcome()
    #expect(sim.takeTransmitted() == [.join(.init(room: "r", after: 7, epoch: "e1"))])
  }

  @Test func `duplicates are dropped, also those that a new connection brings`() {
    let sim = SimulatedSession()
    sim.join(from: .after(0, epoch: nil))
    sim.welcome()
    _ = sim.joined("r", head: 2, after: 0)
    #expect(sim.entry(1))
    #expect(!sim.entry(1))
    sim.entry(2)
    sim.disconnect()
    sim.reconnect()
    sim.welcome()
    // An entry of the old cursor, and an answer that begins too early.
    #expect(!sim.entry(3))
    _ = sim.joined("r", head: 3, after: 1)
    for seq in 1...3 as ClosedRange<Int64> { sim.entry(seq) }
    #expect(sim.deliveredSequences == [1, 2, 3])
  }

  @Test func `entries that were read elsewhere move the cursor if they are next`() {
    let sim = SimulatedSession()
    sim.join()
    var hint = 7
    #expect(!sim.advance("r", from: 6, count: 1, hint: &hint), "not joined")
    sim.welcome()
    _ = sim.joined("r", head: 5, after: 5)
    #expect(sim.advance("r", from: 6, count: 3, hint: &hint))
    #expect(hint == 0)
    #expect(!sim.advance("r", from: 8, count: 1, hint: &hint), "again")
    #expect(!sim.advance("r", from: 10, count: 1, hint: &hint), "one is missing")
    #expect(!sim.advance("other", from: 9, count: 1, hint: &hint))
    sim.entry(9)
    #expect(sim.deliveredSequences == [9])
    sim.disconnect()
    #expect(!sim.advance("r", from: 10, count: 1, hint: &hint), "no connection")
    sim.reconnect()
    sim.welcome()
    #expect(sim.takeTransmitted().last == .join(.init(room: "r", after: 9, epoch: "e1")))
  }

  @Test func `after a gap the cursor starts again from its last position`() {
    let sim = SimulatedSession()
    sim.join(from: .after(0, epoch: nil))
    sim.welcome()
    _ = sim.joined("r", head: 4, after: 0)
    sim.entry(1)
    _ = sim.takeTransmitted()
    #expect(!sim.entry(3))
    #expect(!sim.entry(4))
    #expect(sim.takeTransmitted() == [.join(.init(room: "r", after: 1, epoch: "e1"))])
    _ = sim.joined("r", head: 4, after: 1)
    for seq in 2...4 as ClosedRange<Int64> { sim.entry(seq) }
    #expect(sim.deliveredSequences == [1, 2, 3, 4])
  }

  @Test func `a relay that skips the same entry twice is disconnected`() {
    let sim = SimulatedSession()
    sim.join(from: .after(0, epoch: nil))
    sim.welcome()
    _ = sim.joined("r", head: 4, after: 0)
    sim.entry(2)
    _ = sim.joined("r", head: 4, after: 0)
    sim.entry(2)
    #expect(sim.abandons == 1)
    guard case .disconnected(.gap(room: "r", after: 0), _) = sim.events.last else {
      Issue.record("told \(String(describing: sim.events.last))")
      return
    }
  }

  @Test(arguments: [
    (ServerMessage.Resume.truncated, 40 as Int64, 41...42 as ClosedRange<Int64>),
    (.diverged, 2, 3...4), (.reset, 0, 1...2),
  ])
  func `every outcome of resuming is reported, and entries follow from there`(
    resume: ServerMessage.Resume, after: Int64, following: ClosedRange<Int64>
  ) {
    let sim = SimulatedSession()
    sim.join(from: .after(0, epoch: nil))
    sim.welcome()
    _ = sim.joined("r", head: 5, after: 0)
    for seq in 1...5 as ClosedRange<Int64> { sim.entry(seq) }
    sim.disconnect()
    sim.reconnect()
    sim.welcome()
    _ = sim.takeEvents()
    _ = sim.joined("r", head: 50, after: after, epoch: "e2", resume: resume)
    for seq in following { sim.entry(seq) }
    guard case .joined(let joined) = sim.events.first else {
      Issue.record("told \(String(describing: sim.events.first))")
      return
    }
    #expect(joined.resume == resume)
    #expect(sim.deliveredSequences == Array(following))
    // The epoch that came with the last seq is stored with it.
    sim.disconnect()
    sim.reconnect()
    _ = sim.takeTransmitted()
    sim.welcome()
    #expect(
      sim.takeTransmitted() == [.join(.init(room: "r", after: following.upperBound, epoch: "e2"))])
  }

  @Test func `the reported lineage is sent with the next join`() {
    let sim = SimulatedSession()
    let old = [EpochStart(epoch: "e2", after: 3), EpochStart(epoch: "e1", after: 0)]
    sim.join(from: .after(7, epoch: "e2", lineage: old))
    sim.welcome()
    #expect(
      sim.takeTransmitted() == [.join(.init(room: "r", after: 7, epoch: "e2", lineage: old))])
    let new = [EpochStart(epoch: "e3", after: 5), EpochStart(epoch: "e1", after: 0)]
    _ = sim.joined("r", head: 5, after: 5, epoch: "e3", resume: .diverged, lineage: new)
    sim.disconnect()
    sim.reconnect()
    sim.welcome()
    #expect(
      sim.takeTransmitted() == [.join(.init(room: "r", after: 5, epoch: "e3", lineage: new))])
  }

  @Test func `a joined without a request replaces the cursor`() {
    let sim = SimulatedSession()
    sim.join(from: .after(0, epoch: nil))
    sim.welcome()
    _ = sim.joined("r", head: 2, after: 0)
    sim.entry(1)
    _ = sim.joined("r", head: 20, first: 11, after: 10, resume: .truncated)
    sim.entry(11)
    #expect(sim.deliveredSequences == [1, 11])
  }

  @Test func `the newest entries are requested once their beginning is known`() {
    let sim = SimulatedSession()
    sim.join(from: .newest(3))
    sim.welcome()
    #expect(!sim.joined("r", head: 10, after: 10))
    // The first cursor's entry would arrive twice.
    #expect(!sim.entry(11))
    #expect(
      sim.takeTransmitted()
        == [.join(.init(room: "r")), .join(.init(room: "r", after: 7, epoch: "e1"))])
    #expect(sim.joined("r", head: 11, after: 7))
    for seq in 8...11 as ClosedRange<Int64> { sim.entry(seq) }
    #expect(sim.deliveredSequences == [8, 9, 10, 11])
  }

  @Test func `a room that is empty or forgot most entries has fewer newest entries`() {
    let sim = SimulatedSession()
    sim.join(from: .newest(3))
    sim.welcome()
    #expect(sim.joined("r", head: 0, after: 0))
    sim.join("s", from: .newest(5))
    #expect(!sim.joined("s", head: 10, first: 9, after: 10))
    #expect(
      sim.takeTransmitted().last == .join(.init(room: "s", after: 8, epoch: "e1")))
  }

  @Test func `a temporarily refused join is repeated, a permanently refused one is not`() {
    let sim = SimulatedSession()
    sim.join()
    sim.join("s")
    sim.welcome()
    _ = sim.takeTransmitted()
    sim.refuse(.unavailable, re: .join, retry: 300)
    sim.refuse(.forbidden, re: .join, room: "s")
    sim.advance(milliseconds: 299)
    #expect(sim.takeTransmitted() == [])
    sim.advance(milliseconds: 1)
    #expect(sim.takeTransmitted() == [.join(.init(room: "r"))])
    sim.disconnect()
    sim.reconnect()
    sim.welcome()
    #expect(sim.takeTransmitted() == [.join(.init(room: "r"))])
    #expect(sim.events.contains { if case .joinRefused("s", _) = $0 { true } else { false } })
  }

  @Test func `a room that is left and joined immediately survives the answer to the first`() {
    let sim = SimulatedSession()
    sim.join()
    sim.welcome()
    _ = sim.joined("r", head: 0, after: 0)
    sim.perform { session, _, actions in session.leave("r", &actions) }
    sim.join()
    sim.receive(.left(room: "r"))
    _ = sim.joined("r", head: 0, after: 0)
    #expect(sim.entry(1))
  }

  @Test func `marks are merged, and sent again only if the relay does not have them`() {
    let sim = SimulatedSession()
    sim.join()
    sim.welcome()
    func mark(_ seq: Int64) { sim.perform { $0.mark("r", received: seq, read: seq, at: $1, &$2) } }
    mark(1)
    _ = sim.takeTransmitted()
    _ = sim.joined("r", head: 9, after: 9)
    sim.advance(milliseconds: 0)
    #expect(
      sim.takeTransmitted() == [.received(room: "r", seq: 1), .read(room: "r", seq: 1)])
    for seq in 2...9 as ClosedRange<Int64> {
      mark(seq)
      sim.advance(milliseconds: 50)
    }
    #expect(sim.takeTransmitted() == [])
    sim.advance(milliseconds: 100)
    #expect(
      sim.takeTransmitted() == [.received(room: "r", seq: 9), .read(room: "r", seq: 9)])
    sim.disconnect()
    sim.reconnect()
    sim.welcome()
    _ = sim.takeTransmitted()
    sim.receive(
      .joined(
        .init(
          room: "r", epoch: "e1", head: 9, first: 1, after: 9, resume: .ok, read: 5, received: 9,
          members: nil)))
    sim.advance(milliseconds: 500)
    #expect(sim.takeTransmitted() == [.read(room: "r", seq: 9)])
  }
}
