internal import Client
internal import Wire

/// Who is told what goes over a peer's connections, as it goes: what the relay says is told before
/// the session has dropped doubles and put the order right.
protocol PeerObserver: AnyObject {
  /// It begins to connect.
  func peerConnects(_ peer: Peer)
  /// A message leaves.
  func peer(_ peer: Peer, transmits message: ClientMessage)
  /// Bytes have arrived, that begin with a frame: how much of them is whole frames that need not be
  /// decoded, since they are entries that are known to be good, and come as they should.
  func peer(_ peer: Peer, knows bytes: Span<UInt8>) -> Oracle.KnownRun?
  /// The session has taken them.
  func peer(_ peer: Peer, passed run: Oracle.KnownRun)
  /// A message has arrived; its frame's payload can be kept only as a copy.
  func peer(_ peer: Peer, received message: ServerMessage, _ json: Span<UInt8>)
  /// The connection has ended, or there was none to be had; `cut` ended it from this side.
  func peer(_ peer: Peer, lostConnection error: ClientError)
  /// What the session makes of it.
  func peer(_ peer: Peer, _ event: ClientEvent)
}
