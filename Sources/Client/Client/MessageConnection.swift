package import EventLoop
internal import Platform
package import WebSocket

/// One connection without TLS and without relay.v1: messages of either kind, as received. It uses
/// the `Link` of a `Client` in the same way as a client does, for a conformance test.
///
/// Confined to its loop. It cannot be used after `onEnd`.
package final class MessageConnection {
  /// Receives a complete message; text is valid UTF-8.
  package var onMessage: (MessageConnection, Opcode, Span<UInt8>) -> Void = { _, _, _ in }
  /// Receives the reason for the end of the connection.
  package var onEnd: (ClientError) -> Void = { _ in }

  private static let readsPerTurn = 4

  private let url: RelayURL
  private let loop: EventLoop
  private var link: Link
  private var buffer = [UInt8](repeating: 0, count: ClientLoop.readBytes)
  private let deflateStreams = DeflateStreams()
  private var random = SystemRandomNumberGenerator()

  /// Begins to connect.
  /// - Parameters:
  ///   - url: Its host must be numeric.
  ///   - token: The token of the loop's events, which must be passed to `ready`.
  package init(_ url: RelayURL, limits: Limits, on loop: EventLoop, token: UInt64)
    throws(ClientError)
  {
    precondition(!url.isEncrypted, "TLS is not supported")
    self.url = url
    self.loop = loop
    link = Link(limits: limits)
    guard let address = Address(numericHost: url.host, port: url.port) else {
      throw .unresolved(host: url.host, reason: "not a numeric address")
    }
    do {
      let socket = try Socket.connect(to: address)
      let registration = try loop.register(socket.descriptor, for: .writable, token: token)
      link.adopt(socket, registration, to: address, rest: [])
    } catch {
      throw .unreachable(error)
    }
  }

  /// Sends a message, before the loop sleeps or as soon as the socket accepts it.
  package func send(_ opcode: Opcode, _ payload: Span<UInt8>) {
    link.append(opcode, payload, compressing: deflateStreams, maskKey: random.next())
  }

  /// Handles an event of the loop.
  package func ready(_ readiness: Readiness) {
    switch link.phase {
    case .none, .resolving, .securing: return
    case .connecting:
      if let error = link.connectionError() { return end(.unreachable(error)) }
      let nonce = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
      link.begin(
        ClientHandshake(
          host: url.authority, target: url.target, deflate: DeflateParameters.clientOffers,
          nonce: nonce))
    case .handshaking, .open:
      if !readiness.isDisjoint(with: [.readable, .closed, .failed]) { read() }
    }
    flush()
  }

  private func end(_ reason: ClientError) {
    guard let registration = link.registration else { return }
    loop.deregister(registration)
    link = Link()
    onEnd(reason)
  }

  private func read() {
    for _ in 0..<Self.readsPerTurn {
      guard let result = link.read(into: &buffer) else { return }
      switch result {
      case .bytes(let count):
        take(count)
        if count < buffer.count { return }
      case .wouldBlock: return
      case .end: return ended(nil)
      case .failed(let error): return ended(error)
      }
    }
  }

  private func ended(_ error: SystemError?) {
    if case .handshaking = link.phase {
      do {
        _ = try link.finishHandshake(atEnd: true, sharing: deflateStreams)
      } catch {
        return end(ClientError(handshake: error))
      }
    }
    end(.lost(error))
  }

  private func take(_ count: Int) {
    guard case .handshaking = link.phase else { return takeFrames(&buffer, count: count) }
    link.received.append(contentsOf: buffer[..<count])
    do {
      guard try link.finishHandshake(atEnd: false, sharing: deflateStreams) else { return }
    } catch {
      return end(ClientError(handshake: error))
    }
    var rest: [UInt8] = []
    swap(&rest, &link.received)
    takeFrames(&rest, count: rest.count)
  }

  private func takeFrames(_ buffer: inout [UInt8], count: Int) {
    var offset = 0
    while case .open = link.phase {
      let event: Connection.Event?
      do throws(ProtocolViolation) {
        event = try link.next(in: &buffer, count: count, at: &offset) { random.next() }
      } catch {
        link.close(error.closeCode, reason: error.description, maskKey: random.next())
        _ = link.flush()
        return end(.violation(error))
      }
      guard let event else { return }
      switch event {
      case .message(let opcode, .input(let range)):
        onMessage(self, opcode, buffer.span.extracting(range))
      case .message(let opcode, .assembled):
        let message = link.assembled
        onMessage(self, opcode, message.span)
      case .ping, .pong: break
      case .close(let code, let reason):
        _ = link.flush()
        return end(ClientError(closeCode: code, reason: reason))
      }
    }
  }

  private func flush() {
    guard let registration = link.registration else { return }
    let isBlocked = link.flush()
    do {
      try loop.change(registration, for: link.interest(isBlocked: isBlocked))
    } catch {
      end(.lost(error))
    }
  }
}
