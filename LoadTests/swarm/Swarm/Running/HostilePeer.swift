internal import Client
internal import EventLoop
internal import Platform
internal import WebSocket

/// One hostile client: a raw socket with one connection per act; the next act ends the previous
/// one. Confined to its loop.
final class HostilePeer {
  /// Tokens with this bit belong to hostile peers; the rest is the client's index.
  static let tokenBit: UInt64 = 1 << 62

  private enum Phase {
    case none
    case connecting
    /// The handshake was sent, and the answer is incomplete.
    case greeting
    case acting
  }

  private static let readBytes = 16 * 1024
  /// For peers that never read: small, so that the relay's own buffers fill.
  private static let receiveBufferBytes = 4 * 1024

  private let client: Int
  private let shared: PeerLoop
  private let loop: EventLoop
  private let address: Address
  private let token: UInt64
  private let authority: String
  private let target: String
  private let tell: (HostileAct, WritableKeyPath<Outcome.HostileCount, Int>) -> Void

  private var phase = Phase.none
  private var socket: Socket?
  private var borrowed: BorrowedSocket?
  private var registration: Registration?
  private var script: HostileBytes?
  private var answer: [UInt8] = []
  private var output: [UInt8] = []
  private var sent = 0
  private var hasBegun = false

  /// - Parameter tell: Called for each count to be incremented, when the event happens.
  init(
    client: Int, user: String, on shared: PeerLoop,
    tell: @escaping (HostileAct, WritableKeyPath<Outcome.HostileCount, Int>) -> Void
  ) {
    self.client = client
    self.shared = shared
    loop = shared.loop
    address = shared.addresses[client % shared.addresses.count]
    token = Self.tokenBit | UInt64(client)
    authority = shared.url.authority
    target = shared.url.target(adding: "user", user)
    self.tell = tell
  }

  func begin(_ next: HostileBytes) {
    end()
    script = next
    tell(next.act, \.attempted)
    do {
      let socket = try Socket.connect(to: address, from: shared.source(of: client))
      if !next.reads { try socket.borrowed.setReceiveBuffer(bytes: Self.receiveBufferBytes) }
      registration = try loop.register(socket.descriptor, for: .writable, token: token)
      borrowed = socket.borrowed
      self.socket = consume socket
      phase = .connecting
    } catch {
      // The connection failed: the attempt is counted, the act is not.
      end()
    }
  }

  /// Closes without a close frame.
  func end() {
    if let registration { loop.deregister(registration) }
    registration = nil
    borrowed = nil
    socket = nil
    phase = .none
    answer = []
    output = []
    sent = 0
    hasBegun = false
  }

  func ready(_ readiness: Readiness) {
    if case .connecting = phase { return greet() }
    let hasEnd = !readiness.isDisjoint(with: [.closed, .failed])
    if readiness.contains(.readable) || hasEnd {
      if isReading { read() } else if hasEnd { hungUp() }
    }
    if readiness.contains(.writable) { send() }
  }

  private var isReading: Bool {
    if case .greeting = phase { true } else { script?.reads ?? false }
  }

  private func greet() {
    guard let borrowed, var script else { return }
    do {
      try borrowed.finishConnecting()
    } catch {
      return end()
    }
    let handshake = ClientHandshake(
      host: authority, target: target, subprotocols: ["relay.v1"], nonce: script.nonce())
    if script.skipsHandshake {
      output = script.opening(of: handshake.request)
      phase = .acting
    } else {
      output = handshake.request
      phase = .greeting
    }
    self.script = script
    send()
  }

  private func read() {
    var buffer = [UInt8](repeating: 0, count: Self.readBytes)
    guard let borrowed else { return }
    var span = buffer.mutableSpan
    switch borrowed.read(into: &span) {
    case .bytes(let count):
      if case .greeting = phase { take(buffer[..<count]) }
    case .wouldBlock: break
    case .end, .failed: hungUp()
    }
  }

  private func take(_ bytes: ArraySlice<UInt8>) {
    answer += bytes
    guard answer.count <= Link.headerLimitBytes else { return end() }
    guard answer.firstRange(of: Array("\r\n\r\n".utf8)) != nil else { return }
    // After a refused handshake the act cannot be performed.
    guard answer.starts(with: Array("HTTP/1.1 101 ".utf8)), var script else { return hungUp() }
    answer = []
    output = script.payload()
    self.script = script
    sent = 0
    phase = .acting
    send()
  }

  private func send() {
    guard let borrowed, let registration, let script else { return }
    sending: while sent < output.count {
      switch borrowed.send(output.span.extracting(sent..<output.count)) {
      case .sent(let count):
        sent += count
        if case .acting = phase, !hasBegun {
          hasBegun = true
          tell(script.act, \.done)
        }
      case .wouldBlock: break sending
      case .failed: return hungUp()
      }
    }
    if sent == output.count, script.act == .reset, case .acting = phase {
      borrowed.resetOnClose()
      return end()
    }
    var interest: Interest = isReading ? .readable : []
    if sent < output.count { interest.insert(.writable) }
    do {
      try loop.change(registration, for: interest)
    } catch {
      end()
    }
  }

  private func hungUp() {
    if let script, hasBegun { tell(script.act, \.endedByRelay) }
    end()
  }
}
