import Gateway
import Platform
import TLS
import WebSocket

/// Encrypted streams.
extension SocketWorld {
  /// The backlog exceeds this only if the peer makes the session send (alerts, key updates) and
  /// does not read; one record and a handshake flight are far smaller.
  private static let backlogLimitBytes = 65_536

  func hasBacklog(_ stream: Int) -> Bool {
    stream < streams.count && streams[stream]?.tls?.hasBacklog == true
  }

  func isShakingHands(_ stream: Int) -> Bool {
    stream < streams.count && streams[stream]?.tls?.state == .handshaking
  }

  /// Reads and decrypts; the plaintext is at the front of the buffer, as with a plain socket.
  func read(
    _ socket: BorrowedSocket, through tls: TLSChannel, into buffer: inout MutableSpan<UInt8>
  ) -> StreamRead {
    // The peer has sent `close_notify` (RFC 8446 §6.1) while a response was pending.
    if tls.state == .ended { return .end }
    let capacity = buffer.count - TLSSession.headroomBytes
    let (result, received) = tls.read(from: socket, into: &buffer)
    switch result {
    case .bytes(let plaintext):
      guard tls.flush(to: socket) != nil else { return .reset }
      guard tls.backlogBytes <= Self.backlogLimitBytes else { return .flooded }
      switch tls.state {
      case .handshaking, .open:
        return .bytes(plaintext, received: received, mayHaveMore: received == capacity)
      // The next read returns `.end`.
      case .ended: return .bytes(plaintext, received: received, mayHaveMore: true)
      case .failed(.plainHTTP):
        let response = HTTPResponse(
          status: 400, text: "This port requires TLS; use wss:// or https://.\n")
        _ = socket.send(response.bytes.span)
        return .unusable
      case .failed:
        if plaintext == 0 { return .unusable }
        return .bytes(plaintext, received: received, mayHaveMore: true)
      }
    case .wouldBlock: return .wouldBlock
    case .end: return .end
    case .failed: return .reset
    }
  }

  func drain(_ stream: Int) -> StreamWrite {
    guard let open = streams[stream], let tls = open.tls else { return .taken(0, sent: 0) }
    return tls.flush(to: open.socket).map { .taken(0, sent: $0) } ?? .gone
  }
}
