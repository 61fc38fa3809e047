import Glibc
import Platform
import Server
import TestSupport
import Testing
import WebSocket

@Suite struct `The echo at /echo` {
  @Test func `returns text and binary, whole messages unchanged`() throws {
    try withEcho { peer in
      for length in [0, 1, 125, 126, 4096, 65_535, 65_536] {
        let payload = (0..<length).map { UInt8(truncatingIfNeeded: $0 % 127) }
        try peer.send(.text, payload)
        try peer.send(.binary, payload.map { 255 - $0 })
        try #expect(peer.next() == .message(.text, payload))
        try #expect(peer.next() == .message(.binary, payload.map { 255 - $0 }))
      }
    }
  }

  @Test func `returns fragments as one message, and answers a ping in between`() throws {
    try withEcho { peer in
      try peer.send(frame(.text, "one, ", fin: false))
      try peer.send(frame(.ping, "?"))
      try #expect(peer.next() == .pong("?"))
      try peer.send(frame(.continuation, "two, ", fin: false) + frame(.continuation, "three"))
      try #expect(peer.next() == .message(.text, Array("one, two, three".utf8)))
    }
  }

  @Test func `returns many messages in order, read late or not`() throws {
    try withEcho { peer in
      // More than both kernels and the queue hold: the relay stops reading meanwhile.
      let count = 4000
      let payload = [UInt8](repeating: 7, count: 8000)
      var sent = 0
      var received = 0
      while received < count {
        while sent < count, try peer.trySend(.binary, payload + [UInt8(sent & 0xFF)]) { sent += 1 }
        try #require(try peer.next() == .message(.binary, payload + [UInt8(received & 0xFF)]))
        received += 1
      }
    }
  }

  @Test(arguments: [1000, 1001, 3000, 4999])
  func `answers a close with the same code`(code: UInt16) throws {
    try withEcho { peer in
      try peer.send(.text, Array("last".utf8))
      try peer.send(frame(.close, [UInt8(code >> 8), UInt8(code & 0xFF)]))
      try #expect(peer.next() == .message(.text, Array("last".utf8)))
      try #expect(peer.next() == .close(CloseCode(rawValue: code)))
      try #expect(peer.next() == .end)
    }
  }

  @Test func `closes with the code of the violated rule`() throws {
    let broken: [(bytes: [UInt8], code: CloseCode)] = [
      (frame(.continuation, "of nothing"), .protocolError),
      (frame(.text, [0xC3, 0x28]), .invalidPayload),
      (frame(.close, [0x03, 0xED]), .protocolError),
      (frame(.binary, [UInt8](repeating: 0, count: 65_537)), .tooBig),
    ]
    for (bytes, code) in broken {
      try withEcho { peer in
        try peer.send(.text, Array("before".utf8))
        _ = try peer.trySend(bytes)
        try #expect(peer.next() == .message(.text, Array("before".utf8)))
        try #expect(peer.next() == .close(code))
      }
    }
  }

  @Test func `speaks no subprotocol, whatever is offered`() throws {
    try withServer(echo: true) { server in
      let peer = try EchoPeer(server, subprotocols: ["chat", "relay.v1"])
      #expect(peer.subprotocol == nil)
      try peer.send(.text, Array("hello".utf8))
      try #expect(peer.next() == .message(.text, Array("hello".utf8)))
    }
  }

  @Test func `ends at a shutdown with a close and nothing else`() throws {
    try withServer(echo: true) { server in
      let peer = try EchoPeer(server)
      server.shutDown()
      try #expect(peer.next() == .close(CloseCode(rawValue: 1012)))
    }
  }

  @Test func `exists only if the configuration enables it`() throws {
    try withServer { server in
      _ = #expect(throws: Unexpected.self) { _ = try EchoPeer(server) }
    }
  }

  private func withEcho(_ body: (EchoPeer) throws -> Void) throws {
    try withServer(echo: true) { try body(try EchoPeer($0)) }
  }

  private func frame(_ opcode: Opcode, _ text: String, fin: Bool = true) -> [UInt8] {
    frame(opcode, Array(text.utf8), fin: fin)
  }

  private func frame(_ opcode: Opcode, _ payload: [UInt8], fin: Bool = true) -> [UInt8] {
    var bytes: [UInt8] = []
    FrameHeader(fin: fin, opcode: opcode, maskKey: 0, payloadLength: payload.count)
      .append(to: &bytes)
    return bytes + payload
  }
}

