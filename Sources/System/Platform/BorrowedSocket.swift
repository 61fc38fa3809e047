internal import CLinux
internal import Glibc
/// A socket that someone else owns: a number, to be kept in slabs and copied.
///
/// Like an index it must not outlive what it points to; once the owner has closed the socket, the
/// kernel may give the number to another one.
public struct BorrowedSocket: Hashable, Sendable {
  /// The descriptor, for `EventLoop.register`.
  public let descriptor: Int32

  /// Names a socket by its descriptor.
  public init(descriptor: Int32) {
    self.descriptor = descriptor
  }

  /// Reads what is there into the front of `buffer`: recv(2), again if a signal interrupts it.
  public func read(into buffer: inout MutableSpan<UInt8>) -> ReadResult {
    precondition(!buffer.isEmpty, "reading nothing cannot be told from the end")
    let count = unsafe buffer.withUnsafeMutableBufferPointer { bytes in
      unsafe clinux_receive(descriptor, bytes.baseAddress, bytes.count)
    }
    if count > 0 { return .bytes(count) }
    if count == 0 { return .end }
    return errno == EAGAIN ? .wouldBlock : .failed(SystemError.last("recv"))
  }

  /// Sends from the front of `bytes`: send(2) with `MSG_NOSIGNAL`, again if a signal interrupts it.
  public func send(_ bytes: Span<UInt8>) -> SendResult {
    let count = unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe clinux_send(descriptor, bytes.baseAddress, bytes.count)
    }
    return SendResult(count, call: "send")
  }

  /// To be called once the socket of `Socket.connect` is writable: throws why it is not connected.
  public func finishConnecting() throws(SystemError) {
    if let error = takeError() { throw SystemError("connect", code: error.code) }
  }

  /// What went wrong with the connection, once: `SO_ERROR`.
  public func takeError() -> SystemError? {
    let code = clinux_pending_error(descriptor)
    precondition(code >= 0, "SO_ERROR was asked of a descriptor that is no socket of ours")
    return code == 0 ? nil : SystemError("socket", code: code)
  }

  /// Tells the peer that nothing more comes; reading goes on. Nothing happens if it is gone.
  public func shutdownWrite() {
    _ = clinux_shutdown_write(descriptor)
  }

  /// Makes the owner's close a reset, which throws away what is still unsent.
  public func resetOnClose() {
    _ = clinux_set_abort_on_close(descriptor)
  }

  /// The other end, while connected.
  public func peerAddress() throws(SystemError) -> Address {
    var raw = clinux_address()
    guard unsafe clinux_peer_address(descriptor, &raw) == 0 else {
      throw SystemError.last("getpeername")
    }
    return Address(raw)
  }

  /// This end.
  public func localAddress() throws(SystemError) -> Address {
    var raw = clinux_address()
    guard unsafe clinux_local_address(descriptor, &raw) == 0 else {
      throw SystemError.last("getsockname")
    }
    return Address(raw)
  }

  /// Whether small writes leave at once (`TCP_NODELAY`): so it is for all sockets made here.
  public var sendsAtOnce: Bool { clinux_no_delay(descriptor) == 1 }

  /// Milliseconds since the peer's system acknowledged something, whether or not its process reads:
  /// `tcpi_last_ack_recv` of tcp(7).
  public var millisecondsSinceAck: Int64 {
    let age = clinux_last_ack_age(descriptor)
    precondition(age >= 0, "TCP_INFO was asked of a descriptor that is no socket of ours")
    return age
  }

  /// Bounds what the kernel keeps unsent (`SO_SNDBUF`); it doubles the number for its own needs.
  public func setSendBuffer(bytes: Int) throws(SystemError) {
    guard clinux_set_send_buffer(descriptor, Int32(clamping: bytes)) == 0 else {
      throw SystemError.last("setsockopt SO_SNDBUF")
    }
  }

  /// Bounds what the kernel keeps unread (`SO_RCVBUF`); it doubles the number for its own needs.
  public func setReceiveBuffer(bytes: Int) throws(SystemError) {
    guard clinux_set_receive_buffer(descriptor, Int32(clamping: bytes)) == 0 else {
      throw SystemError.last("setsockopt SO_RCVBUF")
    }
  }
}

extension SendResult {
  /// Reads the result and the errno of a call that has just returned.
  init(_ count: Int, call: String) {
    self =
      if count >= 0 {
        .sent(count)
      } else if errno == EAGAIN {
        .wouldBlock
      } else {
        .failed(SystemError.last(call))
      }
  }
}
