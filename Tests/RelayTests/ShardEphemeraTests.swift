import ShardWorld
import Testing
import Wire

@testable import Relay

@Suite struct `A shard and messages that are not logged` {
  @Test func `typing ends after 6 s, or silently with the next entry`() {
    let relay = SimulatedRelay()
    let (ada, bo) = (relay.connect("ada"), relay.connect("bo"))
    ada.join("r")
    bo.join("r")
    relay.run()
    ada.send(.typing(room: "r", on: true))
    relay.run(forMilliseconds: 5900)
    #expect(bo.take().typing == [true])
    relay.run(forMilliseconds: 200)
    #expect(bo.take().typing == [false])
    ada.send(.typing(room: "r", on: true))
    relay.run(forMilliseconds: 500)
    ada.post("r", "1")
    relay.run(forMilliseconds: 10_000)
    #expect(bo.take().typing == [true])
    #expect(ada.take().typing.isEmpty)
  }

  @Test func `typing on and off repeatedly needs one timer`() {
    let relay = SimulatedRelay { unlimited(&$0) }
    let ada = relay.connect("ada")
    ada.join("r")
    for round in 0..<400 {
      ada.send(.typing(room: "r", on: round % 2 == 0))
      relay.run(forMilliseconds: 20)
    }
    #expect(relay.shard { $0.timerCount } < 5)
  }

  @Test func `a message waits for a bounded part of the thousands that leave at the same moment`() {
    let relay = SimulatedRelay { unlimited(&$0) }
    let ada = relay.connect("ada")
    ada.join("r")
    let crowd = (1...2 * Shard.timersPerTurn).map { relay.connect("\($0)") }
    relay.run()
    for client in crowd { relay.disconnect(client) }
    relay.run()
    relay.logIsHeld = true
    relay.advance(Shard.departureMilliseconds)
    relay.turn(0)
    #expect(relay.shard { $0.timerCount } == Shard.timersPerTurn)
    #expect(relay.submitted.map(\.requests.count) == [LogQueue.othersPerBatch])
    ada.post("r", "1")
    relay.turn(0)
    relay.process()
    relay.turn(0)
    #expect(relay.submitted.map(\.requests.count) == [LogQueue.othersPerBatch + 1])
    relay.process()
    relay.turn(0)
    #expect(ada.take().acks.count == 1)
    relay.logIsHeld = false
    relay.run()
    #expect(relay.shard { $0.timerCount } == 0)
  }

  @Test func `receipts of one user come at most every 100 ms, and the last is the latest`() {
    let relay = SimulatedRelay { unlimited(&$0) }
    let (ada, bo) = (relay.connect("ada"), relay.connect("bo"))
    ada.join("r")
    bo.join("r")
    relay.run()
    for id in 1...50 { ada.post("r", "\(id)") }
    relay.run()
    for seq in 1...50 {
      bo.send(.received(room: "r", seq: Int64(seq)))
      relay.run(forMilliseconds: 10)
    }
    relay.run(forMilliseconds: 200)
    let receipts = ada.take().receipts
    #expect((4...7).contains(receipts.count))
    #expect(receipts.last == Marks(user: "bo", read: 0, received: 50))
  }

  @Test
  func `activity comes at most once per second, the latest wins, and asking again changes nothing`()
    throws
  {
    let relay = SimulatedRelay {
      unlimited(&$0)
      $0.tailBytes = 0
    }
    let (ada, bo) = (relay.connect("ada"), relay.connect("bo"))
    ada.post("dm:ada:bo", "0")
    bo.send(.rooms(.init()))
    relay.run()
    _ = bo.take()
    for id in 1...25 {
      ada.post("dm:ada:bo", "\(id)")
      if id % 5 == 0 { bo.send(.rooms(.init())) }
      relay.run(forMilliseconds: 100)
    }
    relay.run(forMilliseconds: 2000)
    let activity = bo.take().activity
    #expect((3...4).contains(activity.count))
    let last = try #require(activity.last)
    #expect(last.head == 26)
    #expect(last.unread == 26)
    #expect(last.last?.id == "25")
  }

