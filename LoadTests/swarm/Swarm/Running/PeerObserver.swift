internal import Client
internal import Wire

/// Who is told what goes over a peer's connections, as it goes: what the relay says is told before
/// the session has dropped doubles and put the order right.
protocol PeerObserver: AnyObject {
  /// It begins to connect.
  func peerConnects(_ peer: Peer)
  /// A message leaves.
  func peer(_ peer: Peer, transmits message: ClientMessage)
  /// A message has arrived; its frame's payload can be kept only as a copy.
  func peer(_ peer: Peer, received message: ServerMessage, _ json: Span<UInt8>)
  /// The connection has ended, or there was none to be had; `cut` ended it from this side.
  func peer(_ peer: Peer, lostConnection error: ClientError)
  /// What the session makes of it.
  func peer(_ peer: Peer, _ event: ClientEvent)
}
