import Glibc
import Platform
import TestSupport
import WebSocket

/// A client that knows WebSocket and nothing of relay.v1: its messages are text.
///
/// Blocks, but no longer than 10 s.
final class Peer {
  enum Received: Equatable {
    case text(String)
    case close(UInt16)
  }

  private let socket: BorrowedSocket
  private var webSocket = Connection(
    role: .client, limits: Limits(frameBytes: 0, messageBytes: 0, fragments: 0))
  private var received: [Received] = []
  private var random = SystemRandomNumberGenerator()

  /// Connects and opens a WebSocket.
  /// - Parameter target: path and query.
  init(_ address: Address, _ target: String) throws {
    socket = BorrowedSocket(descriptor: try Socket.connect(to: address).release())
    guard becomes(POLLOUT, socket.descriptor) else {
      throw Unexpected("no connection to \(address)")
    }
    let nonce = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
    var handshake = ClientHandshake(
      host: "\(address)", target: target, subprotocols: ["relay.v1"], nonce: nonce)
    try write(handshake.request)
    var answer: [UInt8] = []
    while true {
      answer += try read()
      guard let opening = try handshake.read(answer.span, headerLimitBytes: 8192)
      else { continue }
      guard opening.subprotocol == "relay.v1" else { throw Unexpected("another subprotocol") }
      try take(Array(answer[opening.length...]))
      return
    }
  }

  deinit { Glibc.close(socket.descriptor) }

  func send(_ text: String) throws {
    var frame: [UInt8] = []
    let payload = Array(text.utf8)
    webSocket.appendMessage(
      .text, payload.span, to: &frame, maskKey: .random(in: 0 ... .max, using: &random))
    try write(frame)
  }

  /// The next message, or the close.
  func receive() throws -> Received {
    while received.isEmpty { try take(try read()) }
    return received.removeFirst()
  }

  private func take(_ bytes: [UInt8]) throws {
    var bytes = bytes
    var input = bytes.mutableSpan
    var offset = 0
    var answers: [UInt8] = []
    while let event = try webSocket.next(
      in: &input, at: &offset, output: &answers, maskKey: { .random(in: 0 ... .max) })
    {
      switch event {
      case .message(.text, .input(let range)):
        received.append(.text(String(decoding: range.map { input[$0] }, as: UTF8.self)))
      case .message(.text, .assembled):
        received.append(.text(String(decoding: webSocket.assembled, as: UTF8.self)))
      case .message: throw Unexpected("a binary message")
      case .close(let code, _): received.append(.close(code.rawValue))
      case .ping, .pong: break
      }
    }
    if !answers.isEmpty { try write(answers) }
  }

  // MARK: - The socket

  private func read() throws -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while becomes(POLLIN, socket.descriptor) {
      var span = buffer.mutableSpan
      switch socket.read(into: &span) {
      case .bytes(let count): return Array(buffer[..<count])
      case .wouldBlock: continue
      case .end, .failed: throw Unexpected("the connection ended without a close")
      }
    }
    throw Unexpected("nothing came within 10 s")
  }

  private func write(_ bytes: [UInt8]) throws {
    guard case .sent(bytes.count) = socket.send(bytes.span) else {
      throw Unexpected("the socket does not take \(bytes.count) bytes")
    }
  }
}
