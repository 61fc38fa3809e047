import Glibc
import Platform
import TestSupport

/// One HTTP request as a test writes it, and whatever comes back.
final class HTTPExchange {
  private let socket: BorrowedSocket
  private var received: [UInt8] = []

  /// - Parameter receiveBufferBytes: how much the kernel takes before it is read; `nil` = as usual.
  init(_ relay: RelayProcess, _ request: String, receiveBufferBytes: Int? = nil) throws {
    socket = try Self.connect(relay.port)
    if let receiveBufferBytes { try socket.setReceiveBuffer(bytes: receiveBufferBytes) }
    try wait(POLLOUT)
    try socket.finishConnecting()
    let bytes = Array(request.utf8)
    guard case .sent(bytes.count) = socket.send(bytes.span) else {
      throw Unexpected("the request was not taken")
    }
  }

  deinit { close(socket.descriptor) }

  /// All that comes until the relay hangs up.
  func answer() throws -> String {
    while try receive() {}
    return String(decoding: received, as: UTF8.self)
  }

  /// The status line.
  func firstLine() throws -> String {
    while !received.contains(0x0A) {
      guard try receive() else { break }
    }
    return String(decoding: received.prefix { $0 != 0x0D }, as: UTF8.self)
  }

  private func receive() throws -> Bool {
    try wait(POLLIN)
    var buffer = [UInt8](repeating: 0, count: 4096)
    var span = buffer.mutableSpan
    switch socket.read(into: &span) {
    case .bytes(let count):
      received += buffer[..<count]
      return true
    case .wouldBlock: return true
    case .end, .failed: return false
    }
  }

  private func wait(_ event: Int32) throws {
    guard becomes(event, socket.descriptor, Deadline(seconds: 30)) else {
      throw Unexpected("no answer")
    }
  }

  private static func connect(_ port: UInt16) throws -> BorrowedSocket {
    let socket = try Socket.connect(to: Address("127.0.0.1:\(port)"))
    return BorrowedSocket(descriptor: socket.release())
  }
}
