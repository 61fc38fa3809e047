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

  private let url: RelayURL
  private let loop: EventLoop
  private var link: Link
  private let resources = LinkResources()

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
      try link.connect(to: address, on: loop, token: token)
    } catch {
      throw .unreachable(error)
    }
  }

  /// Sends a message, before the loop sleeps or as soon as the socket accepts it.
  package func send(_ opcode: Opcode, _ payload: Span<UInt8>) {
    link.append(opcode, payload, with: resources)
  }

  /// Handles an event of the loop.
  package func ready(_ readiness: Readiness) {
    switch link.phase {
    case .none, .resolving, .securing: return
    case .connecting:
      if let error = link.connectionError() { return end(.unreachable(error)) }
      link.begin(
        ClientHandshake(
          host: url.authority, target: url.target, deflate: DeflateParameters.clientOffers,
          nonce: resources.nonce()))
    case .handshaking, .open:
      if !readiness.isDisjoint(with: [.readable, .closed, .failed]) { read() }
    }
    flush()
  }

  private func end(_ reason: ClientError) {
    guard link.hasSocket else { return }
    link.drop(from: loop)
    onEnd(reason)
  }

  private func read() {
    var input = resources.borrowInput()
    defer { resources.returnInput(input) }
    for _ in 0..<Link.readsPerTurn {
      switch link.read(into: &input) {
      case .bytes:
        take(&input)
        if !input.isFull { return }
      case .nothing: return
      case .ended(let end): return self.end(ClientError(end))
      }
    }
  }

  private func take(_ input: inout LinkInput) {
    while let event = link.next(in: &input, with: resources) {
      switch event {
      case .opened: break
      case .message(let opcode): input.withMessage { onMessage(self, opcode, $0) }
      case .ended(let end): return self.end(ClientError(end))
      }
    }
  }

  private func flush() {
    do {
      try link.flush(on: loop)
    } catch {
      end(.lost(error))
    }
  }
}
