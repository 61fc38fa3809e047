internal import CLinux
internal import Glibc
/// What came of reading.
public enum ReadResult: Sendable {
  /// That many bytes, at least one.
  case bytes(Int)
  /// Nothing is there; wait for `readable`.
  case wouldBlock
  /// The peer has stopped sending. It may still be reading.
  case end
  /// The connection is gone: `ECONNRESET`, say.
  case failed(SystemError)
}

/// What came of sending.
public enum SendResult: Sendable {
  /// That many bytes were taken, perhaps fewer than there are: then wait for `writable`.
  case sent(Int)
  /// None was taken; wait for `writable`.
  case wouldBlock
  /// The connection is gone: `EPIPE`, `ECONNRESET`.
  case failed(SystemError)
}

/// A TCP socket that is owned here and closed once, when the value goes.
///
/// Non-blocking, close-on-exec, `TCP_NODELAY`. Deregister it from its loop before it goes. What
/// cannot hold a `~Copyable` value keeps `borrowed` beside it, or takes it over by `release()`.
public struct Socket: ~Copyable, Sendable {
  /// The descriptor, for `EventLoop.register`.
  public let descriptor: Int32

  /// Takes over a descriptor; nobody else may close it from now on.
  public init(owning descriptor: Int32) {
    precondition(descriptor >= 0, "not a descriptor")
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// Gives the descriptor up without closing it.
  public consuming func release() -> Int32 {
    let descriptor = descriptor
    discard self
    return descriptor
  }

  /// Begins to connect. The socket becomes writable when that has come to an end: then ask
  /// `takeError()`.
  ///
  /// - Parameter source: one of this machine's addresses, of the same family, with port 0: the
  ///   system chooses one. A pair of addresses has no more connections than there are ports to
  ///   choose from (28,232 by default, `net.ipv4.ip_local_port_range`); more need several sources.
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
    // EINTR: like EINPROGRESS, the attempt goes on.
    if unsafe clinux_connect(descriptor, &raw) < 0, errno != EINPROGRESS, errno != EINTR {
      throw SystemError.last("connect \(address)")
    }
    return socket
  }

  /// All that a socket can do, without owning it.
  public var borrowed: BorrowedSocket { BorrowedSocket(descriptor: descriptor) }

  /// Reads what is there into the front of `buffer`: recv(2).
  public func read(into buffer: inout MutableSpan<UInt8>) -> ReadResult {
    borrowed.read(into: &buffer)
  }

  /// Sends from the front of `bytes`: send(2).
  public func send(_ bytes: Span<UInt8>) -> SendResult { borrowed.send(bytes) }

  /// See `BorrowedSocket.finishConnecting()`.
  public func finishConnecting() throws(SystemError) { try borrowed.finishConnecting() }

  /// See `BorrowedSocket.shutdownWrite()`.
  public func shutdownWrite() { borrowed.shutdownWrite() }

  /// Ends the connection with a reset: what is still unsent is thrown away.
  public consuming func abort() { borrowed.resetOnClose() }

  /// The other end, while connected.
  public func peerAddress() throws(SystemError) -> Address { try borrowed.peerAddress() }

  /// This end.
  public func localAddress() throws(SystemError) -> Address { try borrowed.localAddress() }
}
