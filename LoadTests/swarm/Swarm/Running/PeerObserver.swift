internal import Client
internal import Wire

/// Observes a peer's connections: it sees the relay's messages before the session has removed
/// duplicates and restored the order.
protocol PeerObserver: AnyObject {
  /// The peer begins to connect.
  func peerConnects(_ peer: Peer)
  /// A message is sent.
  func peer(_ peer: Peer, transmits message: ClientMessage)
  /// Bytes have arrived that begin with a frame. Returns how many of them are whole frames that
  /// need not be decoded, because they are known entries in the expected order.
  func peer(_ peer: Peer, knows bytes: Span<UInt8>) -> Oracle.KnownRun?
  /// The session has accepted them.
  func peer(_ peer: Peer, passed run: Oracle.KnownRun)
  /// A message has arrived; its frame's payload is valid only during the call.
  func peer(_ peer: Peer, received message: ServerMessage, _ json: Span<UInt8>)
  /// The connection has ended or could not be established; `cut` also causes this.
  func peer(_ peer: Peer, lostConnection error: ClientError)
  /// An event of the session.
  func peer(_ peer: Peer, _ event: ClientEvent)
}
