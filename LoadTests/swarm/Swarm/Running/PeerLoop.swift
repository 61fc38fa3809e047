internal import EventLoop
internal import Client
internal import Platform
internal import WebSocket

/// The resources that all peers of a run share: the loop, the relay's addresses, what
/// their links share.
final class PeerLoop {
  /// Tokens with this bit belong to peers.
  static let tokenBit: UInt64 = 1 << 63

  let loop: EventLoop
  let url: RelayURL
  let addresses: [Address]
  private let sources: [Address]
  /// The rooms of the run, by index.
  let rooms: [String]
  /// Whether the addresses are those of equal relays, which share the clients; otherwise they are one
  /// relay's, and the first is preferred.
  let isBalanced: Bool
  weak var observer: (any PeerObserver)?
  /// When the bytes that are being handled arrived.
  var readAt = Instant(nanoseconds: 0)
  private var peers: [Peer?] = []
  private var dirty: [Int] = []
  let links = LinkResources()

  init(
    _ loop: EventLoop, url: RelayURL, addresses: [Address], sources: [Address],
    rooms: [String] = [], isBalanced: Bool = false
  ) {
    self.loop = loop
    self.url = url
    self.addresses = addresses
    self.sources = sources
    self.rooms = rooms
    self.isBalanced = isBalanced
  }

  /// Returns the source address of a client's connections; `nil` leaves the choice to the system.
  func source(of client: Int) -> Address? {
    sources.isEmpty ? nil : sources[client % sources.count]
  }

  func insert(_ peer: Peer) -> Int {
    peers.append(peer)
    return peers.count - 1
  }

  func remove(_ index: Int) { peers[index] = nil }

  func ready(token: UInt64, _ readiness: Readiness) { peer(of: token)?.ready(readiness) }

  func timerFired(_ timer: TimerID, token: UInt64) { peer(of: token)?.timerFired(timer) }

  /// Sends pending output: one send(2) for each peer that has some.
  func flush() {
    var index = 0
    while index < dirty.count {
      peers[dirty[index]]?.flush()
      index += 1
    }
    dirty.removeAll(keepingCapacity: true)
  }

  func markDirty(_ index: Int) { dirty.append(index) }

  static func token(of index: Int) -> UInt64 { tokenBit | UInt64(index) }

  private func peer(of token: UInt64) -> Peer? { peers[Int(token & ~Self.tokenBit)] }
}
