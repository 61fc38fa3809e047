import WebSocket

/// A request whose token is being verified: it keeps its connection, and is routed once that is done.
final class UnverifiedRequest: HTTPExchange {
  let request: HTTPRequest
  private let token: String

  init(
    _ request: HTTPRequest, token: String, _ id: ExchangeID, _ loop: ConnectionLoop,
    _ connection: ServerConnection
  ) {
    self.request = request
    self.token = token
    super.init(HTTPCall(target: .nothing), id, loop, connection)
  }

  override func start(_ content: [UInt8]) {
    loop.world.verify(token, from: connection.host, for: .request(id))
  }
}
