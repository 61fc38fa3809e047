import Client
import Platform
import Testing
import WebSocket
import Wire

@Suite struct `Session: sending, breaks and the end` {
  @Test func `lines wait for welcome, and leave again by id after a break`() {
    let sim = SimulatedSession()
    let first = sim.send("one")
    let second = sim.send("two")
    #expect(first != second)
    #expect(sim.takeTransmitted() == [])
    sim.welcome()
    let before = sim.takeTransmitted()
    #expect(before.lines == ["one", "two"])
    sim.ack(first)
    sim.disconnect()
    sim.reconnect()
    sim.welcome()
    #expect(sim.takeTransmitted() == [before[1]])
    sim.ack(second)
    sim.ack(second)
    #expect(sim.session.unacknowledged == 0)
    let acks = sim.events.filter { if case .acknowledged = $0 { true } else { false } }
    #expect(acks.count == 2)
  }

  @Test func `rooms are joined before lines are sent again`() {
    let sim = SimulatedSession()
    sim.send("one")
    sim.join()
    sim.welcome()
    guard case .join = sim.transmitted.first else {
      Issue.record("first \(String(describing: sim.transmitted.first))")
      return
    }
  }

  @Test func `a refused line and its room wait for the requested time`() {
    let sim = SimulatedSession()
    sim.welcome()
    let ids = ["one", "two", "three"].map { sim.send($0) }
    _ = sim.takeTransmitted()
    sim.refuse(.unavailable, re: .send, id: ids[1], retry: 700)
    sim.refuse(.unavailable, re: .send, id: ids[2], retry: 690)
    sim.ack(ids[0])
    sim.send("four")
    sim.advance(milliseconds: 699)
    #expect(sim.takeTransmitted() == [])
    sim.advance(milliseconds: 1)
    #expect(sim.takeTransmitted().lines == ["two", "three", "four"])
  }

  @Test func `an unknown code is temporary if it says when to retry`() {
    let sim = SimulatedSession()
    sim.welcome()
    let id = sim.send("one")
    _ = sim.takeTransmitted()
    sim.refuse(.unknown, re: .send, id: id, retry: 700)
    #expect(sim.session.unacknowledged == 1)
    sim.advance(milliseconds: 700)
    #expect(sim.takeTransmitted().lines == ["one"])
  }

  @Test(arguments: [
    ErrorCode.badField, .tooLarge, .forbidden, .noSuchRoom, .noSuchEntry, .unauthorized,
    .idConflict, .unknown,
  ])
  func `a line refused for good is reported once and not sent again`(code: ErrorCode) {
    let sim = SimulatedSession()
    sim.welcome()
    let id = sim.send("one")
    sim.refuse(code, re: .send, id: id)
    sim.refuse(code, re: .send, id: id)
    #expect(sim.session.unacknowledged == 0)
    let refused = sim.events.compactMap { event -> String? in
      if case .refused(let send, _) = event { send.id } else { nil }
    }
    #expect(refused == [id])
  }

  @Test func `a line that would not fit into a frame never leaves`() {
    let sim = SimulatedSession()
    sim.welcome(frameBytes: 200)
    sim.send(String(repeating: "x", count: 300))
    sim.send("short")
    #expect(sim.takeTransmitted().lines == ["short"])
    #expect(sim.session.unacknowledged == 1)
    guard case .refused(_, let error) = sim.events.last else {
      Issue.record("told \(String(describing: sim.events.last))")
      return
    }
    #expect(error.code == .tooLarge)
  }

  @Test func `the frame limit is compared with the exact length`() {
    let send = ClientMessage.Send(room: "r", id: "p-1", text: "exactly")
    let bytes = ClientMessage.send(send).json.count
    for (limit, fits) in [(bytes, true), (bytes - 1, false)] {
      let sim = SimulatedSession()
      sim.welcome(frameBytes: limit)
      sim.send("exactly")
      #expect(sim.takeTransmitted().lines == (fits ? ["exactly"] : []))
    }
  }

  @Test func `the window bounds what is in flight`() {
    var settings = SessionSettings()
    settings.window = 3
    let sim = SimulatedSession(settings: settings)
    sim.welcome()
    let ids = (1...5).map { sim.send("\($0)") }
    #expect(sim.takeTransmitted().lines == ["1", "2", "3"])
    sim.ack(ids[0])
    #expect(sim.takeTransmitted().lines == ["4"])
  }

