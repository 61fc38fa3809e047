import Glibc
import Platform
import Server
import TestSupport
import Testing
import WebSocket

/// While a request waits for its answer its connection is not read. epoll reports further input
/// once, and here it does so in exactly that time.
@Suite struct `Input that is sent ahead of an answer` {
  /// How it is cut, and the result.
  struct Ahead: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var first: [UInt8]
    var rest: [UInt8]
    var answer: [UInt8]
  }

  @Test(arguments: [
    Ahead(
      testDescription: "in its head", first: Array(request(2).prefix(20)),
      rest: Array(request(2).dropFirst(20)), answer: ack(2)),
    Ahead(
      testDescription: "in its content", first: request(2).dropLast(10),
      rest: request(2).suffix(10), answer: ack(2)),
    Ahead(
      testDescription: "before its content", first: request(2).dropLast(content(2).count),
      rest: content(2), answer: ack(2)),
    Ahead(
      testDescription: "behind it", first: request(2), rest: request(3), answer: ack(3)),
    Ahead(
      testDescription: "behind a WebSocket's request", first: upgrade,
      rest: frame(.ping, "before"), answer: [0x8A, 6] + Array("before".utf8)),
    Ahead(
      testDescription: "in a frame", first: upgrade + frame(.ping, "before").prefix(3),
      rest: frame(.ping, "before").suffix(9), answer: [0x8A, 6] + Array("before".utf8)),
  ])
  func `is read after that answer, wherever it is cut`(ahead: Ahead) throws {
    try withHeldAnswer(followedBy: ahead.first) { socket, release in
      try Self.send(ahead.rest, to: socket)
      try release()
      try #expect(Self.received(by: socket, until: ahead.answer).contains(ahead.answer))
    }
  }

  /// The relay does not wait for the rest of a stream that has ended.
  @Test func `ends the connection if it ends in the middle of a request`() throws {
    try withHeldAnswer(followedBy: Self.request(2).dropLast(10)) { socket, release in
      socket.shutdownWrite()
      try release()
      let received = try Self.received(by: socket, until: [])
      #expect(String(decoding: received, as: UTF8.self).split(separator: "HTTP/1.1 ").count == 1)
      #expect(received.contains(Self.ack(1)))
    }
  }

  /// Sends a request and the beginning of the next, and calls `body` when the relay has read them.
  private func withHeldAnswer(
    followedBy first: [UInt8], _ body: (BorrowedSocket, _ release: () throws -> Void) throws -> Void
  ) throws {
    let log = HeldLog()
    try withServer(log: log) { server in
      // Even if the test fails: a submitted request is answered, or the relay would not end.
      defer { log.release() }
      let socket = try Socket.connect(to: server.address)
      try Self.send(Self.request(1) + first, to: socket.borrowed)
      try Self.passTurn(server)
      try body(socket.borrowed) {
        try Self.passTurn(server)
        log.release()
      }
    }
  }

  /// Returns when the loop has been notified of everything that was sent before.
  private static func passTurn(_ server: Server) throws {
    let socket = try Socket.connect(to: server.address)
    try send(Array("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8), to: socket.borrowed)
    _ = try received(by: socket.borrowed, until: [])
  }

  // MARK: - Messages

  private static func content(_ number: Int) -> [UInt8] {
    Array(#"{"id":"number \#(number)","text":"hi"}"#.utf8)
  }

  private static func request(_ number: Int) -> [UInt8] {
    let content = content(number)
    let head = """
      POST /v1/rooms/general/messages?user=ada HTTP/1.1\r
      Host: localhost\r
      Content-Type: application/json\r
      Content-Length: \(content.count)\r\n\r\n
      """
    return Array(head.utf8) + content
  }

  private static func ack(_ number: Int) -> [UInt8] {
    Array(#""id":"number \#(number)","seq":\#(number),"#.utf8)
  }

  private static let upgrade = ClientHandshake(
    host: "localhost", target: "/ws?user=ada", subprotocols: [],
    nonce: Array(repeating: 7, count: 16)
  ).request

  private static func frame(_ opcode: Opcode, _ payload: String) -> [UInt8] {
    var bytes: [UInt8] = []
    // A key of zero masks nothing, and is valid.
    FrameHeader(opcode: opcode, maskKey: 0, payloadLength: payload.utf8.count).append(to: &bytes)
    return bytes + Array(payload.utf8)
  }

  // MARK: - The socket

  private static func send(_ bytes: [UInt8], to socket: BorrowedSocket) throws {
    try wait(POLLOUT, socket)
    guard case .sent(bytes.count) = socket.send(bytes.span) else {
      throw Unexpected("a socket that does not take \(bytes.count) bytes")
    }
  }

  /// Returns the output until it contains `end`, or to the end of the connection.
  private static func received(
    by socket: BorrowedSocket, until end: [UInt8]
  ) throws -> [UInt8] {
    var received: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while end.isEmpty || !received.contains(end) {
      try wait(POLLIN, socket)
      var span = buffer.mutableSpan
      switch socket.read(into: &span) {
      case .bytes(let count): received += buffer[..<count]
      case .wouldBlock: continue
      case .end: return received
      case .failed(let error): throw error
      }
    }
    return received
  }

  private static func wait(_ event: Int32, _ socket: BorrowedSocket) throws {
    guard becomes(event, socket.descriptor) else { throw Unexpected("silence") }
  }
}
