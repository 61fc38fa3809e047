import Relay
import Testing

@testable import Gateway

/// Behaviour that takes a loop minutes, over arrays and in no time.
@Suite struct `A loop over arrays` {
  private static let opening = opening(as: "ada")

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

  private static func post(_ content: String) -> String {
    "POST /v1/rooms/r/messages?user=ada HTTP/1.1\r\nHost: relay\r\n"
      + "Content-Type: application/json\r\nContent-Length: \(content.utf8.count)\r\n\r\n\(content)"
  }

  @Test func `a silent client is disconnected at its timeout`() {
    let loop = ArrayLoop()
    let stream = loop.connect()
    loop.pass(milliseconds: 4750)
    #expect(loop.world.streams[stream]?.isClosed == false)
    loop.pass(milliseconds: 250)
    #expect(loop.world.streams[stream]?.isClosed == true)
    #expect(loop.loop.connections.isEmpty == true)
  }

  @Test func `a post that the log does not answer is 503 after thirty seconds`() {
    let loop = ArrayLoop()
    let stream = loop.connect()
    #expect(loop.send(Self.post(#"{"id":"1","text":"hi"}"#).utf8, on: stream) == "")
    #expect(loop.world.submitted.count == 1)
    loop.pass(milliseconds: 29_750)
    #expect(loop.takeOutput(of: stream) == "")
    loop.pass(milliseconds: 250)
    #expect(loop.takeOutput(of: stream).hasPrefix("HTTP/1.1 503 "))
    #expect(loop.world.streams[stream]?.isFinished == true)
  }

  @Test func `content that stops in the middle is 408`() {
    let loop = ArrayLoop()
    let stream = loop.connect()
    loop.send(Self.post(#"{"id":"1","text":"hi"}"#).utf8.dropLast(3), on: stream)
    loop.pass(milliseconds: 5000)
    #expect(loop.takeOutput(of: stream).hasPrefix("HTTP/1.1 408 "))
  }

  @Test func `a silent client is pinged, and disconnected in the end`() {
    let loop = ArrayLoop {
      $0.heartbeatSeconds = 20
      $0.idleTimeoutSeconds = 60
    }
    let stream = loop.connect()
    #expect(loop.send(Self.opening, on: stream).hasPrefix("HTTP/1.1 101 "))
    loop.pass(milliseconds: 19_750)
    #expect(loop.world.streams[stream]?.output == [])
    loop.pass(milliseconds: 250)
    #expect(loop.world.streams[stream]?.output == [0x89, 0])
    // The ping is accepted nevertheless: the time counts from there.
    loop.pass(milliseconds: 59_750)
    #expect(loop.world.streams[stream]?.isClosed == false)
    loop.pass(milliseconds: 250)
    #expect(loop.world.streams[stream]?.isClosed == true)
  }

  @Test func `a connection that replaces a banned one in the same turn stays open`() {
    let loop = ArrayLoop()
    let banned = loop.connect()
    loop.send(Self.opening, on: banned)
    loop.loop.take([.ban(["ada"])])
    loop.loop.remove(stream: banned)
    let next = loop.connect()
    #expect(next == banned)
    let output = loop.send(Self.opening(as: "bo"), on: next)
    #expect(output.contains(#""type":"welcome""#))
    #expect(loop.world.streams[next]?.isFinished == false)
    // A closing connection ends at the latest at its timeout.
    loop.pass(milliseconds: 10_000)
    #expect(loop.world.streams[next]?.isFinished == false)
    #expect(loop.world.streams[next]?.isClosed == false)
  }

  @Test func `a shutdown waits for the log, but not beyond its time limit`() {
    let loop = ArrayLoop()
    let stream = loop.connect()
    loop.send(Self.opening, on: stream)
    loop.loop.take([.shutDown(isTakenOver: false)])
    loop.pass(milliseconds: 7750)
    #expect(loop.world.streams[stream]?.isClosed == false)
    loop.pass(milliseconds: 250)
    #expect(loop.world.streams[stream]?.isClosed == true)
    #expect(loop.run() == .over)
  }
}
