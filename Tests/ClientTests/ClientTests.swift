import Client
import EventLoop
import Testing
import Wire

@Suite struct `Client, against python websockets` {
  @Test func `it joins, sends, is answered, and says good-bye`() throws {
    let relay = try ScriptedRelay()
    let watcher = try Watcher(relay.url)
    watcher.client.join("r")
    let id = watcher.client.send("hello \u{1F44B}\n\"quoted\"", to: "r")
    watcher.run { watcher, event in
      switch event {
      case .acknowledged(let ack):
        #expect(ack.id == id)
        #expect(ack.seq == 1)
        watcher.client.close()
      case .ended: return true
      default: break
      }
      return false
    }
    #expect(!watcher.timedOut)
    #expect(watcher.texts == ["hello \u{1F44B}\n\"quoted\""])
    #expect(watcher.ended == .closedByClient)
    let seen = relay.seen()
    #expect(seen.first == #"["open", "/ws?user=ada", null]"#)
    #expect(seen.last == #"["closed", 1000]"#)
  }

  @Test func `a token travels in the header`() throws {
    let relay = try ScriptedRelay()
    let watcher = try Watcher(relay.url, user: nil, token: "a.b.c")
    watcher.run { _, event in if case .welcomed = event { true } else { false } }
    #expect(relay.seen().first == #"["open", "/ws", "Bearer a.b.c"]"#)
  }

