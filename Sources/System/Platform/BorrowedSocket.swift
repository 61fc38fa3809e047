internal import CLinux
internal import Glibc
/// A socket that another object owns: a copyable number.
///
/// Like an index it must not outlive its target; once the owner has closed the socket, the kernel
/// may reuse the number.
public struct BorrowedSocket: Hashable, Sendable {
  /// The descriptor, for `EventLoop.register`.
  public let descriptor: Int32

  /// Refers to a socket by its descriptor.
  public init(descriptor: Int32) {
    self.descriptor = descriptor
  }

  /// Reads available bytes to the front of `buffer`: recv(2), repeated if a signal interrupts it.
  public func read(into buffer: inout MutableSpan<UInt8>) -> ReadResult {
    precondition(!buffer.isEmpty, "an empty buffer cannot be told from the end of the stream")
    return ReadResult(
      unsafe buffer.withUnsafeMutableBufferPointer { bytes in
        unsafe clinux_receive(descriptor, bytes.baseAddress, bytes.count)
      })
  }

  /// Copies available bytes to the front of `buffer`, and leaves them in the socket: recv(2) with
  /// `MSG_PEEK`.
  public func peek(into buffer: inout MutableSpan<UInt8>) -> ReadResult {
    precondition(!buffer.isEmpty, "an empty buffer cannot be told from the end of the stream")
    return ReadResult(
      unsafe buffer.withUnsafeMutableBufferPointer { bytes in
        unsafe clinux_peek(descriptor, bytes.baseAddress, bytes.count)
      })
  }

  /// Sends from the front of `bytes`: send(2) with `MSG_NOSIGNAL`, repeated if a signal interrupts
  /// it.
  public func send(_ bytes: Span<UInt8>) -> SendResult {
    let count = unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe clinux_send(descriptor, bytes.baseAddress, bytes.count)
    }
    return SendResult(count, call: "send")
  }

  /// Throws the error of `Socket.connect`, if any. Called when the socket is writable.
  public func finishConnecting() throws(SystemError) {
    if let error = takeError() { throw SystemError("connect", code: error.code) }
  }

  /// Returns and clears the pending error of the connection: `SO_ERROR`.
  public func takeError() -> SystemError? {
    let code = clinux_pending_error(descriptor)
    precondition(code >= 0, "SO_ERROR requires an open socket")
    return code == 0 ? nil : SystemError("socket", code: code)
  }

  /// Sends the end of the stream; reading continues. Does nothing if the peer is gone.
  public func shutdownWrite() {
    _ = clinux_shutdown_write(descriptor)
  }

  /// Makes the owner's close a reset, which discards unsent data.
  public func resetOnClose() {
    _ = clinux_set_abort_on_close(descriptor)
  }

  /// The peer's address, while connected.
  public func peerAddress() throws(SystemError) -> Address {
    var raw = clinux_address()
    guard unsafe clinux_peer_address(descriptor, &raw) == 0 else {
      throw SystemError.last("getpeername")
    }
    return Address(raw)
  }

  /// The local address.
  public func localAddress() throws(SystemError) -> Address {
    var raw = clinux_address()
    guard unsafe clinux_local_address(descriptor, &raw) == 0 else {
      throw SystemError.last("getsockname")
    }
    return Address(raw)
  }

  /// Whether small writes are sent at once (`TCP_NODELAY`), as for all sockets created here.
  public var sendsAtOnce: Bool { clinux_no_delay(descriptor) == 1 }

  /// Milliseconds since the last acknowledgement of the peer's system, which does not depend on its
  /// process reading: `tcpi_last_ack_recv` of tcp(7).
  public var millisecondsSinceAck: Int64 {
    let age = clinux_last_ack_age(descriptor)
    precondition(age >= 0, "TCP_INFO requires an open socket")
    return age
  }

  /// Limits unsent data in the kernel (`SO_SNDBUF`), which doubles the number for its own needs.
  public func setSendBuffer(bytes: Int) throws(SystemError) {
    guard clinux_set_send_buffer(descriptor, Int32(clamping: bytes)) == 0 else {
      throw SystemError.last("setsockopt SO_SNDBUF")
    }
  }

  /// Limits unread data in the kernel (`SO_RCVBUF`), which doubles the number for its own needs.
  public func setReceiveBuffer(bytes: Int) throws(SystemError) {
    guard clinux_set_receive_buffer(descriptor, Int32(clamping: bytes)) == 0 else {
      throw SystemError.last("setsockopt SO_RCVBUF")
    }
  }
}

extension ReadResult {
  /// Converts the result and the errno of a recv(2) that has just returned.
  fileprivate init(_ count: Int) {
    self =
      if count > 0 {
        .bytes(count)
      } else if count == 0 {
        .end
      } else if errno == EAGAIN {
        .wouldBlock
      } else {
        .failed(SystemError.last("recv"))
      }
  }
}

extension SendResult {
  /// Converts the result and the errno of a call that has just returned.
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
