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

  private static let readsPerTurn = 4

  let client: Int
  private let server: EchoServer
  private unowned let observer: any EchoObserver
  private var link = PeerLink()
  private var backoff = Backoff(firstMilliseconds: 100, limitMilliseconds: 2_000)
  private var isEnded = false
  /// In the order of intended times.
  private(set) var queue: [Send] = []

  init(client: Int, on server: EchoServer, observer: any EchoObserver) {
    self.client = client
    self.server = server
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
    link.close(.normal, maskKey: server.maskKey())
    _ = link.flush()
    drop()
  }

  // MARK: Connecting

  func connect() {
    guard !isEnded else { return }
    do {
      let socket = try Socket.connect(to: server.address, from: server.source(of: client))
      let registration = try server.loop.register(
        socket.descriptor, for: .writable, token: UInt64(client))
      link.adopt(socket, registration)
    } catch {
      lose("cannot connect: \(error)")
    }
  }

  func ready(_ readiness: Readiness) {
    switch link.phase {
    case .none: break
    case .connecting:
      if let error = link.connectionError() { return lose("cannot connect: \(error)") }
      link.begin(
        ClientHandshake(
          host: server.authority, target: server.target, nonce: server.nonce()))
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
    server.loop.schedule(
      afterMilliseconds: backoff.nextMilliseconds(using: &server.random),
      token: EchoServer.timerBit | UInt64(client))
  }

  private func drop() {
    if let registration = link.registration { server.loop.deregister(registration) }
    link = PeerLink()
  }

  // MARK: Reading

  private func read() {
    var buffer = server.borrowBuffer()
    defer { server.returnBuffer(buffer) }
    for _ in 0..<Self.readsPerTurn {
      guard let result = link.read(into: &buffer, limit: .max) else { return }
      switch result {
      case .bytes(let count):
        take(&buffer, count: count)
        if count < buffer.count { return }
      case .wouldBlock: return
      case .end: return ended("the server closed the connection without a close frame")
      case .failed(let error): return ended("\(error)")
      }
    }
  }

  private func ended(_ reason: String) {
    var reason = reason
    if case .handshaking = link.phase {
      do throws(HandshakeFailure) {
        _ = try link.finishHandshake(atEnd: true)
      } catch {
        reason = "\(error)"
      }
    }
    lose(reason)
  }

  private func take(_ buffer: inout [UInt8], count: Int) {
    guard case .handshaking = link.phase else { return takeFrames(&buffer, count: count) }
    link.received.append(contentsOf: buffer[..<count])
    do {
      guard try link.finishHandshake(atEnd: false) else { return }
    } catch {
      return lose("\(error)")
    }
    backoff.reset()
    observer.echoPeerOpened(self)
    transmit()
    var rest: [UInt8] = []
    swap(&rest, &link.received)
    takeFrames(&rest, count: rest.count)
  }

  private func takeFrames(_ buffer: inout [UInt8], count: Int) {
    var offset = 0
    while link.isOpen {
      let event: Connection.Event?
      do throws(ProtocolViolation) {
        event = try link.next(in: &buffer, count: count, at: &offset) { server.maskKey() }
      } catch {
        link.close(error.closeCode, maskKey: server.maskKey())
        _ = link.flush()
        return lose("\(error)")
      }
      guard let event else { break }
      switch event {
      case .message(let opcode, .input(let range)):
        observer.echoPeer(self, received: buffer.span.extracting(range), isText: opcode == .text)
      case .message(let opcode, .assembled):
        let message = link.assembled
        observer.echoPeer(self, received: message.span, isText: opcode == .text)
      case .ping, .pong: break
      case .close(let code, let reason):
        _ = link.flush()
        return lose("the server closed the connection: \(code) \(reason)")
      }
    }
    if link.outputBytes > 0 { flush() }
  }

  // MARK: Writing

  private func transmit() {
    for send in queue {
      link.append(send.text.span, maskKey: server.maskKey())
      observer.echoPeer(self, transmits: send)
    }
    queue.removeAll(keepingCapacity: true)
    flush()
  }

  private func flush() {
    guard let registration = link.registration else { return }
    let isBlocked = link.flush()
    do {
      try server.loop.change(registration, for: isBlocked ? [.readable, .writable] : .readable)
    } catch {
      lose("\(error)")
    }
  }
}

/// The resources that all echo peers share.
final class EchoServer {
  /// Timers with this bit belong to peers.
  static let timerBit: UInt64 = 1 << 63

  let loop: EventLoop
  let address: Address
  /// The source addresses of connections; empty leaves the choice to the system.
  private let sources: [Address]
  let authority: String
  let target: String
  var random = SystemRandomNumberGenerator()
  private var buffer = [UInt8](repeating: 0, count: 64 * 1024)

  init(
    _ loop: EventLoop, address: Address, sources: [Address], authority: String, target: String
  ) {
    self.loop = loop
    self.address = address
    self.sources = sources
    self.authority = authority
    self.target = target
  }

  func source(of client: Int) -> Address? {
    sources.isEmpty ? nil : sources[client % sources.count]
  }

  func maskKey() -> UInt32 { random.next() }

  func nonce() -> [UInt8] { (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) } }

  /// Lent while its content is passed to an observer.
  func borrowBuffer() -> [UInt8] {
    var taken: [UInt8] = []
    swap(&taken, &buffer)
    return taken
  }

  func returnBuffer(_ taken: consuming [UInt8]) { buffer = taken }
}
