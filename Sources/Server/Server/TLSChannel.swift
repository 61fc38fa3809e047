import Platform
import TLS

/// The TLS side of one connection: its session, and the ciphertext that the socket has not accepted
/// yet.
///
/// An idle channel holds no buffers, and OpenSSL only holds its own state for it; see
/// LoadTests/results/tls.md. Confined to its loop's thread.
final class TLSChannel {
  /// The backlog exceeds this only if the peer makes the session send (alerts, key updates) and
  /// does not read; one record and a handshake flight are far smaller.
  static let backlogLimitBytes = 65_536

  var session: TLSSession
  /// Ciphertext that the socket has not accepted.
  private var backlog: [UInt8] = []
  private var sent = 0

  /// Returns `nil` if there is no memory.
  init?(_ context: TLSContext) {
    guard let session = TLSSession(server: context) else { return nil }
    self.session = session
  }

  /// Whether the handshake is in progress, so that nothing can be sent yet.
  var isShakingHands: Bool { session.state == .handshaking }
  var hasBacklog: Bool { !backlog.isEmpty }
  var backlogBytes: Int { backlog.count - sent }

  /// Sends the backlog and then `ciphertext`, until the socket blocks; keeps the rest.
  ///
  /// - Returns: how many bytes the socket accepted; `nil` if the connection is gone.
  func send(_ ciphertext: [UInt8], to socket: BorrowedSocket) -> Int? {
    var taken = 0
    if hasBacklog {
      switch socket.send(backlog.span.extracting(sent...)) {
      case .sent(let count):
        sent += count
        taken = count
      case .wouldBlock: break
      case .failed: return nil
      }
      if sent < backlog.count {
        backlog += ciphertext
        return taken
      }
      backlog = []
      sent = 0
    }
    if ciphertext.isEmpty { return taken }
    switch socket.send(ciphertext.span) {
    case .sent(let count):
      if count < ciphertext.count { backlog = Array(ciphertext[count...]) }
      return taken + count
    case .wouldBlock:
      backlog = ciphertext
      return taken
    case .failed: return nil
    }
  }
}
