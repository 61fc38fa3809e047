internal import Glibc
internal import Platform
internal import TLS

/// The encrypted side of a client's connection: its session, and what the socket has not taken of it.
final class LinkEncryption {
  private var session: TLSSession
  private var ciphertext: [UInt8] = []
  private var sent = 0

  /// `nil` without memory.
  init?(_ context: TLSContext, host: String, resuming ticket: TLSTicket?) {
    guard let session = TLSSession(client: context, host: host, resuming: ticket) else {
      return nil
    }
    self.session = session
  }

  var state: TLSSession.State { session.state }
  var ticket: TLSTicket? { session.ticket }
  var unsentBytes: Int { ciphertext.count - sent }

  func begin() { session.begin(output: &ciphertext) }

  /// All that was read is decrypted here and now, so that nothing waits where epoll cannot see it.
  /// What the session answers is for the next flush.
  func read(from socket: BorrowedSocket, into buffer: inout MutableSpan<UInt8>) -> ReadResult {
    let start = TLSSession.headroomBytes
    let end = buffer.count
    var back = buffer._mutatingExtracting(start..<end)
    let result = socket.read(into: &back)
    guard case .bytes(let count) = result else { return result }
    return .bytes(
      session.receive(in: &buffer, ciphertext: start..<start + count, output: &ciphertext))
  }

  /// Sends what is left over, and then a record after the other until the socket blocks; what it has
  /// not taken of the last one counts as taken.
  func send(_ plaintext: Span<UInt8>, to socket: BorrowedSocket) -> SendResult {
    var taken = 0
    while true {
      if unsentBytes > 0 {
        switch socket.send(ciphertext.span.extracting(sent...)) {
        case .sent(let count): sent += count
        case .wouldBlock: return .sent(taken)
        case .failed(let error): return .failed(error)
        }
        if unsentBytes > 0 { return .sent(taken) }
      }
      // A client at rest keeps nothing.
      ciphertext = []
      sent = 0
      let count = session.send(plaintext.extracting(taken...), output: &ciphertext)
      if case .failed = session.state { return .failed(SystemError("encrypt", code: EPROTO)) }
      if count == 0, ciphertext.isEmpty { return .sent(taken) }
      taken += count
    }
  }

  func close(to socket: BorrowedSocket) {
    guard unsentBytes == 0 else { return }
    var goodbye: [UInt8] = []
    session.close(output: &goodbye)
    if !goodbye.isEmpty { _ = socket.send(goodbye.span) }
  }
}
