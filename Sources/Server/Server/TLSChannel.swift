import Platform
import TLS

/// The encrypted side of one connection: its session, and what the socket has not taken of it.
///
/// An idle one holds no buffers here, and none in OpenSSL but its own state; see
/// LoadTests/results/tls.md. Confined to its loop's thread.
final class TLSChannel {
  /// More than this is left over only if the peer makes us talk (alerts, new keys) and does not
  /// listen; one record and a handshake's flight are far less.
  static let backlogLimitBytes = 65_536

  var session: TLSSession
  /// Ciphertext that the socket did not take.
  private var backlog: [UInt8] = []
  private var sent = 0

  /// `nil` without memory.
  init?(_ context: TLSContext) {
    guard let session = TLSSession(server: context) else { return nil }
    self.session = session
  }

  /// Nothing can be said yet.
  var isShakingHands: Bool { session.state == .handshaking }
  var hasBacklog: Bool { !backlog.isEmpty }
  var backlogBytes: Int { backlog.count - sent }

  /// Sends what is left over and then `ciphertext`, as far as the socket takes it; keeps the rest.
  ///
  /// - Returns: how many bytes the socket took; `nil` if the connection is gone.
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
