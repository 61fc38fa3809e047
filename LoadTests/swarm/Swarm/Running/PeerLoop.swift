internal import EventLoop
internal import Client
internal import Platform
internal import WebSocket

/// The resources that all peers of a run share: the loop, the relay's addresses, one read buffer.
final class PeerLoop {
  /// Tokens with this bit belong to peers.
  static let tokenBit: UInt64 = 1 << 63
  private static let readBytes = 64 * 1024

  let loop: EventLoop
  let url: RelayURL
  let addresses: [Address]
  /// The source addresses of connections; empty leaves the choice to the system.
  let sources: [Address]
  /// The rooms of the run, by index.
  let rooms: [String]
  weak var observer: (any PeerObserver)?
  /// When the bytes that are being handled arrived.
  var readAt = Instant(nanoseconds: 0)
  private var peers: [Peer?] = []
  private var dirty: [Int] = []
  private var readBuffer = [UInt8](repeating: 0, count: PeerLoop.readBytes)
  private var scratch: [UInt8] = []
  var random = SystemRandomNumberGenerator()

  init(_ loop: EventLoop, url: RelayURL, addresses: [Address], sources: [Address], rooms: [String])
  {
    self.loop = loop
    self.url = url
    self.addresses = addresses
    self.sources = sources
    self.rooms = rooms
  }

  /// Begins to connect, from the client's source address.
  func connect(to address: Address, for client: Int) throws(SystemError) -> Socket {
    try Socket.connect(
      to: address, from: sources.isEmpty ? nil : sources[client % sources.count])
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

  /// Lent while its content is passed to an observer.
  func borrowReadBuffer() -> [UInt8] {
    var buffer: [UInt8] = []
    swap(&buffer, &readBuffer)
    return buffer
  }

  func returnReadBuffer(_ buffer: consuming [UInt8]) { readBuffer = buffer }

  func withScratch(_ body: (inout [UInt8]) -> Void) {
    scratch.removeAll(keepingCapacity: true)
    body(&scratch)
  }

  func nextMaskKey() -> UInt32 { random.next() }
}
