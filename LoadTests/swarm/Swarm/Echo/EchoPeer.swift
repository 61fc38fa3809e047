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
  private var link = Link()
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
  }

  var isOpen: Bool { link.isOpen }

  func send(_ send: Send) {
    queue.append(send)
    if link.isOpen { transmit() }
  }

  /// Closes the connection.
  func end() {
    isEnded = true
    link.close(.normal, with: shared.links)
    link.flush()
    drop()
  }

  // MARK: Connecting

  func connect() {
    guard !isEnded else { return }
    do {
      try link.connect(
        to: shared.addresses[0], from: shared.source(of: client), on: shared.loop,
        token: UInt64(client))
    } catch {
      lose("cannot connect: \(error)")
    }
  }

  func ready(_ readiness: Readiness) {
    switch link.phase {
    case .none, .resolving, .securing: break
    case .connecting:
      if let error = link.connectionError() { return lose("cannot connect: \(error)") }
      link.begin(
        ClientHandshake(
          host: shared.url.authority, target: target, nonce: shared.links.nonce()))
      flush()
    case .handshaking, .open:
      if !readiness.isDisjoint(with: [.readable, .closed, .failed]) { read() }
      if readiness.contains(.writable) { flush() }
    }
  }

  private func lose(_ reason: String) {
    drop()
    observer.echoPeer(self, lostConnection: reason)
    guard !isEnded else { return }
    shared.loop.schedule(
      afterMilliseconds: backoff.nextMilliseconds(using: &shared.links.random),
      token: PeerLoop.token(of: client))
  }

  private func drop() { link.drop(from: shared.loop) }

  // MARK: Reading

  private func read() {
    var input = shared.links.borrowInput()
    defer { shared.links.returnInput(input) }
    for _ in 0..<Link.readsPerTurn {
      switch link.read(into: &input) {
      case .bytes:
        take(&input)
        if !input.isFull { return }
      case .nothing: return
      case .ended(let end): return lose(Self.reason(of: end))
      }
    }
  }

  private func take(_ input: inout LinkInput) {
    while let event = link.next(in: &input, with: shared.links) {
      switch event {
      case .opened:
        backoff.reset()
        observer.echoPeerOpened(self)
        transmit()
      case .message(let opcode):
        input.withMessage { observer.echoPeer(self, received: $0, isText: opcode == .text) }
      case .ended(let end): return lose(Self.reason(of: end))
      }
    }
    if link.hasOutput { flush() }
  }

  private static func reason(of end: LinkEnd) -> String {
    switch end {
    case .handshake(let failure): "\(failure)"
    case .violation(let violation): "\(violation)"
    case .closed(let code, let reason): "the server closed the connection: \(code) \(reason)"
    case .lost(let error):
      error.map { "\($0)" } ?? "the server closed the connection without a close frame"
    }
  }

  // MARK: Writing

  private func transmit() {
    for send in queue {
      link.append(.text, send.text.span, with: shared.links)
      observer.echoPeer(self, transmits: send)
    }
    queue.removeAll(keepingCapacity: true)
    flush()
  }

  private func flush() {
    do {
      try link.flush(on: shared.loop)
    } catch {
      lose("\(error)")
    }
  }
}
