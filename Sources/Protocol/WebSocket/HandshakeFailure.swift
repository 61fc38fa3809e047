/// The reason for which a server's response does not open a WebSocket (RFC 6455 §4.1).
public enum HandshakeFailure: Error, Equatable, Sendable {
  /// The response is not HTTP/1.1, or its header is too long.
  case malformed(HTTPViolation)
  /// A status other than 101, and the beginning of the body as the server sent it: remove control
  /// characters before showing it in a terminal.
  case refused(status: Int, body: String)
  /// The response does not contain `Upgrade: websocket` (item 2).
  case upgradeMissing
  /// The response does not contain `Connection: Upgrade` (item 3).
  case connectionMissing
  /// `Sec-WebSocket-Accept` does not match the key that was sent (item 4).
  case acceptMismatch
  /// The server chose an extension that was not offered (item 5).
  case extensionUnexpected
  /// `Sec-WebSocket-Extensions` is not a list of extensions (RFC 6455 §9.1).
  case extensionMalformed
  /// The server accepted compression with parameters that were not offered, or are invalid (RFC
  /// 7692 §7.1).
  case deflateInvalid(DeflateParameters.Invalid)
  /// The server chose a subprotocol that was not offered, or more than one (item 6).
  case subprotocolUnexpected
}

extension HandshakeFailure: CustomStringConvertible {
  /// A sentence; it contains text of the server only for a refusal.
  public var description: String {
    switch self {
    case .malformed(let violation): "The server's response is invalid. \(violation)"
    case .refused(let status, let body):
      body.isEmpty
        ? "The server responded with status \(status)."
        : "The server responded with status \(status): \(body)"
    case .upgradeMissing: "The server's response lacks the header Upgrade: websocket."
    case .connectionMissing: "The server's response lacks the header Connection: Upgrade."
    case .acceptMismatch:
      "The server's Sec-WebSocket-Accept header does not match the client's key."
    case .extensionUnexpected: "The server chose an extension that was not offered."
    case .extensionMalformed: "The server's Sec-WebSocket-Extensions header is not a valid list."
    case .deflateInvalid(let reason):
      "The server's response to the offer of permessage-deflate is invalid: \(reason)."
    case .subprotocolUnexpected: "The server chose a subprotocol that was not offered."
    }
  }
}
