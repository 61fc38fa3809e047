import Gateway
import Platform
import TLS
import WebSocket

/// Encrypted streams.
extension SocketWorld {
  func hasBacklog(_ stream: Int) -> Bool {
    stream < streams.count && streams[stream]?.tls?.hasBacklog == true
  }

  func isShakingHands(_ stream: Int) -> Bool {
    stream < streams.count && streams[stream]?.tls?.isShakingHands == true
  }

  /// Reads and decrypts; the plaintext is at the front of the buffer, as with a plain socket. All
  /// ciphertext that was read is decrypted immediately, so that no data waits where epoll cannot
  /// see it.
  func read(
    _ socket: BorrowedSocket, through tls: TLSChannel, into buffer: inout MutableSpan<UInt8>
  ) -> StreamRead {
    // The peer has sent `close_notify` (RFC 8446 §6.1) while a response was pending.
    if tls.session.state == .ended { return .end }
    let start = TLSSession.headroomBytes
    var back = buffer._mutatingExtracting(start...)
    let capacity = back.count
    switch socket.read(into: &back) {
    case .bytes(let count):
      ciphertext.removeAll(keepingCapacity: true)
      let plaintext = tls.session.receive(
        in: &buffer, ciphertext: start..<start + count, output: &ciphertext)
      guard tls.send(ciphertext, to: socket) != nil else { return .reset }
      guard tls.backlogBytes <= TLSChannel.backlogLimitBytes else { return .flooded }
      let read = StreamRead.bytes(plaintext, received: count, mayHaveMore: count == capacity)
      switch tls.session.state {
      case .handshaking, .open: return read
      // The next read returns `.end`.
      case .ended: return .bytes(plaintext, received: count, mayHaveMore: true)
      case .failed(.plainHTTP):
        let response = HTTPResponse(
          status: 400, text: "This port requires TLS; use wss:// or https://.\n")
        _ = socket.send(response.bytes.span)
        return .unusable
      case .failed:
        if plaintext == 0 { return .unusable }
        return .bytes(plaintext, received: count, mayHaveMore: true)
      }
    case .wouldBlock: return .wouldBlock
    case .end: return .end
    case .failed: return .reset
    }
  }

  /// Encrypts and sends one record at a time until the socket blocks. The unsent part of the last
  /// record is kept, since a record cannot be encrypted twice; its bytes count as taken.
  func write(
    _ bytes: Span<UInt8>, to socket: BorrowedSocket, through tls: TLSChannel
  ) -> StreamWrite {
    guard var sent = tls.send([], to: socket) else { return .gone }
    var taken = 0
    while taken < bytes.count, !tls.hasBacklog {
      ciphertext.removeAll(keepingCapacity: true)
      let count = tls.session.send(bytes.extracting(taken...), output: &ciphertext)
      guard count > 0, let more = tls.send(ciphertext, to: socket) else { return .gone }
      sent += more
      taken += count
    }
    return .taken(taken, sent: sent)
  }

  func drain(_ stream: Int) -> StreamWrite {
    guard let open = streams[stream], let tls = open.tls else { return .taken(0, sent: 0) }
    return tls.send([], to: open.socket).map { .taken(0, sent: $0) } ?? .gone
  }

  /// Sends `close_notify`.
  func sendCloseNotify(_ socket: BorrowedSocket, _ tls: TLSChannel) {
    ciphertext.removeAll(keepingCapacity: true)
    tls.session.close(output: &ciphertext)
    _ = tls.send(ciphertext, to: socket)
  }
}
