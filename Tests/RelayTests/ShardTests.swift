import ShardWorld
import Testing
import Wire

@testable import Relay

@Suite struct `A shard and sockets that block` {
  @Test func `a session that does not wait for its socket is not flushed when that is writable`() {
    let relay = SimulatedRelay()
    let ada = relay.connect("ada")
    ada.join("general")
    relay.run()
    let flushed = relay.shard { shard in
      shard.unblock(ada.session)
      return shard.flush(now: relay.now) { _, bytes in bytes.count }
    }
    #expect(flushed == 0)
  }

  @Test func `a blocked socket keeps the rest of one frame and its cursor, and then gets all`() {
    let relay = SimulatedRelay { unlimited(&$0) }
    let (ada, bo) = (relay.connect("ada"), relay.connect("bo"))
    bo.join("r")
    relay.run()
    _ = bo.take()
    bo.space = 5000
    for id in 1...400 { ada.post("r", "\(id)", text: String(repeating: "x", count: 1000)) }
    relay.run()
    #expect(bo.take().entries.map(\.seq) == [1, 2, 3, 4])
    #expect(relay.queuedBytes(bo) > 0)
    #expect(relay.queuedBytes(bo) < 1200)
    let gauges = relay.shard { $0.gauges() }
    #expect(gauges.lagging == 1)
    #expect(gauges.subscriptions == 1)
    #expect(gauges.rooms == 1)
    #expect(gauges.queuedBytes == relay.queuedBytes(bo))
    #expect(gauges.sessions == 2)
    #expect(gauges.users == 2)
    #expect(gauges.tailBytes > 400_000)
    bo.space = .max
    relay.run()
    #expect(bo.take().entries.map(\.seq) == Array(5...400))
    #expect(ada.take().acks.map(\.seq) == Array(1...400))
    #expect(relay.shard { $0.gauges().lagging } == 0)
    #expect(relay.shard { $0.gauges().queuedBytes } == 0)
    // Each is counted once, however it was sent.
    let counters = relay.shard { $0.counters }
    #expect(counters.deliveries == 400)
    #expect(counters.acks == 400)
    #expect(counters.sends == 400)
    #expect(counters.received == [.join: 1])
    #expect(counters.refusals.isEmpty)
  }

  @Test func `acks are counted, with when the first send of their batch was received`() {
    let relay = SimulatedRelay { unlimited(&$0) }
    let ada = relay.connect("ada")
    for round in 1...2 {
      relay.advance(100)
      let began = relay.now.microseconds
      for id in 1...3 { ada.post("r", "\(round).\(id)") }
      relay.run()
      let acks = relay.shard { $0.takeAcknowledged() }
      #expect(acks?.count == 3)
      #expect(acks?.since == began)
      #expect(relay.shard { $0.takeAcknowledged() } == nil)
    }
  }

  @Test(arguments: [8_388_608, 0])
  func `lagging rooms take turns, from memory or from storage`(_ tailBytes: Int) {
    let relay = SimulatedRelay {
      unlimited(&$0)
      $0.tailBytes = tailBytes
    }
    let (ada, bo) = (relay.connect("ada"), relay.connect("bo"))
    for id in 1...150 {
      ada.post("a", "\(id)", text: String(repeating: "x", count: 2000))
      ada.post("b", "\(id)", text: String(repeating: "x", count: 2000))
    }
    relay.run()
    bo.join("a")
    bo.join("b")
    relay.run()
    let entries = bo.take().entries
    for room in ["a", "b"] {
      #expect(entries.filter { $0.room == room }.map(\.seq) == Array(1...150))
    }
    let lastOfA = entries.lastIndex { $0.room == "a" } ?? 0
    let firstOfB = entries.firstIndex { $0.room == "b" } ?? .max
    // One page of a room at most, before the other has its turn.
    #expect(firstOfB < 70)
    #expect(lastOfA > 200)
    #expect(relay.mostQueuedBytes <= 262_144)
  }

  @Test func `requests for history are answered one by one, in order, and wait for the reader`() {
    let relay = SimulatedRelay { unlimited(&$0) }
    let (ada, bo) = (relay.connect("ada"), relay.connect("bo"))
    for id in 1...200 { ada.post("r", "\(id)", text: String(repeating: "x", count: 1000)) }
    relay.run()
    bo.space = 0
    for limit in 1...300 {
      bo.send(.history(.init(room: "r", limit: limit)))
    }
    relay.run()
    #expect(relay.queuedBytes(bo) <= 262_144)
    #expect(bo.input.count > 200)
    bo.space = .max
    relay.run()
    let pages = bo.take().pages
    #expect(pages.count == 300)
    #expect(pages.prefix(100).map(\.entries.count) == Array(1...100))
    #expect(pages.allSatisfy { $0.entries.last?.seq == 200 })
  }