  @Test func `a line of an earlier run is sent with its own id, before new lines`() {
    let sim = SimulatedSession()
    let kept = ClientMessage.Send(room: "r", id: "of-yesterday", text: "kept")
    sim.perform { $0.send(kept, at: $1, &$2) }
    let id = sim.send("now")
    sim.welcome()
    #expect(sim.sentIDs == ["of-yesterday", id])
    sim.disconnect()
    sim.reconnect()
    sim.welcome()
    #expect(sim.sentIDs == ["of-yesterday", id])
    sim.ack("of-yesterday")
    #expect(sim.session.unacknowledged == 1)
  }

  @Test func `ids are the prefix and a counter`() {
    let sim = SimulatedSession()
    let ids = [sim.send("a"), sim.send("b")]
    #expect(ids == ["p-1", "p-2"])
  }

  @Test func `it reconnects at once when asked, out of a wait and out of silence`() {
    let sim = SimulatedSession()
    sim.welcome()
    sim.perform { $0.reconnect(at: $1, &$2) }
    #expect(sim.abandons == 1)
    #expect(sim.events.last == .disconnected(.reconnecting, retryMilliseconds: 0))
    sim.advance(milliseconds: 0)
    #expect(sim.connects == 2)
    sim.disconnect()
    #expect(sim.connects == 2)
    sim.perform { $0.reconnect(at: $1, &$2) }
    #expect(sim.connects == 3)
  }

  @Test func `attempts are never more than ten seconds apart`() {
    let sim = SimulatedSession(seed: 7)
    var waits: [Int] = []
    for _ in 0..<50 {
      sim.disconnect()
      if case .disconnected(_, let wait) = sim.events.last { waits.append(wait) }
      sim.reconnect()
    }
    #expect(sim.connects == 51)
    #expect(waits.count == 50)
    #expect(waits.allSatisfy { $0 <= 10_000 })
    #expect(waits.contains { $0 > 5_000 })
  }

  @Test func `after a good connection the next wait is short again`() {
    let sim = SimulatedSession(seed: 7)
    for _ in 0..<10 {
      sim.disconnect()
      sim.reconnect()
    }
    sim.welcome()
    sim.advance(milliseconds: 5_000)
    sim.disconnect()
    guard case .disconnected(_, let wait) = sim.events.last else {
      Issue.record("no break was told")
      return
    }
    #expect(wait <= 200)
  }

