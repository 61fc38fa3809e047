import Glibc
import Platform
import TLS
import TestSupport
import Testing

@Suite struct `TLS channel` {
  let certificates: Certificates
  let server: TLSContext
  let client: TLSContext

  init() throws { (certificates, server, client) = try Pair.contexts() }

  /// Both ends of a connection over loopback.
  private final class Ends {
    let sockets: SocketPair
    let server: TLSChannel
    let client: TLSChannel

    init(_ sockets: consuming SocketPair, server: TLSChannel, client: TLSChannel) {
      self.sockets = sockets
      self.server = server
      self.client = client
    }

    /// Waits for input, reads it, and sends what the session answers.
    private func read(_ channel: TLSChannel, _ socket: BorrowedSocket) throws -> [UInt8] {
      guard becomes(POLLIN, socket.descriptor) else { throw Unexpected("nothing arrived") }
      var buffer = [UInt8](repeating: 0, count: 2 * TLSSession.headroomBytes)
      var span = buffer.mutableSpan
      let result = channel.read(from: socket, into: &span).plaintext
      _ = channel.flush(to: socket)
      switch result {
      case .bytes(let count): return Array(buffer[..<count])
      case .wouldBlock: return []
      case .end: throw Unexpected("the end of the stream")
      case .failed(let error): throw error
      }
    }

    func readAtServer() throws -> [UInt8] { try read(server, sockets.server.borrowed) }
    func readAtClient() throws -> [UInt8] { try read(client, sockets.client.borrowed) }

    func writeAtServer(_ bytes: ArraySlice<UInt8>) -> Int? {
      server.write(bytes.span, to: sockets.server.borrowed)?.taken
    }

    func writeAtClient(_ bytes: ArraySlice<UInt8>) -> Int? {
      client.write(bytes.span, to: sockets.client.borrowed)?.taken
    }
  }

  private func open(receiveBufferBytes: Int? = nil) throws -> Ends {
    let ends = Ends(
      try SocketPair(receiveBufferBytes: receiveBufferBytes),
      server: try #require(TLSChannel(server: server)),
      client: try #require(TLSChannel(client: client, host: "localhost")))
    _ = ends.client.flush(to: ends.sockets.client.borrowed)
    while ends.server.state == .handshaking {
      _ = try ends.readAtServer()
      if ends.client.state == .handshaking { _ = try ends.readAtClient() }
    }
    return ends
  }

  @Test func `what is written at one end is read at the other`() throws {
    let ends = try open()
    #expect(ends.writeAtClient(Array("hello".utf8)[...]) == 5)
    #expect(!ends.client.hasBacklog)
    #expect(try ends.readAtServer() == Array("hello".utf8))
  }

  @Test func `ciphertext that the socket does not accept is sent before anything else`() throws {
    let ends = try open(receiveBufferBytes: 4096)
    try ends.sockets.client.borrowed.setSendBuffer(bytes: 16_384)
    let text = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    var taken = 0
    var received: [UInt8] = []
    var largestBacklogBytes = 0
    while received.count < text.count {
      taken += try #require(ends.writeAtClient(text[taken...]))
      largestBacklogBytes = max(largestBacklogBytes, ends.client.backlogBytes)
      received += try ends.readAtServer()
    }
    #expect(received == text)
    #expect(largestBacklogBytes > 0)
    #expect(largestBacklogBytes <= TLSSession.recordBytes + TLSSession.recordOverheadBytes)
    #expect(!ends.client.hasBacklog)
  }

  @Test func `after a close the peer can still write, and its data is read`() throws {
    let ends = try open()
    ends.client.close(to: ends.sockets.client.borrowed)
    _ = try ends.readAtServer()
    #expect(ends.server.state == .ended)
    #expect(ends.writeAtServer([1]) == 1)
    var received: [UInt8] = []
    while received.isEmpty { received = try ends.readAtClient() }
    #expect(received == [1])
  }

  @Test func `nothing can be written before the handshake`() throws {
    let channel = try #require(TLSChannel(server: server))
    let sockets = try SocketPair()
    let written = channel.write([1].span, to: sockets.server.borrowed)
    #expect(written == nil)
  }

  @Test func `nothing can be written after a close`() throws {
    let ends = try open()
    ends.client.close(to: ends.sockets.client.borrowed)
    #expect(ends.writeAtClient([1]) == nil)
  }
}
