import Relay
import Testing

@testable import Gateway

/// Uploads of a user who sends too much, over arrays.
@Suite struct `An upload that is slowed` {
  private static let bytesPerSecond = 1_000_000

  /// A loop with an upload whose user has used up the burst, and which has sent one block more.
  private struct Harness {
    let loop = ArrayLoop().keepingFiles(
      FileSettings(limitBytes: 0, bytesPerSecond: bytesPerSecond) { _ in [] })
    let stream: Int

    private final class Received {
      var bytes: Int64 = 0
    }
    private let received = Received()

    init() {
      stream = loop.connect()
      let received = received
      loop.world.onKeep = { work in
        if case .write(_, let block) = work { received.bytes += Int64(block.count) }
        return .upload(
          Upload(
            id: "AAAAAAAAAAAAAAAAAAAAAA", bytes: 8_000_000, offset: received.bytes, metadata: "",
            expiresAt: 1))
      }
      loop.send(
        """
        PATCH /v1/files/AAAAAAAAAAAAAAAAAAAAAA?user=ada HTTP/1.1\r
        Host: relay\r
        Tus-Resumable: 1.0.0\r
        Upload-Offset: 0\r
        Content-Type: application/offset+octet-stream\r
        Content-Length: 8000000\r
        \r

        """.utf8, on: stream)
      while receives() {}
    }

    var bytes: Int64 { received.bytes }

    /// Sends a block.
    /// - Returns: whether the loop has taken it.
    func receives() -> Bool {
      let before = bytes
      loop.send(repeatElement(0, count: ConnectionLoop.readBytes), on: stream)
      return bytes > before
    }
  }

  @Test func `goes on once its user has earned it, and does not wait for the next sweep`() throws {
    let harness = Harness()
    let world = harness.loop.world
    #expect(harness.bytes >= Int64(Self.bytesPerSecond))
    var blocks = 0
    let began = world.now.monotonic
    while world.now.monotonic < began + 1000 {
      // What the world does between two sweeps: it waits until this time.
      let wake = try #require(harness.loop.loop.nextWake) / 1000
      #expect(wake > world.now.monotonic)
      world.now.monotonic = wake
      let before = harness.bytes
      harness.loop.run()
      if harness.bytes == before { #expect(harness.receives()) }
      blocks += 1
    }
    // One block at a time, a second's bytes in a second.
    #expect((15...17).contains(blocks), "\(blocks)")
  }

  @Test func `and ends leaves nothing that wakes the loop again and again`() {
    let harness = Harness()
    harness.loop.loop.remove(stream: harness.stream)
    harness.loop.pass(milliseconds: 1000)
    #expect(harness.loop.loop.nextUpload == nil)
  }
}
