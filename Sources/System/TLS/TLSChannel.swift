public import Platform

/// One side of a TLS connection over a socket: the session, and the ciphertext that the socket has
/// not accepted yet.
///
/// An idle channel holds no buffers, and OpenSSL only holds its own state for it; see
/// LoadTests/results/tls.md. Confined to one thread.
public final class TLSChannel {
  private var session: TLSSession
  /// Ciphertext to send, and how much of it the socket has accepted.
  private var backlog: [UInt8] = []
  private var sent = 0

  /// Creates the server's side; `nil` if there is no memory.
  public init?(server context: TLSContext) {
    guard let session = TLSSession(server: context) else { return nil }
    self.session = session
  }

  /// Creates the client's side, whose first flight the next `flush` sends; `nil` if there is no
  /// memory. See `TLSSession`.
  public init?(client context: TLSContext, host: String, resuming ticket: TLSTicket? = nil) {
    guard let session = TLSSession(client: context, host: host, resuming: ticket) else {
      return nil
    }
    self.session = session
    self.session.begin(output: &backlog)
  }

  /// The state of the session.
  public var state: TLSSession.State { session.state }
  /// A client's ticket for resumption.
  public var ticket: TLSTicket? { session.ticket }
  /// Whether ciphertext waits for the socket.
  public var hasBacklog: Bool { !backlog.isEmpty }
  /// The size of that ciphertext.
  public var backlogBytes: Int { backlog.count - sent }

  /// Reads once and decrypts all of it, so that no data waits where epoll cannot see it. What the
  /// session itself has to say is added to the backlog.
  ///
  /// - Parameter buffer: more than `TLSSession.headroomBytes`; receives the plaintext at its front.
  /// - Returns: the number of plaintext bytes, or why there are none; and the number of bytes that
  ///   the socket gave.
  public func read(
    from socket: BorrowedSocket, into buffer: inout MutableSpan<UInt8>
  ) -> (plaintext: ReadResult, receivedBytes: Int) {
    let start = TLSSession.headroomBytes
    var back = buffer._mutatingExtracting(start...)
    let result = socket.read(into: &back)
    guard case .bytes(let count) = result else { return (result, 0) }
    let plaintext = session.receive(
      in: &buffer, ciphertext: start..<start + count, output: &backlog)
    return (.bytes(plaintext), count)
  }

  /// Sends the backlog, then encrypts and sends one record at a time until the socket blocks. The
  /// unsent part of the last record is kept, since a record cannot be encrypted twice; its bytes
  /// count as taken.
  ///
  /// - Returns: the number of plaintext bytes taken, and of bytes that the socket accepted; `nil` if
  ///   the connection is gone or the session is not open.
  public func write(
    _ plaintext: Span<UInt8>, to socket: BorrowedSocket
  ) -> (taken: Int, sent: Int)? {
    guard var sent = flush(to: socket) else { return nil }
    var taken = 0
    while taken < plaintext.count, !hasBacklog {
      let count = session.send(plaintext.extracting(taken...), output: &backlog)
      guard count > 0, let more = flush(to: socket) else { return nil }
      sent += more
      taken += count
    }
    return (taken, sent)
  }

  /// Sends the backlog until the socket blocks.
  ///
  /// - Returns: how many bytes the socket accepted; `nil` if the connection is gone.
  public func flush(to socket: BorrowedSocket) -> Int? {
    guard hasBacklog else { return 0 }
    switch socket.send(backlog.span.extracting(sent...)) {
    case .sent(let count):
      sent += count
      if sent == backlog.count {
        backlog = []
        sent = 0
      }
      return count
    case .wouldBlock: return 0
    case .failed: return nil
    }
  }

  /// Sends `close_notify` (RFC 8446 §6.1) after the backlog, as far as the socket accepts it.
  public func close(to socket: BorrowedSocket) {
    session.close(output: &backlog)
    _ = flush(to: socket)
  }
}