  @Test(arguments: [false, true])
  func `activity that waited while its user left the room for good and came back is not told`(
    leaves: Bool
  ) {
    let relay = SimulatedRelay {
      unlimited(&$0)
      $0.tailBytes = 0
    }
    let (ada, bo, phone) = (relay.connect("ada"), relay.connect("bo"), relay.connect("bo"))
    phone.post("r", "0")
    ada.join("r")
    bo.send(.rooms(.init()))
    relay.run(forMilliseconds: 2000)
    _ = bo.take()
    bo.space = 0
    bo.send(.ping(t: nil))
    relay.run()
    ada.post("r", "1")
    relay.run()
    if leaves { phone.send(.leave(room: "r", forget: true)) }
    relay.run()
    ada.post("r", "2")
    relay.run()
    phone.join("r")
    relay.run()
    bo.space = .max
    relay.run(forMilliseconds: 3000)
    #expect(Set(bo.take().activity.map(\.last?.id)) == (leaves ? [] : ["2"]))
  }

  @Test(arguments: EphemeralKey.Kind.allCases)
  func `a client that does not read has a bounded number of keys, of each kind`(
    kind: EphemeralKey.Kind
  ) {
    let relay = SimulatedRelay { unlimited(&$0) }
    let bo = relay.connect("bo")
    bo.join("r")
    relay.run()
    let limits = Shard.Limits()
    let limit = kind == .typing ? limits.waitingTypingKeys : limits.waitingKeys
    relay.shard { shard in
      let session = bo.session.slot
      shard.sessions[session].isBlocked = true
      for user in 0..<5000 {
        let room = kind == .presence ? nil : shard.rooms.find("r").map { shard.rooms.handle($0) }
        shard.inform(session, EphemeralKey(kind, room, "u\(user)"))
      }
      #expect(shard.sessions[session].extras?.ephemera.count == limit)
      // What the users of a room do displaces nothing else.
      if kind == .typing {
        shard.inform(session, EphemeralKey(.presence, nil, "ada"))
        #expect(shard.sessions[session].extras?.ephemera.count == limit + 1)
      }
    }
  }

  @Test
  func
    `many users that type in many rooms cost a client that does not read little, and it reads on`()
  {
    let relay = SimulatedRelay { unlimited(&$0) }
    let bo = relay.connect("bo")
    let typers = (0..<20).map { relay.connect("u\($0)") }
    for room in 0..<40 { for client in typers + [bo] { client.join("r\(room)") } }
    relay.run()
    _ = bo.take()
    bo.space = 0
    for _ in 0..<3 {
      for typer in typers { for room in 0..<40 { typer.send(.typing(room: "r\(room)", on: true)) } }
      relay.run(forMilliseconds: 200)
    }
    let waiting = relay.shard { $0.sessions[bo.session.slot].extras?.ephemera.count }
    #expect(waiting == Shard.Limits().waitingTypingKeys)
    bo.space = .max
    relay.run(forMilliseconds: 1000)
    #expect(bo.take().typing.count >= Shard.Limits().waitingTypingKeys)
    #expect(relay.shard { $0.sessions[bo.session.slot].extras?.ephemera.isEmpty } == true)
  }

  @Test func `no message about a room follows left`() {
    let relay = SimulatedRelay { unlimited(&$0) }
    let (ada, bo) = (relay.connect("ada"), relay.connect("bo"))
    ada.join("r")
    bo.join("r", subscribers: true)
    ada.post("r", "1")
    relay.run()
    bo.space = 0
    ada.post("r", "2")
    relay.run()
    ada.send(.typing(room: "r", on: true))
    relay.run()
    bo.send(.leave(room: "r", forget: false))
    relay.run(forMilliseconds: 500)
    _ = bo.take()
    bo.space = .max
    relay.run(forMilliseconds: 10_000)
    let messages = bo.take()
    #expect(messages.last == .left(room: "r"))
  }
}

