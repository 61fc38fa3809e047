internal import EventLoop
internal import Client
internal import Platform
internal import TLS
internal import WebSocket

/// The resources that all peers of a run share: the loop, the relay's addresses, what
/// their links share.
final class PeerLoop {
  /// Tokens with this bit belong to peers.
  static var tokenBit: UInt64 { LinkLoop<Peer>.tokenBit }

  let loop: EventLoop
  let url: RelayURL
  let addresses: [Address]
  private let sources: [Address]
  /// The rooms of the run, by index.
  let rooms: [String]
  /// Whether the addresses are those of equal relays, which share the clients; otherwise they are one
  /// relay's, and the first is preferred.
  let isBalanced: Bool
  /// Who vouches for the relay's certificate; `nil` = without TLS.
  let authorities: TLSContext?
  /// Sees every message of the peers.
  weak var observer: Run?
  /// When the bytes that are being handled arrived.
  var readAt = Instant(nanoseconds: 0)
  let executors = LinkLoop<Peer>()
  let links = LinkResources()

  init(
    _ loop: EventLoop, url: RelayURL, addresses: [Address], sources: [Address],
    rooms: [String] = [], isBalanced: Bool = false, authorities: TLSContext? = nil
  ) {
    self.loop = loop
    self.url = url
    self.addresses = addresses
    self.sources = sources
    self.rooms = rooms
    self.isBalanced = isBalanced
    self.authorities = authorities
  }

  /// Returns the source address of a client's connections; `nil` leaves the choice to the system.
  func source(of client: Int) -> Address? {
    sources.isEmpty ? nil : sources[client % sources.count]
  }
}
