/// What one connection may do, besides what its user may (`UserBudget.Limits`). 0 stands for no limit.
package struct ConnectionLimits: Equatable, Sendable {
  /// Until a client has shaken hands and said who it is, and until a request's content is there.
  package var handshakeTimeoutMilliseconds = 0
  /// Of the head of a request.
  package var headerBytes = 0
  /// Of a frame, of a message, and of a request's content.
  package var frameBytes = 0
  /// Frames of one message.
  package var messageFragments = 0
  /// Pings and pongs.
  package var controlFramesPerSecond = 0
  package var heartbeatSeconds = 0
  package var idleTimeoutSeconds = 0
  /// In all.
  package var connections = 0
  package var connectionsPerAddress = 0
  /// Of one address, that have not said who they are.
  package var unauthenticatedPerAddress = 0

  package init() {}
}
