internal import Glibc
internal import Platform
internal import TLS

/// The TLS session of a client's connection, with the ciphertext that the socket has not accepted
/// yet.
final class LinkEncryption {
  private var session: TLSSession
  private var ciphertext: [UInt8] = []
  private var sent = 0

  /// Returns `nil` if there is no memory.
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

  /// Reads and decrypts at once, so that no data waits where epoll cannot see it. Output of the
  /// session itself is sent by the next flush.
  func read(from socket: BorrowedSocket, into buffer: inout MutableSpan<UInt8>) -> ReadResult {
    let start = TLSSession.headroomBytes
    let end = buffer.count
    var back = buffer._mutatingExtracting(start..<end)
    let result = socket.read(into: &back)
    guard case .bytes(let count) = result else { return result }
    return .bytes(
      session.receive(in: &buffer, ciphertext: start..<start + count, output: &ciphertext))
  }

  /// Sends the remaining ciphertext, then one record after another until the socket blocks. The
  /// unsent rest of the last record counts as sent.
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
      // An idle client keeps no buffer.
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
