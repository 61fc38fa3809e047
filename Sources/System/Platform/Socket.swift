internal import CLinux
internal import Glibc
/// The result of reading.
public enum ReadResult: Sendable {
  /// The number of bytes read, at least one.
  case bytes(Int)
  /// No data is available; wait for `readable`.
  case wouldBlock
  /// The peer has stopped sending. It may still be reading.
  case end
  /// The connection is gone, for example `ECONNRESET`.
  case failed(SystemError)
}

/// The result of sending.
public enum SendResult: Sendable {
  /// The number of bytes accepted; if there are more, wait for `writable`.
  case sent(Int)
  /// No byte was accepted; wait for `writable`.
  case wouldBlock
  /// The connection is gone: `EPIPE`, `ECONNRESET`.
  case failed(SystemError)
}

/// A TCP socket, owned and closed when the value is deinitialized.
///
/// Non-blocking, close-on-exec, `TCP_NODELAY`. Must be deregistered from its loop before that. Code
/// that cannot hold a `~Copyable` value stores `borrowed` beside it, or takes it over by
/// `release()`.
public struct Socket: ~Copyable, Sendable {
  /// The descriptor, for `EventLoop.register`.
  public let descriptor: Int32

  /// Takes ownership of a descriptor, which must not be closed elsewhere from now on.
  public init(owning descriptor: Int32) {
    precondition(descriptor >= 0, "not a descriptor")
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// Gives up ownership of the descriptor without closing it.
  public consuming func release() -> Int32 {
    let descriptor = descriptor
    discard self
    return descriptor
  }

  /// Starts to connect. The socket becomes writable when the attempt has ended: then call
  /// `finishConnecting()`.
  ///
  /// - Parameter source: a local address of the same family, with port 0: the system chooses one. A
  ///   pair of addresses is limited to as many connections as there are local ports (28,232 by
  ///   default, `net.ipv4.ip_local_port_range`); more require several sources.
  public static func connect(
    to address: Address, from source: Address? = nil
  ) throws(SystemError) -> Socket {
    let descriptor = clinux_tcp_socket(address.isIPv6 ? 1 : 0)
    if descriptor < 0 { throw SystemError.last("socket") }
    let socket = Socket(owning: descriptor)
    if let source {
      var raw = source.raw
      if unsafe clinux_bind_source(descriptor, &raw) < 0 {
        throw SystemError.last("bind \(source.host)")
      }
    }
    var raw = address.raw
    // EINTR: as with EINPROGRESS, the attempt continues.
    if unsafe clinux_connect(descriptor, &raw) < 0, errno != EINPROGRESS, errno != EINTR {
      throw SystemError.last("connect \(address)")
    }
    return socket
  }

  /// A copyable, non-owning reference with all operations.
  public var borrowed: BorrowedSocket { BorrowedSocket(descriptor: descriptor) }

  /// Reads available bytes to the front of `buffer`: recv(2).
  public func read(into buffer: inout MutableSpan<UInt8>) -> ReadResult {
    borrowed.read(into: &buffer)
  }

  /// Sends from the front of `bytes`: send(2).
  public func send(_ bytes: Span<UInt8>) -> SendResult { borrowed.send(bytes) }

  /// See `BorrowedSocket.finishConnecting()`.
  public func finishConnecting() throws(SystemError) { try borrowed.finishConnecting() }

  /// See `BorrowedSocket.shutdownWrite()`.
  public func shutdownWrite() { borrowed.shutdownWrite() }

  /// Resets the connection: unsent data is discarded.
  public consuming func abort() { borrowed.resetOnClose() }

  /// The peer's address, while connected.
  public func peerAddress() throws(SystemError) -> Address { try borrowed.peerAddress() }

  /// The local address.
  public func localAddress() throws(SystemError) -> Address { try borrowed.localAddress() }
}
