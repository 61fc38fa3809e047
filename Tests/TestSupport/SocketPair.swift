import Glibc
public import Platform

/// Both ends of a connection over loopback.
@frozen public struct SocketPair: ~Copyable {
  public var client: Socket
  public var server: Socket

  public init(receiveBufferBytes: Int? = nil) throws {
    let listener = try Listener.claim(Address("127.0.0.1:0"))
    if let receiveBufferBytes {
      // Accepted sockets inherit it.
      try BorrowedSocket(descriptor: listener.descriptor).setReceiveBuffer(
        bytes: receiveBufferBytes)
    }
    let client = try Socket.connect(to: listener.address)
    let server = try accept(from: listener)
    guard becomes(POLLOUT, client.descriptor) else { throw Unexpected("not connected") }
    try client.finishConnecting()
    self.client = client
    self.server = server
  }
}

/// Waits for the next client.
public func accept(from listener: borrowing Listener) throws -> Socket {
  guard becomes(POLLIN, listener.descriptor) else { throw Unexpected("no client connected") }
  switch listener.accept() {
  case .socket(let socket, _): return socket
  default: throw Unexpected("no client connected")
  }
}
