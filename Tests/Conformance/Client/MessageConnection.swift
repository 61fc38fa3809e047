import Client
import EventLoop
import Platform
import WebSocket

/// One connection without TLS and without relay.v1: messages of either kind, as received. Its
/// link is driven by the same code as that of a `Client`.
///
/// Confined to its loop. It cannot be used after `onEnd`.
final class MessageConnection {
  /// Receives a complete message; text is valid UTF-8.
  var onMessage: (MessageConnection, Opcode, Span<UInt8>) -> Void = { _, _, _ in }
  /// Receives the reason for the end of the connection.
  var onEnd: (ClientError) -> Void = { _ in }

  let connection: LinkState
  private let url: RelayURL

  /// Begins to connect.
  /// - Parameters:
  ///   - url: Its host must be numeric.
  ///   - token: The token of the loop's events, which must be passed to `ready`.
  init(_ url: RelayURL, limits: Limits, on loop: EventLoop, token: UInt64)
    throws(ClientError)
  {
    precondition(!url.isEncrypted, "TLS is not supported")
    self.url = url
    connection = LinkState(loop, LinkResources(), token: token, limits: limits)
    guard let address = Address(numericHost: url.host, port: url.port) else {
      throw .unresolved(host: url.host, reason: "not a numeric address")
    }
    do {
      try connection.connect(to: address)
    } catch {
      throw .unreachable(error)
    }
  }

  /// Sends a message, before the loop sleeps or as soon as the socket accepts it.
  func send(_ opcode: Opcode, _ payload: Span<UInt8>) {
    connection.link.append(opcode, payload, with: connection.resources)
  }

  private func end(_ reason: ClientError) {
    guard connection.link.hasSocket else { return }
    connection.drop()
    onEnd(reason)
  }
}

extension MessageConnection: LinkOwner {
  func handshake() -> ClientHandshake {
    ClientHandshake(
      host: url.authority, target: url.target, deflate: DeflateParameters.clientOffers,
      nonce: connection.resources.nonce())
  }

  func connectingFailed(_ error: SystemError) { end(.unreachable(error)) }
  func received(_ opcode: Opcode, _ message: Span<UInt8>) {
    onMessage(self, opcode, message)
  }
  func ended(_ end: LinkEnd) { self.end(ClientError(end)) }
  func outputWaits() { flush() }
}