@Suite struct `A shard and permissions` {
  @Test func `every request of a third party for a dm is refused`() {
    let relay = SimulatedRelay()
    let (ada, eve) = (relay.connect("ada"), relay.connect("eve"))
    ada.join("dm:ada:bo")
    ada.post("dm:ada:bo", "1")
    relay.run()
    eve.join("dm:ada:bo")
    eve.post("dm:ada:bo", "2")
    eve.send(.history(.init(room: "dm:ada:bo")))
    eve.join("sys:canary")
    for message in [
      ClientMessage.typing(room: "dm:ada:bo", on: true), .read(room: "dm:ada:bo", seq: 1),
      .received(room: "dm:ada:bo", seq: 1), .leave(room: "dm:ada:bo", forget: true),
    ] { eve.send(message) }
    eve.send(.rooms(.init()))
    relay.run(forMilliseconds: 5000)
    let messages = eve.take()
    #expect(
      messages.errors.map(\.code) == [
        .forbidden, .forbidden, .forbidden, .forbidden, .notJoined, .forbidden, .notJoined,
        .notJoined,
      ])
    #expect(
      messages.errors.map(\.re) == [
        .join, .send, .history, .join, .typing, .read, .received, .leave,
      ])
    #expect(messages.contains(.rooms([], next: nil)))
    #expect(messages.joined.isEmpty)
    #expect(messages.entries.isEmpty)
    #expect(messages.pages.isEmpty)
    #expect(relay.head("dm:ada:bo") == 1)
  }

  @Test(arguments: [#"{"type":"rooms"}"#, #"{"type":"auth","token":"x"}"#, "nonsense"])
  func `an unauthenticated session gets an error and a close`(_ json: String) {
    let relay = SimulatedRelay()
    let nobody = relay.connect(nil)
    nobody.send(json)
    nobody.send(#"{"type":"rooms"}"#)
    relay.run()
    let messages = nobody.take()
    #expect(messages.count == 1)
    #expect(messages.errors.count == 1)
    #expect(nobody.closeCode == 4401)
    #expect(!nobody.saidMoreAfterClose)
    #expect(!nobody.isOpen)
  }

  @Test func `a shutdown refuses sends, answers accepted ones, and closes every session`()
    throws
  {
    let relay = SimulatedRelay()
    let clients = (0..<5).map { relay.connect("u\($0)") }
    for client in clients { client.join("r") }
    relay.run()
    relay.logIsHeld = true
    clients[0].post("r", "1")
    relay.run()
    relay.shard { $0.beginShutdown() }
    clients[1].post("r", "2")
    relay.run()
    #expect(clients[1].take().errors.map(\.code) == [.unavailable])
    #expect(!relay.shard { $0.isIdle })
    relay.logIsHeld = false
    relay.run()
    #expect(relay.shard { $0.isIdle })
    relay.readsAreHeld = true
    clients[2].send(.history(.init(room: "r")))
    relay.run()
    relay.shard { $0.announceClosing("restart", spreadMilliseconds: 5000) }
    relay.readsAreHeld = false
    relay.run()
    #expect(clients[0].take().acks.map(\.seq) == [1])
    var waits: Set<Int64> = []
    for client in clients {
      if case .closing(_, let wait)? = client.take().last { waits.insert(wait) }
      #expect(client === clients[0] || client.closeCode == 1012)
      #expect(!client.saidMoreAfterClose)
    }
    #expect(waits.count >= 3)
  }

  @Test func `nothing is sent after a close, though the log answers and the room continues`() {
    let relay = SimulatedRelay()
    let (ada, bo) = (relay.connect("ada"), relay.connect("bo"))
    bo.join("r")
    relay.run()
    relay.logIsHeld = true
    bo.post("r", "1")
    ada.post("r", "2")
    relay.run()
    bo.space = 0
    relay.shard { $0.beginClosing(bo.session) }
    relay.shard { $0.append(frames: SimulatedSocket.closeFrame(1003), to: bo.session) }
    relay.logIsHeld = false
    relay.run()
    bo.space = .max
    relay.run()
    #expect(bo.closeCode == 1003)
    #expect(!bo.saidMoreAfterClose)
    #expect(ada.take().acks.count == 1)
  }
}
