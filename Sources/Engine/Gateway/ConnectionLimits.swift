/// The limits of one connection, besides those of its user (`UserBudget.Limits`). 0 = no limit.
package struct ConnectionLimits: Equatable, Sendable {
  /// Time for a client to complete the handshake and authenticate, and for the content of a request
  /// to arrive.
  package var handshakeTimeoutMilliseconds = 0
  /// Maximum length of the head of a request.
  package var headerBytes = 0
  /// Maximum number of header lines of a request.
  package var headerLines = 0
  /// Maximum length of a frame, of a message, and of the content of a request.
  package var frameBytes = 0
  /// Maximum number of frames of one message.
  package var messageFragments = 0
  /// Pings and pongs together.
  package var controlFramesPerSecond = 0
  package var heartbeatSeconds = 0
  package var idleTimeoutSeconds = 0
  /// In total.
  package var connections = 0
  package var connectionsPerAddress = 0
  /// Unauthenticated connections from one address.
  package var unauthenticatedPerAddress = 0
  /// TLS handshakes and requests per second of one address that stay unauthenticated, and at once.
  package var unauthenticatedPerSecond = 0

  package init() {}
}
