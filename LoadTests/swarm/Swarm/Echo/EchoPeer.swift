internal import Client
internal import EventLoop
internal import Platform
internal import WebSocket

/// Observes the peers of an echo server.
protocol EchoObserver: AnyObject {
  func echoPeerOpened(_ peer: EchoPeer)
  /// Called when the message is sent: from then on its echo is expected.
  func echoPeer(_ peer: EchoPeer, transmits send: EchoPeer.Send)
  func echoPeer(_ peer: EchoPeer, received bytes: Span<UInt8>, isText: Bool)
  /// The connection has ended or could not be established.
  func echoPeer(_ peer: EchoPeer, lostConnection reason: String)
}

/// One client of an echo server, which reconnects when its connection breaks. Messages are queued
/// meanwhile. Confined to its loop.
final class EchoPeer {
  struct Send {
    var number: Int
    var intended: UInt64
    var text: [UInt8]
  }

  let client: Int
  private let shared: PeerLoop
  private let target: String
  private unowned let observer: any EchoObserver
  let connection: LinkState
  private var backoff = Backoff(firstMilliseconds: 100, limitMilliseconds: 2_000)
  private var isEnded = false
  /// In the order of intended times.
  private(set) var queue: [Send] = []

  /// - Parameter target: of the handshake.
  init(client: Int, target: String, on shared: PeerLoop, observer: any EchoObserver) {
    self.client = client
    self.target = target
    self.shared = shared
    self.observer = observer
    connection = LinkState(shared.loop, shared.links, token: UInt64(client))
  }

  var isOpen: Bool { connection.link.isOpen }

  func send(_ send: Send) {
    queue.append(send)
    if isOpen { transmit() }
  }

  /// Closes the connection.
  func end() {
    isEnded = true
    connection.link.close(.normal, with: shared.links)
    connection.link.flush()
    connection.drop()
  }

  func connect() {
    guard !isEnded else { return }
    do {
      try connection.connect(to: shared.addresses[0], from: shared.source(of: client))
    } catch {
      connectingFailed(error)
    }
  }

  private func lose(_ reason: String) {
    connection.drop()
    observer.echoPeer(self, lostConnection: reason)
    guard !isEnded else { return }
    shared.loop.schedule(
      afterMilliseconds: backoff.nextMilliseconds(using: &shared.links.random),
      token: PeerLoop.tokenBit | UInt64(client))
  }

  private func transmit() {
    for send in queue {
      connection.link.append(.text, send.text.span, with: shared.links)
      observer.echoPeer(self, transmits: send)
    }
    queue.removeAll(keepingCapacity: true)
    flush()
  }
}

extension EchoPeer: LinkOwner {
  func handshake() -> ClientHandshake {
    ClientHandshake(host: shared.url.authority, target: target, nonce: shared.links.nonce())
  }

  func connectingFailed(_ error: SystemError) { lose("cannot connect: \(error)") }

  func opened() {
    backoff.reset()
    observer.echoPeerOpened(self)
    transmit()
  }

  func received(_ opcode: Opcode, _ message: Span<UInt8>) {
    observer.echoPeer(self, received: message, isText: opcode == .text)
  }

  func ended(_ end: LinkEnd) {
    switch end {
    case .handshake(let failure): lose("\(failure)")
    case .violation(let violation): lose("\(violation)")
    case .closed(let code, let reason):
      lose("the server closed the connection: \(code) \(reason)")
    case .lost(let error):
      lose(error.map { "\($0)" } ?? "the server closed the connection without a close frame")
    }
  }

  func outputWaits() { flush() }
}
