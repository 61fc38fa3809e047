/// Why the server's answer to an opening handshake does not open a WebSocket (RFC 6455 §4.1).
public enum HandshakeFailure: Error, Equatable, Sendable {
  /// The answer is not HTTP/1.1, or its header is longer than it may be.
  case malformed(HTTPViolation)
  /// A status other than 101, and the start of the body, as the server wrote it: strip control
  /// characters before a terminal sees it.
  case refused(status: Int, body: String)
  /// The answer does not say `Upgrade: websocket` (item 2).
  case upgradeMissing
  /// The answer does not say `Connection: Upgrade` (item 3).
  case connectionMissing
  /// `Sec-WebSocket-Accept` does not follow from our key (item 4).
  case acceptMismatch
  /// An extension that was not asked for (item 5).
  case extensionUnexpected
  /// `Sec-WebSocket-Extensions` is not a list of extensions (RFC 6455 §9.1).
  case extensionMalformed
  /// Compression was accepted in a way that was not offered, or that is none (RFC 7692 §7.1).
  case deflateInvalid(DeflateParameters.Invalid)
  /// A subprotocol that was not asked for, or more than one (item 6).
  case subprotocolUnexpected
}

extension HandshakeFailure: CustomStringConvertible {
  /// A sentence; it contains what the server wrote only for a refusal.
  public var description: String {
    switch self {
    case .malformed(let violation): "The server's answer is not understood. \(violation)"
    case .refused(let status, let body):
      body.isEmpty
        ? "The server answered with status \(status)."
        : "The server answered with status \(status): \(body)"
    case .upgradeMissing: "The server's answer lacks the header Upgrade: websocket."
    case .connectionMissing: "The server's answer lacks the header Connection: Upgrade."
    case .acceptMismatch: "The server's Sec-WebSocket-Accept header is not the answer to our key."
    case .extensionUnexpected: "The server chose an extension that was not offered."
    case .extensionMalformed: "The server's Sec-WebSocket-Extensions header is not a list."
    case .deflateInvalid(let reason):
      "The server's answer to the offer of permessage-deflate is not valid: \(reason)."
    case .subprotocolUnexpected: "The server chose a subprotocol that was not offered."
    }
  }
}