  @Test func `closing reports the time to reconnect`() {
    let sim = SimulatedSession()
    sim.welcome()
    sim.receive(.closing(reason: "restart", reconnectAfterMilliseconds: 1234))
    sim.send("late")
    #expect(sim.takeTransmitted() == [])
    sim.disconnect(.closed(.serviceRestart, reason: ""))
    #expect(
      sim.events.last
        == .disconnected(.closed(.serviceRestart, reason: ""), retryMilliseconds: 1234))
    sim.advance(milliseconds: 1233)
    #expect(sim.connects == 1)
    sim.advance(milliseconds: 1)
    #expect(sim.connects == 2)
    sim.welcome()
    #expect(sim.takeTransmitted().lines == ["late"])
  }

  @Test func `time in which the process did not run counts against nothing`() {
    let sim = SimulatedSession()
    // Stopped while it connects.
    sim.now = sim.now.adding(milliseconds: 60_000)
    sim.perform { $0.tick(at: $1, &$2) }
    sim.welcome()
    let id = sim.send("one")
    sim.advance(milliseconds: 15_000)
    #expect(sim.pings == 1)
    // Stopped with a ping and a line in flight, whose answers are in the socket.
    for _ in 0..<3 {
      sim.now = sim.now.adding(milliseconds: 60_000)
      sim.perform { $0.tick(at: $1, &$2) }
      #expect(sim.session.isLive)
    }
    sim.receive(.pong(t: nil, time: 0))
    sim.ack(id)
    sim.advance(milliseconds: 500)
    #expect(sim.abandons == 0 && sim.session.isLive)
    // A peer that is dead is still found.
    sim.advance(milliseconds: 27_000)
    #expect(sim.abandons == 1)
  }

  @Test func `a dead peer is detected, and one that answers pings is kept`() {
    let sim = SimulatedSession()
    sim.welcome()
    for round in 1...3 {
      sim.advance(milliseconds: 15_000)
      #expect(sim.pings == round)
      sim.perform { session, now, _ in session.heard(at: now) }
    }
    sim.advance(milliseconds: 15_000 + 9_999)
    #expect(sim.abandons == 0)
    sim.advance(milliseconds: 1)
    #expect(sim.abandons == 1)
    guard case .disconnected(.silent(milliseconds: 25_000), _) = sim.events.last else {
      Issue.record("told \(String(describing: sim.events.last))")
      return
    }
  }

  @Test func `no welcome in time is another failed attempt`() {
    let sim = SimulatedSession()
    sim.advance(milliseconds: 10_000)
    #expect(sim.abandons == 1)
    sim.advance(milliseconds: 200)
    #expect(sim.connects == 2)
  }

  @Test func `a line that is not answered at all makes the client try elsewhere`() {
    let sim = SimulatedSession()
    sim.welcome()
    let id = sim.send("one")
    for _ in 0..<6 {
      sim.advance(milliseconds: 5_000)
      sim.perform { session, now, _ in session.heard(at: now) }
    }
    #expect(sim.abandons == 1)
    sim.reconnect()
    sim.welcome()
    #expect(sim.takeTransmitted().lines == ["one", "one"])
    sim.ack(id)
    #expect(sim.session.unacknowledged == 0)
  }

  @Test(arguments: [
    ClientError.notAuthenticated(reason: "x"), .forbidden(reason: "x"),
    .refused(status: 404, body: ""), .refused(status: 403, body: ""),
  ])
  func `a close that reconnecting cannot fix ends the client`(error: ClientError) {
    let sim = SimulatedSession()
    sim.disconnect(error)
    #expect(sim.events == [.ended(error)])
    #expect(sim.session.deadline == nil)
  }

  @Test func `the relay's own words explain why it closes`() {
    let sim = SimulatedSession()
    sim.receive(.error(WireError(.unauthorized, "the token has expired")))
    sim.disconnect(.notAuthenticated(reason: "bye"))
    #expect(sim.events.last == .ended(.notAuthenticated(reason: "the token has expired")))
  }

  @Test func `closing sends pending marks, and ends when the relay has closed`() {
    let sim = SimulatedSession()
    sim.join()
    sim.welcome()
    _ = sim.joined("r", head: 2, after: 0)
    sim.perform { $0.mark("r", received: 1, at: $1, &$2) }
    sim.perform { $0.mark("r", received: 2, at: $1, &$2) }
    _ = sim.takeTransmitted()
    sim.perform { $0.close(at: $1, &$2) }
    #expect(sim.takeTransmitted() == [.received(room: "r", seq: 2)])
    #expect(sim.closes == 1)
    sim.disconnect(.closed(.normal, reason: ""))
    #expect(sim.events.last == .ended(.closedByClient))
    #expect(sim.session.hasEnded)
  }

  @Test func `closing has a time limit`() {
    let sim = SimulatedSession()
    sim.welcome()
    sim.perform { $0.close(at: $1, &$2) }
    sim.advance(milliseconds: 1_000)
    #expect(sim.events.last == .ended(.closedByClient))
    #expect(sim.abandons == 1)
  }

  @Test func `a typing notice is not sent without a connection`() {
    let sim = SimulatedSession()
    var sent = true
    sim.perform { session, _, actions in
      sent = session.request(.typing(room: "r", on: true), &actions)
    }
    #expect(!sent)
    sim.welcome()
    sim.perform { session, _, actions in
      sent = session.request(.typing(room: "r", on: true), &actions)
    }
    #expect(sent)
    #expect(sim.transmitted == [.typing(room: "r", on: true)])
  }
}

extension SimulatedSession {
  /// The ids of the lines that were sent since the last call.
  fileprivate var sentIDs: [String] {
    takeTransmitted().compactMap { if case .send(let send) = $0 { send.id } else { nil } }
  }
}