  @Test func `pending answers of the log count as queued`() {
    let relay = SimulatedRelay { unlimited(&$0) }
    let ada = relay.connect("ada")
    ada.space = 0
    for id in 1...5000 { ada.post("r", "\(id)") }
    relay.run()
    #expect(relay.mostQueuedBytes <= 262_144)
    ada.space = .max
    relay.run()
    #expect(ada.take().acks.map(\.seq) == Array(1...5000))
  }

  @Test func `what waits for a blocked socket is the latest, and costs no entry's length`() throws {
    let relay = SimulatedRelay {
      unlimited(&$0)
      $0.tailBytes = 0
    }
    let (ada, bo) = (relay.connect("ada"), relay.connect("bo"))
    for room in 0..<100 {
      bo.join("r\(room)")
      bo.send(.leave(room: "r\(room)", forget: false))
      ada.post("r\(room)", "0")
      relay.run()
    }
    bo.send(.rooms(.init()))
    relay.run()
    _ = bo.take()
    bo.space = 0
    for round in 1...3 {
      for room in 0..<100 {
        ada.post("r\(room)", "\(round)", text: String(repeating: "x", count: 8000))
      }
      relay.run(forMilliseconds: 1500)
    }
    // A page, and the one that went beyond it.
    #expect(relay.queuedBytes(bo) < 65_536 + 8400)
    bo.space = .max
    relay.run(forMilliseconds: 3000)
    var latest: [String: ServerMessage.Activity] = [:]
    for activity in bo.take().activity { latest[activity.room] = activity }
    #expect(latest.count == 100)
    for activity in latest.values { #expect(activity.head == 4 && activity.last?.seq == 4) }
  }
}

@Suite struct `A shard and its limits` {
  @Test func `sends that were collected after a refused send are refused, however slow the log is`()
  {
    let relay = SimulatedRelay()
    let ada = relay.connect("ada")
    relay.log.store.failsCommits = true
    relay.logIsHeld = true
    ada.post("r", "1")
    relay.run()
    ada.post("r", "2")
    ada.post("q", "3")
    relay.run()
    relay.process()
    relay.log.store.failsCommits = false
    // The log answers late; by its own clock the wait is over.
    relay.advance(5000)
    relay.logIsHeld = false
    relay.run()
    let messages = ada.take()
    #expect(messages.errors.map(\.id) == ["1", "2"])
    #expect(messages.errors.allSatisfy { $0.code == .unavailable })
    #expect(messages.acks.map(\.id) == ["3"])
  }

  @Test func `a connection joins a limited number of rooms, and a left room no longer counts`() {
    let relay = SimulatedRelay { $0.limits.roomsPerConnection = 2 }
    let ada = relay.connect("ada")
    for room in ["a", "b", "c"] { ada.join(room) }
    relay.run()
    #expect(ada.take().errors.map(\.code) == [.tooManyRooms])
    // All simultaneously: the log has not answered the join that is given up.
    ada.send(.leave(room: "b", forget: false))
    ada.join("d")
    ada.send(.leave(room: "d", forget: false))
    ada.join("e")
    ada.join("e")
    relay.run()
    let messages = ada.take()
    #expect(messages.errors.isEmpty)
    // A join that was left is not answered; a repeated join is answered twice.
    #expect(messages.joined.map(\.room) == ["e", "e"])
  }
}

@Suite struct `A shard that many sessions have left` {
  @Test func `keeps what is in use, and distinguishes ended sessions from new ones`() {
    let relay = SimulatedRelay { unlimited(&$0) }
    let ada = relay.connect("ada")
    let crowd = (0..<1000).map { relay.connect("u\($0)") }
    let bo = relay.connect("bo")
    for socket in [ada, bo] + crowd { socket.join("r") }
    relay.run()
    #expect(relay.shard { $0.sessions.capacity } == 1002)
    for socket in crowd { relay.disconnect(socket) }
    relay.run()
    // A session at the end keeps all slots before it.
    #expect(relay.shard { $0.sessions.capacity } == 1002)
    relay.disconnect(bo)
    relay.run()
    #expect(relay.shard { $0.sessions.capacity } == 1)
    #expect(relay.shard { $0.subscriptions.capacity } == 1)
    let late = relay.connect("late")
    late.join("r")
    relay.run()
    #expect(late.session.slot == crowd[0].session.slot)
    #expect(!relay.shard { $0.isCurrent(crowd[0].session) })
    late.post("r", "1")
    relay.run()
    #expect(ada.take().entries.map(\.id) == ["1"])
    #expect(late.take().entries.map(\.id) == ["1"])
  }
}