/// A client of the echo, which waits for the output that it requests.
private final class EchoPeer {
  enum Received: Equatable {
    case message(Opcode, [UInt8])
    case pong(String)
    case close(CloseCode)
    case end
  }

  let subprotocol: String?
  private let socket: Socket
  private var connection = WebSocket.Connection(
    role: .client, limits: Limits(frameBytes: 0, messageBytes: 0, fragments: 0))
  private var input: [UInt8] = []
  private var taken = 0
  private var buffer = [UInt8](repeating: 0, count: 65_536)

  init(_ server: Server, subprotocols: [String] = []) throws {
    socket = try Socket.connect(to: server.address)
    try socket.borrowed.setReceiveBuffer(bytes: 65_536)
    let handshake = ClientHandshake(
      host: "\(server.address)", target: "/echo", subprotocols: subprotocols,
      nonce: Array(repeating: 7, count: 16))
    try Self.send(handshake.request, socket.borrowed)
    var head: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      guard becomes(POLLIN, socket.borrowed.descriptor) else { throw Unexpected("silence") }
      var span = buffer.mutableSpan
      guard case .bytes(let count) = socket.read(into: &span) else {
        throw Unexpected(String(decoding: head, as: UTF8.self))
      }
      head += buffer[..<count]
      if head.suffix(4) == [13, 10, 13, 10] || count == 0 { break }
    }
    let text = String(decoding: head, as: UTF8.self)
    guard text.hasPrefix("HTTP/1.1 101 ") else { throw Unexpected(text) }
    subprotocol =
      text.lowercased().split(separator: "\r\n").first { $0.hasPrefix("sec-websocket-protocol:") }
      .map(String.init)
  }

  func send(_ opcode: Opcode, _ payload: [UInt8]) throws {
    try Self.send(masked(opcode, payload), socket.borrowed)
  }

  func send(_ frames: [UInt8]) throws { try Self.send(frames, socket.borrowed) }

  /// The rest of a message that the socket has begun to accept is sent before the next one.
  private var rest: [UInt8] = []

  /// `false` if the socket accepts no more at present.
  func trySend(_ opcode: Opcode, _ payload: [UInt8]) throws -> Bool {
    try trySend(masked(opcode, payload))
  }

  func trySend(_ frames: [UInt8]) throws -> Bool {
    guard flushRest() else { return false }
    rest = frames
    _ = flushRest()
    return true
  }

  private func flushRest() -> Bool {
    while !rest.isEmpty {
      guard case .sent(let count) = socket.send(rest.span) else { return false }
      rest.removeFirst(count)
    }
    return true
  }

  func next() throws -> Received {
    while true {
      if taken < input.count {
        var output: [UInt8] = []
        var span = input.mutableSpan
        let event = try connection.next(
          in: &span, at: &taken, output: &output, maskKey: { 0x0102_0304 })
        switch event {
        case .message(let opcode, .input(let range)): return .message(opcode, Array(input[range]))
        case .message(let opcode, .assembled): return .message(opcode, connection.assembled)
        case .pong(let payload): return .pong(String(decoding: payload, as: UTF8.self))
        case .close(let code, _): return .close(code)
        case .ping: continue
        case nil: break
        }
      }
      _ = flushRest()
      guard becomes(POLLIN, socket.borrowed.descriptor) else { throw Unexpected("silence") }
      var span = buffer.mutableSpan
      switch socket.read(into: &span) {
      case .bytes(let count):
        input = Array(buffer[..<count])
        taken = 0
      case .wouldBlock: continue
      case .end, .failed: return .end
      }
    }
  }

  private func masked(_ opcode: Opcode, _ payload: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    connection.appendMessage(opcode, payload.span, to: &bytes, maskKey: 0x9A3B_5C7D)
    return bytes
  }

  private static func send(_ bytes: [UInt8], _ socket: BorrowedSocket) throws {
    var taken = 0
    while taken < bytes.count {
      guard becomes(POLLOUT, socket.descriptor) else {
        throw Unexpected("a socket that takes nothing")
      }
      switch socket.send(bytes.span.extracting(taken...)) {
      case .sent(let count): taken += count
      case .wouldBlock: continue
      case .failed(let error): throw error
      }
    }
  }
}
