import Relay
import Testing
import WebSocket

@testable import Gateway

@Suite struct `The shutdown of a loop` {
  private static func opening(as user: String) -> String.UTF8View {
    """
    GET /ws?user=\(user) HTTP/1.1\r
    Host: relay\r
    Upgrade: websocket\r
    Connection: Upgrade\r
    Sec-WebSocket-Version: 13\r
    Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r
    Sec-WebSocket-Protocol: relay.v1\r
    \r

    """.utf8
  }

  private static func message(_ json: String) -> [UInt8] {
    var frames: [UInt8] = []
    WebSocket.Connection(
      role: .client, limits: Limits(frameBytes: 4096, messageBytes: 4096, fragments: 16)
    ).appendMessage(
      .text, Array(json.utf8).span, to: &frames, maskKey: 0)
    return frames
  }

  private static let send = message(#"{"type":"send","room":"r","id":"1","text":"hi"}"#)

  private func connect(_ loop: ArrayLoop, _ count: Int) -> [Int] {
    (0..<count).map { number in
      let stream = loop.connect()
      loop.send(Self.opening(as: "u\(number)"), on: stream)
      return stream
    }
  }

  /// What `closing` says to a client; `nil` if it was not told.
  private func delay(_ output: String) -> Int? {
    guard let key = output.firstRange(of: #""reconnect_after_ms":"#) else { return nil }
    return Int(output[key.upperBound...].prefix { $0.isNumber })
  }

  @Test func `tells idle clients first, some in each turn, and serves the others meanwhile`() {
    let loop = ArrayLoop()
    let idle = connect(loop, 3 * ConnectionLoop.dismissalsPerTurn)
    loop.pass(milliseconds: ConnectionLoop.idleMilliseconds)
    let active = loop.connect()
    loop.send(Self.opening(as: "ada"), on: active)
    loop.loop.take([.shutDown(isTakenOver: true)])
    var told = 0
    for turn in 1...2 {
      loop.world.streams[active]?.input += Self.send
      loop.loop.ready(active, .readable)
      _ = loop.loop.endTurn()
      // A refusal would be an answer.
      #expect(loop.takeOutput(of: active).contains("error") == false)
      told += idle.count { delay(loop.takeOutput(of: $0)) != nil }
      #expect(told == turn * ConnectionLoop.dismissalsPerTurn)
      // Not before its time.
      #expect(loop.loop.endTurn() == .atRest)
      #expect(idle.allSatisfy { loop.takeOutput(of: $0).isEmpty })
      #expect(
        loop.loop.nextWake == (loop.world.now.monotonic + ConnectionLoop.dismissalMilliseconds)
          * 1000)
      loop.world.now.monotonic += ConnectionLoop.dismissalMilliseconds
    }
    _ = loop.loop.endTurn()
    #expect(loop.send(Self.send, on: active).contains(#""code":"unavailable""#))
    #expect(!loop.world.hasFinishedWithLog)
    // The log does not answer: in the end it is not waited for.
    loop.pass(milliseconds: 8000)
    #expect(loop.world.hasFinishedWithLog)
    #expect(delay(loop.takeOutput(of: active)) != nil)
  }

  @Test func `lets the clients come back first that have sent something last`() {
    let loop = ArrayLoop()
    let idle = connect(loop, 8)
    loop.pass(milliseconds: 6000)
    for stream in idle.suffix(4) { loop.send(Self.send, on: stream) }
    loop.pass(milliseconds: 4000)
    for stream in idle.suffix(2) { loop.send(Self.send, on: stream) }
    loop.loop.take([.shutDown(isTakenOver: true)])
    var delays: [Int: Int] = [:]
    func take() {
      for stream in idle {
        if let delay = delay(loop.takeOutput(of: stream)) { delays[stream] = delay }
      }
    }
    loop.run()
    take()
    loop.pass(milliseconds: 8000)
    take()
    #expect(delays.count == 8)
    let groups = [idle.suffix(2), idle.dropFirst(4).prefix(2), idle.prefix(4)].map { streams in
      streams.compactMap { delays[$0] }
    }
    for (earlier, later) in zip(groups, groups.dropFirst()) {
      #expect(earlier.max() ?? 0 <= later.min() ?? 0, "\(groups)")
    }
  }

  @Test
  func `tells a client whose request arrives after all others were told, and closes silent ones`() {
    let loop = ArrayLoop()
    let (late, silent) = (loop.connect(), loop.connect())
    loop.loop.take([.shutDown(isTakenOver: true)])
    #expect(loop.run() == .atRest)
    #expect(loop.world.hasFinishedWithLog)
    let output = loop.send(Self.opening(as: "ada"), on: late)
    #expect(output.hasPrefix("HTTP/1.1 101 "))
    #expect(delay(output) != nil)
    loop.pass(milliseconds: ConnectionLoop.lingerMilliseconds)
    #expect(loop.world.streams[silent]?.isClosed == true)
    loop.pass(milliseconds: ConnectionLoop.lingerMilliseconds)
    #expect(loop.run() == .over)
  }
}

@Suite struct `When clients come back` {
  private func schedule(
    _ connections: Int, loops: Int = 1, microseconds: Int64, isTakenOver: Bool = true
  ) -> ReturnSchedule {
    ReturnSchedule(
      connections: connections, loops: loops, count: connections / loops,
      microseconds: microseconds, isTakenOver: isTakenOver)
  }

  @Test func `their return takes a quarter of the time of all loops`() {
    // A handshake of 700 µs, and 100 µs for the rest: 8 s of work.
    #expect(schedule(10_000, microseconds: 700).spread == 32_000)
    #expect(schedule(10_000, loops: 4, microseconds: 700).spread == 8000)
    // Without TLS.
    #expect(schedule(10_000, microseconds: 50).spread == 6000)
    #expect(schedule(10_000, loops: 16, microseconds: 50).spread == 5000)
    #expect(schedule(1, microseconds: 700).spread == 501)
    #expect(schedule(100_000, microseconds: 5000).spread == ReturnSchedule.maximumMilliseconds)
  }

  @Test func `each comes back in its turn, and at a time of its own`() {
    var random = SystemRandomNumberGenerator()
    let schedule = schedule(10_000, microseconds: 700)
    var last: Int64 = 0
    for rank in 0..<10_000 {
      let delay = schedule.delay(ofRank: rank, using: &random)
      #expect(last <= delay)
      last = delay
    }
    #expect(last <= schedule.spread)
    // Clients that connected after the others were counted.
    #expect(schedule.delay(ofRank: 10_500, using: &random) <= schedule.spread)
  }

  @Test func `none comes back before another process can listen, unless it listens already`() {
    var random = SystemRandomNumberGenerator()
    let restart = schedule(10, microseconds: 0, isTakenOver: false)
    #expect(restart.delay(ofRank: 0, using: &random) >= ReturnSchedule.startMilliseconds)
    #expect(schedule(10, microseconds: 0).delay(ofRank: 0, using: &random) < 100)
  }

  @Test func `what a client costs is an average, in which older ones count less and less`() {
    var cost = ArrivalCost()
    #expect(cost.average == 0)
    for _ in 0..<20_000 {
      cost.record(microseconds: 1000)
      cost.recordClient()
    }
    #expect(cost.average == 1000)
    // A certificate with another key.
    for _ in 0..<20_000 {
      cost.record(microseconds: 200)
      cost.recordClient()
    }
    #expect(200...220 ~= cost.average)
  }
}
