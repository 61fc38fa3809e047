import Glibc
import Platform
import Server
import TestSupport
import Testing
import WebSocket

@Suite struct `A connection that the relay has closed` {
  /// After its close the relay continues to read, to find the peer's; its answers meanwhile are
  /// bounded by what the kernel accepts, since the peer's input is no longer held back.
  @Test func `does not fill memory with answers to pings that the client does not read`() throws {
    try withServer(keepEntriesPerRoom: 0) { server in
      let socket = try Socket.connect(to: server.address)
      try socket.borrowed.setReceiveBuffer(bytes: 65_536)
      var input = ClientHandshake(
        host: "\(server.address)", target: "/ws?user=ada", subprotocols: [],
        nonce: Array(repeating: 7, count: 16)
      ).request
      // Not accepted: the relay closes with 1003.
      FrameHeader(opcode: .binary, maskKey: 0, payloadLength: 0).append(to: &input)
      let pings = 1000
      let payload = [UInt8](repeating: 0, count: 125)
      var flood: [UInt8] = []
      for _ in 0..<pings {
        FrameHeader(opcode: .ping, maskKey: 0, payloadLength: payload.count).append(to: &flood)
        flood += payload
      }
      var sent = 0
      while sent < 48 << 20, Self.send(input, to: socket.borrowed) {
        sent += input.count
        input = flood
      }
      // The most that the kernel holds between the two.
      #expect(Self.received(by: socket.borrowed) < 8 << 20, "of \(sent) bytes")
    }
  }

  /// `false` once the connection is gone.
  private static func send(_ bytes: [UInt8], to socket: BorrowedSocket) -> Bool {
    var taken = 0
    while taken < bytes.count, becomes(POLLOUT, socket.descriptor) {
      switch socket.send(bytes.span.extracting(taken...)) {
      case .sent(let count): taken += count
      case .wouldBlock: continue
      case .failed: return false
      }
    }
    return taken == bytes.count
  }

  /// Reads to the end of the connection.
  private static func received(by socket: BorrowedSocket) -> Int {
    var total = 0
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while becomes(POLLIN, socket.descriptor) {
      var span = buffer.mutableSpan
      switch socket.read(into: &span) {
      case .bytes(let count): total += count
      case .wouldBlock: continue
      case .end, .failed: return total
      }
    }
    return total
  }
}
