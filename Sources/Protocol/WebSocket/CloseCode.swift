/// The reason for which a connection was closed (RFC 6455 §7.4 and the IANA registry based on it).
public struct CloseCode: RawRepresentable, Hashable, Sendable {
  /// The number on the wire.
  public let rawValue: UInt16

  /// Creates a code from any number, valid on the wire or not: see ``mayBeSent``.
  public init(rawValue: UInt16) {
    self.rawValue = rawValue
  }

  /// The purpose of the connection is fulfilled.
  public static let normal = CloseCode(rawValue: 1000)
  /// A server shuts down, or a browser left the page.
  public static let goingAway = CloseCode(rawValue: 1001)
  /// The peer violated the protocol.
  public static let protocolError = CloseCode(rawValue: 1002)
  /// A kind of message (text, binary) that this endpoint does not accept.
  public static let unsupportedData = CloseCode(rawValue: 1003)
  /// The close frame had no code. Never sent.
  public static let noStatus = CloseCode(rawValue: 1005)
  /// The connection ended without a close frame. Never sent.
  public static let abnormal = CloseCode(rawValue: 1006)
  /// Text that is not UTF-8.
  public static let invalidPayload = CloseCode(rawValue: 1007)
  /// A message violated a rule of the application.
  public static let policyViolation = CloseCode(rawValue: 1008)
  /// A message that is larger than this endpoint accepts.
  public static let tooBig = CloseCode(rawValue: 1009)
  /// An unexpected failure of this endpoint.
  public static let internalError = CloseCode(rawValue: 1011)
  /// The server restarts: reconnect after a while.
  public static let serviceRestart = CloseCode(rawValue: 1012)
  /// The server is overloaded: reconnect later.
  public static let tryAgainLater = CloseCode(rawValue: 1013)

  /// Whether a close frame may carry this code: a registered one that does not stand for a missing
  /// code, or one of the ranges for libraries and applications (RFC 6455 §7.4.2).
  public var mayBeSent: Bool {
    switch rawValue {
    case 1000...1003, 1007...1014, 3000...4999: true
    default: false
    }
  }
}
