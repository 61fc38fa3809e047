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

/// Waits until poll(2) reports `event`; false at the deadline.
public func becomes(
  _ event: Int32, _ descriptor: Int32, _ deadline: Deadline = Deadline(seconds: 10)
) -> Bool {
  var request = pollfd(fd: descriptor, events: Int16(event), revents: 0)
  while true {
    let count = unsafe poll(&request, 1, deadline.milliseconds)
    if count < 0, errno == EINTR { continue }
    return count > 0
  }
}

extension BorrowedSocket {
  /// Reads until the end, or until `count` bytes are there.
  public func readAll(upTo count: Int = .max) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while bytes.count < count, becomes(POLLIN, descriptor) {
      var span = buffer.mutableSpan
      guard case .bytes(let size) = read(into: &span) else { break }
      bytes += buffer[..<size]
    }
    return bytes
  }
}