  @Test(.timeLimit(.minutes(30)))
  func `across cuts, lost acks, duplicates, gaps and refusals every line arrives once, in order`()
    throws
  {
    // Cut before and after it is stored, the ack forgotten (it comes with the connection after the
    // next cut), refused for a while, shown twice, left out once: each in the middle of a stream.
    let relay = try ScriptedRelay(
      #"""
      {"cut_before": ["7", "150"], "cut_after": ["20", "21", "160"], "limit": ["40", "90"],
       "forget_ack": ["60"], "double": [5, 70, 71], "skip": [30, 100], "join_limited": 1}
      """#)
    let count = 200
    let watcher = try Watcher(relay.url)
    watcher.client.join("r", from: .after(0, epoch: nil))
    for number in 1...count { watcher.client.send("\(number)", to: "r") }
    watcher.run { watcher, _ in
      watcher.client.unacknowledged == 0 && watcher.texts.count >= count
    }
    #expect(!watcher.timedOut)
    #expect(watcher.texts == (1...count).map { "\($0)" })
    let breaks = watcher.events.filter { if case .disconnected = $0 { true } else { false } }
    #expect(breaks.count == 5)
    let acks = watcher.events.filter { if case .acknowledged = $0 { true } else { false } }
    #expect(acks.count == count)
    watcher.client.close()
  }

  @Test func `a finally refused line is reported with its text, and the others continue`() throws {
    let relay = try ScriptedRelay(#"{"refuse": ["two"]}"#)
    let watcher = try Watcher(relay.url)
    for text in ["one", "two", "three"] { watcher.client.send(text, to: "r") }
    var refused: [String] = []
    watcher.run { watcher, event in
      if case .refused(let send, let error) = event {
        refused.append(send.id)
        #expect(error.code == .tooLarge)
      }
      return watcher.client.unacknowledged == 0
    }
    #expect(refused.count == 1)
    #expect(relay.seen().count { $0.contains("\"send\"") } == 3)
  }

  @Test func `after a close it reconnects when the relay says`() throws {
    let relay = try ScriptedRelay(#"{"closing": 1}"#)
    let watcher = try Watcher(relay.url)
    var welcomes = 0
    watcher.run { _, event in
      if case .welcomed = event { welcomes += 1 }
      return welcomes == 2
    }
    #expect(
      watcher.events.contains {
        if case .disconnected(_, retryMilliseconds: 7) = $0 { true } else { false }
      })
  }

  @Test func `a message in fragments and one of an unknown type do no harm`() throws {
    let relay = try ScriptedRelay(#"{"raw": [["{\"type\":", "\"tomorrow\"}"]]}"#)
    let watcher = try Watcher(relay.url)
    watcher.client.send("x", to: "r")
    watcher.run { watcher, _ in watcher.client.unacknowledged == 0 && watcher.received.count > 1 }
    #expect(watcher.received.contains(#"{"type":"tomorrow"}"#))
  }

  @Test(arguments: [
    (#"{"close": 4401, "reason": "bad token"}"#, ClientError.notAuthenticated(reason: "bad token")),
    (#"{"close": 4403}"#, .forbidden(reason: "this user is banned")),
    (#"{"close": 4408}"#, .notAuthenticated(reason: "the relay requires a user or a token")),
    (
      #"""
      {"close": 4401, "say": "{\"type\":\"error\",\"code\":\"unauthorized\",\"message\":\"expired\"}"}
      """#, .notAuthenticated(reason: "expired")
    ),
    (#"{"status": 404}"#, .refused(status: 404, body: "go away")),
    (#"{"status": 403}"#, .refused(status: 403, body: "go away")),
  ])
  func `a client that is not admitted gets the reason, and does not try again`(
    faults: String, error: ClientError
  ) throws {
    let relay = try ScriptedRelay(faults)
    let watcher = try Watcher(relay.url)
    watcher.runUntilEnded()
    #expect(watcher.events.last == .ended(error))
    #expect(watcher.firstBreak == nil)
  }

  @Test func `a server that is overloaded is tried again`() throws {
    let relay = try ScriptedRelay(#"{"status": 503}"#)
    let watcher = try Watcher(relay.url)
    var breaks = 0
    watcher.run { _, event in
      if case .disconnected = event { breaks += 1 }
      return breaks == 3
    }
    #expect(watcher.firstBreak == .refused(status: 503, body: "go away"))
  }

  @Test func `a refused connection names the address`() throws {
    let watcher = try Watcher("ws://127.0.0.1:1/ws")
    watcher.run { _, event in if case .disconnected = event { true } else { false } }
    #expect(
      "\(try #require(watcher.firstBreak))".contains("connect 127.0.0.1:1: Connection refused"))
  }

  @Test func `a name is looked up on a thread of its own`() throws {
    let relay = try ScriptedRelay()
    let watcher = try Watcher("ws://localhost:\(relay.port)/ws")
    watcher.run { _, event in if case .welcomed = event { true } else { false } }
    #expect(!watcher.timedOut)
  }

  @Test func `an unknown host is an error with its name`() throws {
    let watcher = try Watcher("ws://no-such-host.invalid/ws")
    watcher.run { _, event in if case .disconnected = event { true } else { false } }
    guard case .unresolved(host: "no-such-host.invalid", _) = watcher.firstBreak else {
      Issue.record("told \(String(describing: watcher.firstBreak))")
      return
    }
  }

  @Test func `clients on one loop do not get in each other's way`() throws {
    let relay = try ScriptedRelay()
    let loop = try EventLoop()
    let clients = try ClientLoop(loop)
    let crowd = try (0..<50).map { index in
      Client(.init(url: try RelayURL(relay.url), user: "u\(index)"), on: clients)
    }
    let counter = CountingHandler(loop: loop, wanted: 50)
    for client in crowd {
      client.handler = counter
      client.start()
      client.send("x", to: "r")
    }
    loop.run(clients)
    #expect(counter.acknowledged == 50)
    for client in crowd { client.close() }
    #expect(clients.count == 50)
  }
}

private final class CountingHandler: ClientHandler {
  let loop: EventLoop
  let wanted: Int
  private(set) var acknowledged = 0

  init(loop: EventLoop, wanted: Int) {
    self.loop = loop
    self.wanted = wanted
  }

  func client(_ client: Client, _ event: ClientEvent) {
    if case .acknowledged = event { acknowledged += 1 }
    if acknowledged == wanted { loop.stop() }
  }
}
