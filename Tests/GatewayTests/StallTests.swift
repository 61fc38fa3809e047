import Relay
import Testing
import WebSocket

@testable import Gateway

@Suite struct `A loop that did not run for a while` {
  private static let upgrade =
    "GET /ws?user=ada HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"

  private func relay() -> ArrayLoop {
    ArrayLoop {
      $0.idleTimeoutSeconds = 60
    }
  }

  /// Stops the process for that time: when it continues, the sweep comes before what clients sent.
  private func stop(_ relay: ArrayLoop, seconds: Int64) {
    relay.world.now.monotonic += seconds * 1000
    relay.world.now.wall += seconds * 1000
    relay.loop.sweep()
    relay.run()
  }

  @Test func `ends no connection for the silence in that time`() {
    let relay = relay()
    let open = relay.connect()
    relay.send(Self.upgrade.utf8, on: open)
    let unfinished = relay.connect()
    relay.send("GET / HTTP/1.1\r\n".utf8, on: unfinished)
    relay.pass(milliseconds: 1000)
    stop(relay, seconds: 3600)
    #expect(relay.world.streams[open]?.isClosed == false)
    #expect(relay.world.streams[unfinished]?.isClosed == false)
    // What was silent before still counts.
    relay.pass(milliseconds: 4500)
    #expect(relay.world.streams[unfinished]?.isClosed == true)
    relay.pass(milliseconds: 53_000)
    #expect(relay.world.streams[open]?.isClosed == false)
    relay.pass(milliseconds: 2000)
    #expect(relay.world.streams[open]?.isClosed == true)
  }

  @Test func `counts the time in which it ran, also between many stops`() {
    let relay = relay()
    let open = relay.connect()
    relay.send(Self.upgrade.utf8, on: open)
    for _ in 0..<40 {
      relay.pass(milliseconds: 1000)
      stop(relay, seconds: 30)
    }
    #expect(relay.world.streams[open]?.isClosed == false)
    relay.pass(milliseconds: 21_000)
    #expect(relay.world.streams[open]?.isClosed == true)
  }

  @Test func `shuts down in time, also if it is told so before its first sweep`() {
    let relay = relay()
    let open = relay.connect()
    relay.send(Self.upgrade.utf8, on: open)
    relay.pass(milliseconds: 1000)
    relay.world.now.monotonic += 3_600_000
    relay.world.now.wall += 3_600_000
    relay.loop.take([.shutDown(isTakenOver: false)])
    let deadline = relay.loop.shutdown?.deadline
    #expect(deadline.map { $0 - relay.world.now.monotonic <= 60_000 } == true)
    relay.loop.sweep()
    #expect(relay.loop.shutdown?.deadline == deadline)
  }
}
