/// Why a connection was closed (RFC 6455 §7.4 and the IANA registry that grew from it).
public struct CloseCode: RawRepresentable, Hashable, Sendable {
  /// The number on the wire.
  public let rawValue: UInt16

  /// Any number, valid on the wire or not: see ``mayBeSent``.
  public init(rawValue: UInt16) {
    self.rawValue = rawValue
  }

  /// The purpose of the connection is fulfilled.
  public static let normal = CloseCode(rawValue: 1000)
  /// A server shuts down, or a browser left the page.
  public static let goingAway = CloseCode(rawValue: 1001)
  /// The other end broke the protocol.
  public static let protocolError = CloseCode(rawValue: 1002)
  /// A kind of message (text, binary) that this end does not take.
  public static let unsupportedData = CloseCode(rawValue: 1003)
  /// The close frame named no code. Never sent: it stands for the absence.
  public static let noStatus = CloseCode(rawValue: 1005)
  /// The connection ended without a close frame. Never sent: it stands for the absence.
  public static let abnormal = CloseCode(rawValue: 1006)
  /// Text that is not UTF-8.
  public static let invalidPayload = CloseCode(rawValue: 1007)
  /// A rule of the application was broken.
  public static let policyViolation = CloseCode(rawValue: 1008)
  /// A message that is larger than this end takes.
  public static let tooBig = CloseCode(rawValue: 1009)
  /// This end failed in a way that it did not foresee.
  public static let internalError = CloseCode(rawValue: 1011)
  /// The server restarts: connect again, after a while.
  public static let serviceRestart = CloseCode(rawValue: 1012)
  /// The server is overloaded: connect again, later.
  public static let tryAgainLater = CloseCode(rawValue: 1013)

  /// Whether a close frame may carry this code: the registered ones that do not stand for an
  /// absence, and the ranges for libraries and applications (RFC 6455 §7.4.2).
  public var mayBeSent: Bool {
    switch rawValue {
    case 1000...1003, 1007...1014, 3000...4999: true
    default: false
    }
  }
}
